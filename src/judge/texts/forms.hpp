// The forms that a value of a text takes before it is a fact: units to bytes, tags to versions,
// yes and no. facts/texts.toml names them behind '|'.
#pragma once

#include "facts/texts/texts.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace gpuvet {

// nullopt: the value is none in this form ("N/A" as a version, a name that was cut off).
std::optional<std::string> in_form(std::string_view value, std::string_view form,
                                   const TextTables& tables);

// "{a}.{b|lower}" with these groups; nullopt when a group is missing or empty, or has no such form.
std::optional<std::string> filled(std::string_view text,
                                  const std::map<std::string, std::string>& groups,
                                  const TextTables& tables);

// "64M", "251Gi", "8 GB", "64MiB": bytes, by powers of 1024, as df and free print them. A bare
// number counts `bare` bytes each; 0: it is no size.
std::optional<uint64_t> size_in_bytes(std::string_view text, uint64_t bare);

} // namespace gpuvet
