// The distribution by os-release(5), and the package system by its database.
#include "base/text.hpp"
#include "probe/place/parts.hpp"

#include <array>

namespace gpuvet::place {
namespace {

struct Database {
  std::string_view path;
  PackageSystem system;
};

// The rpm database is told apart by its front end.
constexpr std::array<Database, 8> kDatabases = {
    {{"/var/lib/dpkg/status", PackageSystem::apt},
     {"/var/lib/dpkg/status.d", PackageSystem::apt}, // distroless images
     {"/usr/bin/zypper", PackageSystem::zypper},
     {"/usr/bin/dnf", PackageSystem::dnf},
     {"/usr/bin/microdnf", PackageSystem::dnf},
     {"/usr/bin/yum", PackageSystem::dnf},
     {"/var/lib/pacman/local", PackageSystem::pacman},
     {"/lib/apk/db/installed", PackageSystem::apk}}};

} // namespace

void probe_distribution(const Source& source, Distribution& distribution) {
  std::string file = "/etc/os-release";
  auto text = source.read_file(file, size_t{64} << 10);
  if (!text) {
    file = "/usr/lib/os-release";
    text = source.read_file(file, size_t{64} << 10);
  }
  if (text) {
    std::map<std::string, std::string> fields;
    for (const std::string& line : split_at(*text, '\n'))
      if (auto pair = key_and_value(line, '=')) fields[pair->first] = unquoted(pair->second);
    distribution.id = fields["ID"].empty() ? unknown<std::string>(file + " tells no ID")
                                           : known(fields["ID"], file);
    distribution.like = words_of(fields["ID_LIKE"]);
    distribution.version = fields["VERSION_ID"];
    distribution.name = fields["PRETTY_NAME"];
  } else {
    distribution.id = unknown<std::string>("/etc/os-release: " + text.error().what);
  }
  for (const Database& database : kDatabases)
    if (exists(source, std::string(database.path))) {
      distribution.packages = database.system;
      return;
    }
}

} // namespace gpuvet::place
