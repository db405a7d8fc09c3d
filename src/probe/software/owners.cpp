// Who owns a file: the packages' own file lists, or rpm.
#include "probe/software/packages.hpp"
#include "probe/software/text.hpp"

#include <algorithm>
#include <unordered_map>

namespace gpuvet {
namespace {

constexpr size_t kLargestList = size_t{16} << 20;
constexpr double kRpmDeadline = 5; // seconds

struct Wanted {
  std::unordered_map<std::string, std::vector<std::string>> files; // as listed -> as asked
  std::vector<std::string> folders;                                // with '/' at the end
  std::map<std::string, std::string> found;
};

// Lists may still name a file by the folder that it had before /lib became a link to /usr/lib.
Wanted prepare(const std::vector<std::string>& paths) {
  Wanted wanted;
  for (const std::string& path : paths) {
    if (path.ends_with('/')) {
      wanted.folders.push_back(path);
      continue;
    }
    wanted.files[path].push_back(path);
    if (path.starts_with("/usr/lib") || path.starts_with("/usr/bin"))
      wanted.files[path.substr(4)].push_back(path);
    else if (path.starts_with("/lib") || path.starts_with("/bin"))
      wanted.files["/usr" + path].push_back(path);
  }
  return wanted;
}

void look_through(std::string_view list, bool rooted, const std::string& package, Wanted& wanted) {
  std::string path;
  each_line(list, [&](std::string_view line) {
    if (line.empty()) return;
    path = rooted ? "" : "/";
    path += line;
    if (auto asked = wanted.files.find(path); asked != wanted.files.end())
      for (const std::string& name : asked->second)
        wanted.found.emplace(name, package);
    for (const std::string& folder : wanted.folders)
      if (path.starts_with(folder)) wanted.found.emplace(folder, package);
  });
}

// Large, and never with a file that is asked for.
bool has_nothing_to_tell(std::string_view package) {
  return holds_word(package, "documentation") || package.ends_with("-doc") ||
         holds_word(package, "nsight") || holds_word(package, "samples");
}

void search_dpkg(const Source& source, const std::vector<Package>& packages, Wanted& wanted) {
  for (const Package& package : packages) {
    bool gone = package.status.substr(0, 2).ends_with('c');
    if (gone || has_nothing_to_tell(package.name)) continue;
    std::string base = "/var/lib/dpkg/info/" + package.name;
    auto list = source.read_file(base + ":" + package.architecture + ".list", kLargestList);
    if (!list) list = source.read_file(base + ".list", kLargestList);
    if (list) look_through(*list, true, package.name, wanted);
  }
}

void search_pacman(const Source& source, const std::vector<Package>& packages, Wanted& wanted) {
  for (const Package& package : packages) {
    auto list = source.read_file(
        "/var/lib/pacman/local/" + package.name + "-" + package.version + "/files", kLargestList);
    if (list) look_through(*list, false, package.name, wanted);
  }
}

// One line a path, in order; "file X is not owned by any package" where nobody does.
void ask_rpm(const Source& source, const std::vector<std::string>& paths, Wanted& wanted) {
  std::vector<std::string> command = {"/usr/bin/rpm", "-qf", "--qf", "%{NAME}\\n"};
  for (const std::string& path : paths)
    command.push_back(path.ends_with('/') ? path.substr(0, path.size() - 1) : path);
  auto answer = source.run(command, kRpmDeadline);
  if (!answer || answer->timed_out) return;
  std::vector<std::string> told;
  each_line(answer->output, [&](std::string_view line) { told.emplace_back(line); });
  if (told.size() == paths.size()) {
    for (size_t i = 0; i < paths.size(); ++i)
      if (!told[i].empty() && !holds_word(told[i], " ")) wanted.found.emplace(paths[i], told[i]);
  } else if (paths.size() > 1) { // a file with two owners, or one that vanished: ask one by one
    for (const std::string& path : paths)
      ask_rpm(source, {path}, wanted);
  } else if (!told.empty() && !holds_word(told[0], " ")) {
    wanted.found.emplace(paths[0], told[0]);
  }
}

} // namespace

std::map<std::string, std::string> owners_of(const Source& source, const Packages& packages,
                                             const std::vector<std::string>& paths) {
  std::vector<std::string> each = paths;
  std::sort(each.begin(), each.end());
  each.erase(std::unique(each.begin(), each.end()), each.end());
  if (!packages.relevant || packages.relevant->empty() || each.empty()) return {};
  Wanted wanted = prepare(each);
  switch (package_database(source)) {
  case PackageDatabase::dpkg:
    search_dpkg(source, *packages.relevant, wanted);
    break;
  case PackageDatabase::rpm:
    ask_rpm(source, each, wanted);
    break;
  case PackageDatabase::pacman:
    search_pacman(source, *packages.relevant, wanted);
    break;
  case PackageDatabase::none:
    break;
  }
  return std::move(wanted.found);
}

} // namespace gpuvet
