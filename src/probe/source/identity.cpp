#include "base/text.hpp"
#include "os/system_info.hpp"
#include "probe/source/redact.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

constexpr uint64_t kFirstPerson = 1000, kLastPerson = 60000; // user numbers, login.defs(5)

void add(std::vector<std::string>& names, const std::string& name) {
  if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
    names.push_back(name);
}

} // namespace

Identity identity_of(const Source& source) {
  Identity identity;
  if (source.kind == Seen::live) add(identity.host_names, system_info().host_name);
  for (const char* file : {"/proc/sys/kernel/hostname", "/etc/hostname"})
    add(identity.host_names, first_line(source, file));
  const auto environment = source.environment();
  auto add_variable = [&](const char* name, std::vector<std::string>& names) {
    if (auto at = environment.find(name); at != environment.end()) add(names, at->second);
  };
  for (const char* name : {"HOSTNAME", "SLURMD_NODENAME"})
    add_variable(name, identity.host_names);
  for (const char* name : {"USER", "LOGNAME", "SUDO_USER"})
    add_variable(name, identity.user_names);
  for (const std::string& line : lines(source, "/etc/passwd")) {
    const std::vector<std::string> fields = split_at(line, ':');
    if (fields.size() < 3) continue;
    const uint64_t user = decimal_number(fields[2]).value_or(0);
    if (user >= kFirstPerson && user <= kLastPerson) add(identity.user_names, fields[0]);
  }
  if (auto homes = source.list("/home"))
    for (const std::string& home : *homes)
      add(identity.user_names, home);
  return identity;
}

} // namespace gpuvet
