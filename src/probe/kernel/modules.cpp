// Loaded modules: what /proc/modules and /sys/module tell of those that bear on GPUs.
#include "base/text.hpp"
#include "probe/kernel/parts.hpp"

#include <algorithm>
#include <array>

namespace gpuvet::kernel {
namespace {

const std::string kModules = "/proc/modules", kDetails = "/sys/module/";
const std::string kVersionFile = "/proc/driver/nvidia/version";

// Parameters of these are worth telling; those of vfio and RDMA are many and say little here.
bool has_telling_parameters(const std::string& name) {
  return name.starts_with("nvidia") || name.starts_with("nouveau") || name.starts_with("nova");
}

std::map<std::string, std::string> parameters_of(const Source& source, const std::string& name) {
  std::map<std::string, std::string> parameters;
  std::string folder = kDetails + name + "/parameters";
  auto names = source.list(folder);
  if (!names) return parameters;
  for (const std::string& parameter : *names) {
    auto value = source.read_file(folder + "/" + parameter, 4096);
    if (value) parameters[parameter] = trimmed(*value);
  }
  return parameters;
}

KernelModule read_module(const Source& source, const std::vector<std::string>& fields) {
  KernelModule module;
  module.name = fields[0];
  std::string folder = kDetails + module.name;
  module.version = first_line(source, folder + "/version");
  module.srcversion = first_line(source, folder + "/srcversion");
  module.state = fields.size() > 4 ? lower_ascii(fields[4]) : "";
  if (fields.size() > 2) module.references = decimal_number(fields[2]);
  if (auto holders = source.list(folder + "/holders")) module.holders = *holders;
  if (has_telling_parameters(module.name)) module.parameters = parameters_of(source, module.name);
  module.taint = first_line(source, folder + "/taint");
  return module;
}

// "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build ..."
std::string version_in(const std::string& line) {
  for (const std::string& word : words_of(line)) {
    bool number = word.find_first_not_of("0123456789.") == std::string::npos;
    if (number && word.find('.') != std::string::npos) return word;
  }
  return {};
}

void find_version(const Source& source, const std::string& nvrm, KernelSide& side) {
  std::string file = kDetails + "nvidia/version";
  std::string version = first_line(source, file);
  if (!version.empty())
    side.module_version = known(version, file);
  else if (std::string told = version_in(nvrm); !told.empty())
    side.module_version = known(told, kVersionFile);
  else
    side.module_version = unknown<std::string>("no nvidia kernel module is loaded (" + file +
                                               " and " + kVersionFile + " are missing)");
}

// The open module names itself; a proprietary one taints the kernel with P.
void find_flavour(const Source& source, const std::string& nvrm, KernelSide& side) {
  std::string taint_file = kDetails + "nvidia/taint";
  std::string taint = first_line(source, taint_file);
  if (holds_word(nvrm, "Open Kernel Module"))
    side.flavour = known(Flavour::open, kVersionFile);
  else if (holds_word(nvrm, "Kernel Module"))
    side.flavour = known(Flavour::proprietary, kVersionFile);
  else if (!taint.empty())
    side.flavour = known(holds_word(taint, "P") ? Flavour::proprietary : Flavour::open, taint_file);
  else
    side.flavour = unknown<Flavour>("no loaded nvidia module tells it (" + kVersionFile + " and " +
                                    taint_file + ")");
}

} // namespace

bool is_relevant_module(const std::string& name) {
  static constexpr std::array<std::string_view, 8> exact = {
      "nv_peer_mem", "gdrdrv", "ib_core", "ib_uverbs", "mlx5_core", "mlx5_ib", "efa", "nova_core"};
  static constexpr std::array<std::string_view, 5> starts = {"nvidia", "nouveau", "nova", "vfio",
                                                             "nvgpu"};
  auto begins = [&](std::string_view start) { return name.starts_with(start); };
  return std::find(exact.begin(), exact.end(), name) != exact.end() ||
         std::any_of(starts.begin(), starts.end(), begins);
}

void probe_modules(const Source& source, KernelSide& side) {
  auto text = source.read_file(kModules, size_t{4} << 20);
  if (text) {
    std::vector<KernelModule> modules;
    for (const std::string& line : split_at(*text, '\n')) {
      std::vector<std::string> fields = words_of(line);
      if (!fields.empty() && is_relevant_module(fields[0]))
        modules.push_back(read_module(source, fields));
    }
    side.modules = known(std::move(modules), kModules);
  } else {
    side.modules = unknown<std::vector<KernelModule>>(kModules + ": " + text.error().what);
  }
  std::string nvrm = first_line(source, kVersionFile);
  find_version(source, nvrm, side);
  find_flavour(source, nvrm, side);
}

} // namespace gpuvet::kernel
