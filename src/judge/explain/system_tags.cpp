// For which systems a fix is meant, when what is known of the system stands in a text.
#include "base/text.hpp"
#include "judge/explain/causes.hpp"

#include <array>

namespace gpuvet {
namespace {

struct KnownSystem {
  std::string_view word, id, packages; // in lower case, as in os-release; ID; package system
};

constexpr std::array<KnownSystem, 16> kDistributions = {{{"ubuntu", "ubuntu", "apt"},
                                                         {"debian", "debian", "apt"},
                                                         {"mint", "linuxmint", "apt"},
                                                         {"pop!_os", "pop", "apt"},
                                                         {"fedora", "fedora", "dnf"},
                                                         {"rocky", "rocky", "dnf"},
                                                         {"alma", "almalinux", "dnf"},
                                                         {"red hat", "rhel", "dnf"},
                                                         {"rhel", "rhel", "dnf"},
                                                         {"centos", "centos", "dnf"},
                                                         {"amazon linux", "amzn", "dnf"},
                                                         {"suse", "sles", "zypper"},
                                                         {"arch", "arch", "pacman"},
                                                         {"manjaro", "manjaro", "pacman"},
                                                         {"cachyos", "cachyos", "pacman"},
                                                         {"alpine", "alpine", "apk"}}};

} // namespace

std::set<std::string> system_tags(const FactView& known) {
  std::set<std::string> tags;
  for (const KnownFact& os : known.of("os.name")) {
    std::string name = lower_ascii(os.value);
    for (const KnownSystem& row : kDistributions) {
      if (name.find(row.word) == std::string::npos) continue;
      tags.emplace(row.id);
      tags.emplace(row.packages);
      break;
    }
  }
  for (std::string_view name : {"wsl", "jetson"})
    for (const KnownFact& fact : known.of(name))
      if (fact.value == "yes") tags.emplace(name);
  for (const KnownFact& container : known.of("container")) {
    tags.emplace("container");
    tags.insert(container.value);
  }
  return tags;
}

} // namespace gpuvet
