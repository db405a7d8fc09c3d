// Cutting up the small text files of a system: words, fields, "key: value" lines, numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuvet {

// Without blanks, tabs and line ends at both ends.
std::string_view trimmed(std::string_view text);

// At blanks and tabs; no word is empty.
std::vector<std::string> words_of(std::string_view text);

// At each `separator`; empty parts are kept, so "a,,b" has three.
std::vector<std::string> split_at(std::string_view text, char separator);

// "Model:  NVIDIA H200" -> "Model", "NVIDIA H200": at the first `separator`, both trimmed. nullopt
// when there is none.
std::optional<std::pair<std::string, std::string>> key_and_value(std::string_view text,
                                                                 char separator);

// The text as a whole is a number: "12"; "0x10de" or "10de".
std::optional<uint64_t> decimal_number(std::string_view text);
std::optional<uint64_t> hexadecimal_number(std::string_view text);

// Quotes of either kind around the whole text are taken away.
std::string_view unquoted(std::string_view text);

bool holds_word(std::string_view text, std::string_view word); // anywhere in it
std::string lower_ascii(std::string_view text);

// "a, b, c"
std::string joined(const std::vector<std::string>& parts, std::string_view separator = ", ");

} // namespace gpuvet
