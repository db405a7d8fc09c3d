// dpkg's status file: one stanza a package, with what was asked for and what is there. Format:
// deb-control(5) and dpkg-query(1), "db:Status-Abbrev".
#include "probe/software/packages.hpp"
#include "probe/software/text.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

constexpr size_t kLargestStatus = size_t{128} << 20;
const char* const kStatus = "/var/lib/dpkg/status";

struct Stanza {
  std::string_view name, status, version, architecture, maintainer;
};

char wanted(std::string_view word) {
  if (word == "install") return 'i';
  if (word == "hold") return 'h';
  if (word == "deinstall") return 'r';
  return word == "purge" ? 'p' : 'u';
}

char state(std::string_view word) {
  if (word == "installed") return 'i';
  if (word == "config-files") return 'c';
  if (word == "half-installed") return 'H';
  if (word == "unpacked") return 'U';
  if (word == "half-configured") return 'F';
  if (word == "triggers-awaited") return 'W';
  return word == "triggers-pending" ? 't' : 'n';
}

// "install ok installed" -> "ii"; a third letter 'R' where dpkg wants a reinstallation.
std::string abbreviated(std::string_view status) {
  auto words = parts_of(status);
  if (words.size() != 3) return {};
  std::string letters = {wanted(words[0]), state(words[2])};
  if (words[1] == "reinstreq") letters += 'R';
  return letters;
}

void keep(const Stanza& stanza, std::vector<Package>& relevant, std::vector<std::string>& held) {
  if (!is_relevant_package(stanza.name)) return;
  std::string status = abbreviated(stanza.status);
  if (status.size() < 2 || status[1] == 'n') return; // known to dpkg, nothing of it there
  if (status[0] == 'h') held.emplace_back(stanza.name);
  relevant.push_back({.name = std::string(stanza.name),
                      .version = std::string(stanza.version),
                      .status = status,
                      .architecture = std::string(stanza.architecture),
                      .vendor = std::string(stanza.maintainer)});
}

void take_field(std::string_view line, Stanza& stanza) {
  size_t colon = line.find(':');
  if (line.starts_with(' ') || colon == std::string_view::npos) return;
  std::string_view field = line.substr(0, colon);
  std::string_view value = trimmed(line.substr(colon + 1));
  if (field == "Package")
    stanza.name = value;
  else if (field == "Status")
    stanza.status = value;
  else if (field == "Version")
    stanza.version = value;
  else if (field == "Architecture")
    stanza.architecture = value;
  else if (field == "Maintainer")
    stanza.maintainer = value;
}

} // namespace

void read_dpkg(const Source& source, Packages& packages) {
  auto text = source.read_file(kStatus, kLargestStatus);
  if (!text) {
    packages.relevant =
        unknown<std::vector<Package>>(std::string(kStatus) + ": " + text.error().what);
    return;
  }
  std::vector<Package> relevant;
  Stanza stanza;
  each_line(*text, [&](std::string_view line) {
    if (!line.empty()) return take_field(line, stanza);
    keep(stanza, relevant, packages.held);
    stanza = {};
  });
  keep(stanza, relevant, packages.held);
  packages.keyring = std::any_of(relevant.begin(), relevant.end(), [](const Package& package) {
    return package.name == "cuda-keyring" && package.status.substr(1) == "i";
  });
  packages.relevant = known(std::move(relevant), kStatus);
}

} // namespace gpuvet
