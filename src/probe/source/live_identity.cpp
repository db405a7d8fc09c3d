#include "base/text.hpp"
#include "os/file_tree.hpp"
#include "os/system_info.hpp"
#include "probe/source/redact.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

constexpr uint64_t kFirstPerson = 1000, kLastPerson = 60000; // user numbers, login.defs(5)
constexpr size_t kLargestTable = size_t{4} << 20;

void add(std::vector<std::string>& names, const std::string& name) {
  if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
    names.push_back(name);
}

} // namespace

Identity identity_of_this_machine() {
  Identity identity;
  add(identity.host_names, system_info().host_name);
  const auto environment = process_environment();
  for (const char* name : {"HOSTNAME", "SLURMD_NODENAME"})
    if (auto at = environment.find(name); at != environment.end())
      add(identity.host_names, at->second);
  for (const char* name : {"USER", "LOGNAME", "SUDO_USER"})
    if (auto at = environment.find(name); at != environment.end())
      add(identity.user_names, at->second);
  for (const std::string& line :
       split_at(read_small_file("/etc/passwd", kLargestTable).value_or(""), '\n')) {
    const std::vector<std::string> fields = split_at(line, ':');
    if (fields.size() < 3) continue;
    const uint64_t user = decimal_number(fields[2]).value_or(0);
    if (user >= kFirstPerson && user <= kLastPerson) add(identity.user_names, fields[0]);
  }
  if (auto homes = list_folder("/home"))
    for (const std::string& home : *homes)
      add(identity.user_names, home);
  return identity;
}

} // namespace gpuvet
