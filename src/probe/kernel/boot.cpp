// How this kernel was built and started: Secure Boot, lockdown, command line, IOMMU, SELinux.
#include "base/text.hpp"
#include "probe/kernel/parts.hpp"

#include <array>

namespace gpuvet::kernel {
namespace {

// The variable's value follows four bytes of attributes (UEFI specification, efivarfs).
void find_secure_boot(const Source& source, KernelSide& side) {
  const std::string folder = "/sys/firmware";
  const std::string file = folder + "/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
  auto value = source.read_file(file, 64);
  if (value && value->size() >= 5) {
    side.secure_boot = known(value->back() == '\x01', file);
    return;
  }
  if (value || !is_missing(value.error())) {
    side.secure_boot = unknown<bool>(file + ": " + (value ? "too short" : value.error().what));
    return;
  }
  // Containers often hide /sys/firmware: then its being empty tells nothing about the machine.
  bool shown = is_folder(source, folder + "/acpi") || is_folder(source, folder + "/devicetree") ||
               is_folder(source, folder + "/efi");
  if (shown)
    side.secure_boot = known(false, file + " is not there");
  else
    side.secure_boot = unknown<bool>(folder + " is hidden or empty");
}

// "none [integrity] confidentiality" -> "integrity"
std::string bracketed(const std::string& line) {
  size_t open = line.find('['), close = line.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return line.substr(open + 1, close - open - 1);
}

void find_selinux(const Source& source, KernelSide& side) {
  const std::string folder = "/sys/fs/selinux", file = folder + "/enforce";
  std::string value = first_line(source, file);
  if (value == "0" || value == "1")
    side.selinux_enforcing = known(value == "1", file);
  else if (is_folder(source, folder) || !is_folder(source, "/sys/fs"))
    side.selinux_enforcing = unknown<bool>(file + " is hidden or unreadable");
  else
    side.selinux_enforcing = known(false, folder + " is not there");
}

void find_iommu(const Source& source, KernelSide& side) {
  const std::string folder = "/sys/class/iommu";
  auto names = source.list(folder);
  if (names)
    side.iommu = known(!names->empty(), folder);
  else if (is_missing(names.error()) && is_folder(source, "/sys/class"))
    side.iommu = known(false, folder + " is not there");
  else
    side.iommu = unknown<bool>(folder + ": " + names.error().what);
}

void find_modprobe_program(const Source& source, KernelSide& side) {
  const std::string file = "/usr/bin/nvidia-modprobe";
  constexpr uint32_t setuid = 04000;
  auto entry = source.entry(file);
  if (entry)
    side.modprobe_setuid = known((entry->mode & setuid) != 0 && entry->uid == 0, file);
  else if (is_missing(entry.error()))
    side.modprobe_setuid = known(false, file + " is not there");
  else
    side.modprobe_setuid = unknown<bool>(file + ": " + entry.error().what);
}

void find_suspend_units(const Source& source, KernelSide& side) {
  const std::string folder = "/etc/systemd/system";
  if (!is_folder(source, folder)) return;
  auto enabled = [&](const std::string& unit) {
    for (std::string_view kind : {".wants/", ".requires/"})
      for (std::string_view target : {"systemd-suspend.service", "suspend.target"})
        if (source.entry(folder + "/" + std::string(target) + std::string(kind) + unit))
          return true;
    return false;
  };
  side.suspend_units_enabled =
      enabled("nvidia-suspend.service") && enabled("nvidia-resume.service");
}

// "CmaFree:         9702400 kB"; kB are KiB there (proc_meminfo(5)).
Observed<uint64_t> bytes_of(const std::vector<std::string>& meminfo, std::string_view name) {
  const std::string file = "/proc/meminfo";
  if (meminfo.empty()) return unknown<uint64_t>(file + " could not be read");
  for (const std::string& line : meminfo) {
    if (!line.starts_with(name)) continue;
    std::vector<std::string> words = words_of(line.substr(name.size()));
    auto number = words.empty() ? std::nullopt : decimal_number(words[0]);
    if (number && *number <= (UINT64_MAX >> 10U)) return known(*number << 10U, file);
    return unknown<uint64_t>(file + " has no number after " + std::string(name));
  }
  return known<uint64_t>(0, file);
}

void find_contiguous_memory(const Source& source, KernelSide& side) {
  std::vector<std::string> meminfo = lines(source, "/proc/meminfo");
  side.cma_bytes = bytes_of(meminfo, "CmaTotal:");
  side.cma_free_bytes = bytes_of(meminfo, "CmaFree:");
}

// The first word of `text` that starts with a digit, without a comma behind it.
std::string version_in(std::string_view text) {
  for (std::string word : words_of(text)) {
    if (word[0] < '0' || word[0] > '9') continue;
    word.erase(word.find_last_not_of(",)") + 1);
    return word;
  }
  return {};
}

} // namespace

std::string compiler_of(const std::string& proc_version) {
  // "... (x86_64-linux-gnu-gcc-13 (Ubuntu 13.2.0-23ubuntu4) 13.2.0, GNU ld ...) #45-Ubuntu ..."
  // "... (gcc version 9.4.0 (Ubuntu 9.4.0-1ubuntu1~20.04.2)) #166-Ubuntu ..."
  // "... (Ubuntu clang version 14.0.6, LLD 14.0.6) #1 ..."
  for (std::string_view name : {"gcc version ", "clang version "}) {
    size_t at = proc_version.find(name);
    if (at == std::string::npos) continue;
    std::string version = version_in(std::string_view(proc_version).substr(at + name.size()));
    return version.empty() ? "" : std::string(words_of(name)[0]) + " " + version;
  }
  size_t at = proc_version.find("gcc");
  if (at == std::string::npos) return {};
  std::string_view rest = std::string_view(proc_version).substr(at);
  rest = rest.substr(0, rest.find(','));
  // What stands in brackets is the distribution's own numbering.
  size_t close = rest.find(')');
  std::string version = version_in(close == std::string_view::npos ? rest : rest.substr(close + 1));
  return version.empty() ? "" : "gcc " + version;
}

void probe_boot(const Source& source, KernelSide& side) {
  find_secure_boot(source, side);
  side.lockdown = bracketed(first_line(source, "/sys/kernel/security/lockdown"));
  auto command_line = source.read_file("/proc/cmdline", size_t{64} << 10);
  side.command_line = command_line
                          ? known(std::string(trimmed(*command_line)), "/proc/cmdline")
                          : unknown<std::string>("/proc/cmdline: " + command_line.error().what);
  auto version = source.read_file("/proc/version", 4096);
  std::string compiler = version ? compiler_of(*version) : "";
  side.kernel_compiler = compiler.empty() ? unknown<std::string>("/proc/version does not tell it")
                                          : known(compiler, "/proc/version");
  find_contiguous_memory(source, side);
  find_iommu(source, side);
  find_selinux(source, side);
  find_modprobe_program(source, side);
  find_suspend_units(source, side);
  if (is_folder(source, "/run"))
    side.persistenced_socket = exists(source, "/run/nvidia-persistenced/socket");
}

} // namespace gpuvet::kernel
