// Words that several commands use for the same thing.
#pragma once

#include "facts/checks.hpp"
#include "model/machine/system.hpp"

#include <optional>
#include <string_view>

namespace gpuvet {

// "docker", "podman", "kubernetes", "apptainer", "lxc"; empty: no container, or one that has no
// word.
std::string_view container_word(ContainerKind kind);
// nullopt: it is no such word.
std::optional<ContainerKind> container_kind(std::string_view word);

// What a person wants to know before a fix is run, to stand behind it: "  (reboots)"; mostly empty.
std::string_view safety_remark(Safety safety);

} // namespace gpuvet
