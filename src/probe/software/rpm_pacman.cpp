// rpm is asked by its own program; pacman's database is one folder a package.
#include "probe/software/packages.hpp"
#include "probe/software/text.hpp"

namespace gpuvet {
namespace {

constexpr double kRpmDeadline = 5; // seconds

// Lines of these files that name a relevant package are holds.
void read_holds(const Source& source, const std::string& file, std::string_view only_after,
                std::vector<std::string>& held) {
  for (const std::string& line : lines(source, file)) {
    std::string_view text = trimmed(line);
    if (text.empty() || text.front() == '#' || !text.starts_with(only_after)) continue;
    text.remove_prefix(only_after.size());
    for (std::string_view word : parts_of(text, " \t=,\"")) {
      if (word.starts_with("0:")) word.remove_prefix(2); // an epoch
      if (is_relevant_package(word)) held.emplace_back(word);
    }
  }
}

} // namespace

void read_rpm(const Source& source, Packages& packages) {
  auto answer = source.run(
      {"/usr/bin/rpm", "-qa", "--qf", "%{NAME}\\t%{VERSION}-%{RELEASE}\\t%{ARCH}\\t%{VENDOR}\\n"},
      kRpmDeadline);
  if (!answer || answer->timed_out || answer->status != 0) {
    std::string why = !answer             ? answer.error().what
                      : answer->timed_out ? "no answer within 5 s"
                                          : std::string(trimmed(answer->errors));
    packages.relevant = unknown<std::vector<Package>>("rpm -qa: " + why);
    return;
  }
  std::vector<Package> relevant;
  each_line(answer->output, [&](std::string_view line) {
    auto fields = parts_of(line, "\t");
    if (fields.size() < 3 || !is_relevant_package(fields[0])) return;
    Package package{.name = std::string(fields[0]),
                    .version = std::string(fields[1]),
                    .status = "installed",
                    .architecture = std::string(fields[2]),
                    .vendor = {}};
    if (fields.size() > 3 && fields[3] != "(none)") package.vendor = fields[3];
    relevant.push_back(std::move(package));
  });
  packages.relevant = known(std::move(relevant), "rpm -qa");
  for (const char* file :
       {"/etc/dnf/plugins/versionlock.list", "/etc/yum/pluginconf.d/versionlock.list"})
    read_holds(source, file, "", packages.held);
  read_holds(source, "/etc/zypp/locks", "solvable_name:", packages.held);
}

// "nvidia-utils-550.107.02-2": the version and the release never hold a dash.
void read_pacman(const Source& source, Packages& packages) {
  const std::string folder = "/var/lib/pacman/local";
  auto names = source.list(folder);
  if (!names) {
    packages.relevant = unknown<std::vector<Package>>(folder + ": " + names.error().what);
    return;
  }
  std::vector<Package> relevant;
  for (const std::string& entry : *names) {
    size_t release = entry.rfind('-');
    if (release == std::string::npos || release == 0) continue;
    size_t version = entry.rfind('-', release - 1);
    if (version == std::string::npos || !is_relevant_package(entry.substr(0, version))) continue;
    relevant.push_back({.name = entry.substr(0, version),
                        .version = entry.substr(version + 1),
                        .status = "installed",
                        .architecture = {},
                        .vendor = "Arch Linux"});
  }
  packages.relevant = known(std::move(relevant), folder);
  read_holds(source, "/etc/pacman.conf", "IgnorePkg", packages.held);
}

} // namespace gpuvet
