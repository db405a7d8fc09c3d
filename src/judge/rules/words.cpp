#include "judge/rules/words.hpp"

#include <array>
#include <utility>

namespace gpuvet {
namespace {

constexpr std::array<std::pair<std::string_view, ContainerKind>, 5> kContainers = {
    {{"docker", ContainerKind::docker},
     {"podman", ContainerKind::podman},
     {"kubernetes", ContainerKind::kubernetes},
     {"apptainer", ContainerKind::singularity},
     {"lxc", ContainerKind::lxc}}};

} // namespace

std::string_view container_word(ContainerKind kind) {
  if (kind == ContainerKind::wsl_docker) kind = ContainerKind::docker;
  for (const auto& [word, its_kind] : kContainers)
    if (its_kind == kind) return word;
  return {};
}

std::optional<ContainerKind> container_kind(std::string_view word) {
  for (const auto& [name, kind] : kContainers)
    if (name == word) return kind;
  return std::nullopt;
}

std::string_view safety_remark(Safety safety) {
  switch (safety) {
  case Safety::reboot:
    return "  (reboots)";
  case Safety::restarts_service:
    return "  (restarts a service or ends programs)";
  case Safety::provider:
    return "  (the provider's task)";
  case Safety::hardware:
    return "  (hands on the machine)";
  case Safety::safe:
  case Safety::changes_files:
  case Safety::needs_root:
    break;
  }
  return {};
}

} // namespace gpuvet
