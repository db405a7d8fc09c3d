#include "os/system_info.hpp"

#include <algorithm>
#include <ctime>
#include <gnu/libc-version.h>
#include <string_view>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace gpuvet {
namespace {

std::optional<uint64_t> soft_limit(__rlimit_resource which) {
  rlimit limit{};
  if (getrlimit(which, &limit) != 0) return std::nullopt;
  return limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : uint64_t{limit.rlim_cur};
}

int64_t seconds_of(clockid_t clock) {
  timespec time{};
  return clock_gettime(clock, &time) == 0 ? time.tv_sec : 0;
}

std::vector<uint64_t> group_ids() {
  std::vector<uint64_t> groups = {getegid()};
  int count = getgroups(0, nullptr);
  if (count > 0) {
    std::vector<gid_t> more(static_cast<size_t>(count));
    count = getgroups(count, more.data());
    more.resize(count > 0 ? static_cast<size_t>(count) : 0);
    for (gid_t group : more)
      if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  }
  return groups;
}

} // namespace

SystemInfo system_info() {
  SystemInfo info;
  utsname name{};
  if (uname(&name) == 0) {
    info.kernel_release = name.release;
    info.architecture = name.machine;
    info.host_name = name.nodename;
  }
  info.glibc = gnu_get_libc_version();
  info.user = geteuid();
  info.groups = group_ids();
  info.now = seconds_of(CLOCK_REALTIME);
  info.booted = info.now - seconds_of(CLOCK_BOOTTIME);
  info.memlock_bytes = soft_limit(RLIMIT_MEMLOCK);
  info.open_files = soft_limit(RLIMIT_NOFILE);
  return info;
}

std::map<std::string, std::string> process_environment() {
  std::map<std::string, std::string> variables;
  for (char** at = environ; at && *at; ++at) {
    std::string_view setting = *at;
    size_t equals = setting.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    variables.emplace(setting.substr(0, equals), setting.substr(equals + 1));
  }
  return variables;
}

} // namespace gpuvet
