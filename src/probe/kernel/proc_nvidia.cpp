// /proc/driver/nvidia: what the loaded module tells without being asked through NVML.
#include "base/text.hpp"
#include "probe/kernel/parts.hpp"

namespace gpuvet::kernel {
namespace {

const std::string kFolder = "/proc/driver/nvidia";

std::map<std::string, std::string> fields_of(const Source& source, const std::string& path) {
  std::map<std::string, std::string> fields;
  for (const std::string& line : lines(source, path))
    if (auto pair = key_and_value(line, ':')) fields[pair->first] = unquoted(pair->second);
  return fields;
}

void read_gpus(const Source& source, KernelSide& side) {
  auto names = source.list(kFolder + "/gpus");
  if (!names) {
    side.proc_gpus = unknown<std::vector<std::string>>(kFolder + "/gpus: " + names.error().what);
    return;
  }
  for (const std::string& address : *names)
    side.proc_gpu_information[address] =
        fields_of(source, kFolder + "/gpus/" + address + "/information");
  side.proc_gpus = known(*names, kFolder + "/gpus");
}

// gpu0/mig/gi1/ci0/access and the like: few levels, each of which has files and folders.
void read_capabilities(const Source& source, KernelSide& side) {
  constexpr size_t most = 512, deepest = 6;
  const std::string top = kFolder + "/capabilities";
  std::vector<std::string> waiting{""};
  while (!waiting.empty() && side.capabilities.size() < most) {
    std::string folder = waiting.back();
    waiting.pop_back();
    auto names = source.list(top + folder);
    if (!names) continue;
    for (const std::string& name : *names) {
      std::string path = folder + "/" + name;
      if (is_folder(source, top + path)) {
        if (split_at(path, '/').size() <= deepest) waiting.push_back(path);
        continue;
      }
      std::map<std::string, std::string> fields = fields_of(source, top + path);
      auto minor = decimal_number(fields["DeviceFileMinor"]);
      DriverCapability capability{path.substr(1), std::nullopt};
      if (minor && *minor <= UINT32_MAX) capability.minor = static_cast<uint32_t>(*minor);
      side.capabilities.push_back(std::move(capability));
    }
  }
}

} // namespace

void probe_proc_nvidia(const Source& source, KernelSide& side) {
  read_gpus(source, side);
  side.proc_params = fields_of(source, kFolder + "/params");
  read_capabilities(source, side);
}

} // namespace gpuvet::kernel
