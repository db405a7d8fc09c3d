// DKMS: which versions of the driver it knows, for which kernels it built them, and what went
// wrong. Its tree: MODULE/VERSION/{source, build/make.log, KERNEL/ARCH/{module, log/make.log}} and
// a link MODULE/kernel-KERNEL-ARCH per installed build.
#include "base/text.hpp"
#include "probe/kernel/parts.hpp"

#include <algorithm>
#include <array>

namespace gpuvet::kernel {
namespace {

const std::string kTree = "/var/lib/dkms";

// The line on which a build stopped. Compilers and make each have their own way of saying it.
std::string first_error(const std::vector<std::string>& log) {
  static constexpr std::array<std::string_view, 5> signs = {" error: ", "Error! ",
                                                            "ERROR: ", "cannot find", "*** "};
  constexpr size_t longest = 300;
  for (const std::string& line : log)
    for (std::string_view sign : signs)
      if (holds_word(line, sign)) return std::string(trimmed(line)).substr(0, longest);
  return {};
}

// "DKMS make.log for nvidia-550.127.05 for kernel 6.8.0-45-generic (x86_64)"
std::string kernel_of(const std::vector<std::string>& log) {
  constexpr std::string_view sign = " for kernel ";
  for (size_t i = 0; i < std::min<size_t>(log.size(), 5); ++i) {
    size_t at = log[i].find(sign);
    if (at == std::string::npos) continue;
    std::vector<std::string> rest = words_of(std::string_view(log[i]).substr(at + sign.size()));
    if (!rest.empty()) return rest[0];
  }
  return {};
}

bool is_kernel_folder(const std::string& name) {
  return !name.empty() && name[0] >= '0' && name[0] <= '9';
}

void read_builds(const Source& source, const DkmsEntry& version, const std::string& kernel,
                 std::vector<DkmsEntry>& entries) {
  std::string module = kTree + "/" + version.module;
  std::string folder = module + "/" + version.version + "/" + kernel;
  auto architectures = source.list(folder);
  if (!architectures) return;
  for (const std::string& architecture : *architectures) {
    DkmsEntry entry = version;
    entry.kernel = kernel;
    auto installed = source.link_target(module + "/kernel-" + kernel + "-" + architecture);
    bool of_this_version = installed && holds_word(*installed + "/", version.version + "/");
    entry.state = of_this_version ? "installed" : "built";
    entries.push_back(std::move(entry));
  }
}

// A failed build leaves its folder behind; a good one takes it away.
void read_failure(const Source& source, const DkmsEntry& version, std::vector<DkmsEntry>& entries) {
  DkmsEntry entry = version;
  entry.log = kTree + "/" + version.module + "/" + version.version + "/build/make.log";
  std::vector<std::string> log = lines(source, entry.log);
  if (log.empty()) return;
  entry.kernel = kernel_of(log);
  entry.error = first_error(log);
  auto same = [&](const DkmsEntry& other) {
    return other.version == entry.version && other.kernel == entry.kernel &&
           other.module == entry.module;
  };
  auto built = std::find_if(entries.begin(), entries.end(), same);
  if (built == entries.end()) entries.push_back(std::move(entry));
}

void read_version(const Source& source, const std::string& module, const std::string& version,
                  std::vector<DkmsEntry>& entries) {
  DkmsEntry entry;
  entry.module = module;
  entry.version = version;
  entry.state = "added";
  size_t before = entries.size();
  auto names = source.list(kTree + "/" + module + "/" + version);
  if (!names) return;
  for (const std::string& name : *names)
    if (is_kernel_folder(name)) read_builds(source, entry, name, entries);
  if (std::find(names->begin(), names->end(), "build") != names->end())
    read_failure(source, entry, entries);
  if (entries.size() == before) entries.push_back(std::move(entry));
}

} // namespace

void probe_dkms(const Source& source, KernelSide& side) {
  auto modules = source.list(kTree);
  if (!modules) return;
  for (const std::string& module : *modules) {
    bool wanted = module.starts_with("nvidia") || module.starts_with("nv_peer") ||
                  module.starts_with("gdrdrv");
    if (!wanted) continue;
    auto versions = source.list(kTree + "/" + module);
    if (!versions) continue;
    for (const std::string& version : *versions)
      if (is_kernel_folder(version)) read_version(source, module, version, side.dkms);
  }
}

} // namespace gpuvet::kernel
