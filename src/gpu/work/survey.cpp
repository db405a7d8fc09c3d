#include "gpu/work/survey.hpp"

#include "gpu/ask.hpp"
#include "gpu/work/survey/device_numbers.hpp"
#include "gpu/work/survey/nvml_entries.hpp"
#include "gpu/work/survey/slot.hpp"
#include "gpu/work/survey/users.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace gpuvet {
namespace {

// NVML's figure is an average over a sixth of a second to a second before, by GPU. Load with longer
// gaps than that and this together is not seen in it; its process is, in the list.
constexpr double kWatch_s = 0.3;

template <class T>
void put(VerifiedGpu& gpu, const char* name, const NvmlValue<T>& value, double unit = 1) {
  if (value) gpu.numbers[name] = static_cast<double>(*value) * unit;
}

std::string on_off(bool on) {
  return on ? "on" : "off";
}

std::string one_of(const std::vector<const char*>& names, uint32_t number) {
  return number < names.size() ? names[number] : fmt::format("{}", number);
}

void put_words(VerifiedGpu& gpu, const NvmlGpu& from) {
  if (from.compute_mode)
    gpu.words["compute_mode"] = one_of(
        {"default", "exclusive thread", "prohibited", "exclusive process"}, *from.compute_mode);
  if (from.mig && !gpu.words.count("mig")) gpu.words["mig"] = on_off(*from.mig);
  if (from.ecc) gpu.words["ecc"] = on_off(*from.ecc);
  if (from.persistence) gpu.words["persistence"] = on_off(*from.persistence);
  if (from.virtualization)
    gpu.words["virtualization"] =
        one_of({"none", "passthrough", "vgpu", "host vgpu", "host vsga"}, *from.virtualization);
  if (!from.vbios.empty()) gpu.words["vbios"] = from.vbios;
  if (!from.brand.empty()) gpu.words["brand"] = from.brand;
}

void put_numbers(VerifiedGpu& gpu, const NvmlGpu& from) {
  put(gpu, "sm_clock_max_mhz", from.clock_sm_max);
  put(gpu, "memory_clock_max_mhz", from.clock_memory_max);
  put(gpu, "power_limit_w", from.power_limit_mw, 1e-3);
  put(gpu, "power_default_w", from.power_default_mw, 1e-3);
  put(gpu, "power_max_w", from.power_max_mw, 1e-3);
  put(gpu, "power_w", from.power_mw, 1e-3);
  put(gpu, "temperature_c", from.temperature_c);
  put(gpu, "temperature_slowdown_c", from.temperature_slowdown_c);
  put(gpu, "link_generation", from.link_generation);
  put(gpu, "link_generation_max", from.link_generation_max);
  put(gpu, "link_generation_device_max", from.link_generation_device_max);
  put(gpu, "link_width", from.link_width);
  put(gpu, "link_width_max", from.link_width_max);
  put(gpu, "nvlinks", from.nvlinks);
  put(gpu, "nvlinks_active", from.nvlinks_active);
  put(gpu, "memory_used_bytes", from.memory_used);
  put(gpu, "memory_reserved_bytes", from.memory_reserved);
  put(gpu, "ecc", from.ecc);
  put(gpu, "ecc_pending", from.ecc_pending);
  put(gpu, "recovery_action", from.recovery_action);
}

// The clocks and the bus that the driver knows, where NVML does not tell.
void fill_gaps(VerifiedGpu& gpu) {
  auto copy = [&](const char* to, const char* from, double unit) {
    auto found = gpu.numbers.find(from);
    if (found != gpu.numbers.end() && found->second > 0)
      gpu.numbers.emplace(to, found->second * unit);
  };
  copy("sm_clock_max_mhz", "clock_khz", 1e-3);
  copy("memory_clock_max_mhz", "memory_clock_khz", 1e-3);
}

void put_numa_node(VerifiedGpu& gpu) {
  std::ifstream file("/sys/bus/pci/devices/" + gpu.pci_address + "/numa_node");
  int node = -1;
  if (file >> node) gpu.words["numa_node"] = node < 0 ? "not told" : std::to_string(node);
}

void put_slot(VerifiedGpu& gpu) {
  const SlotSizes sizes = read_slot("/sys/bus/pci/devices/" + gpu.pci_address);
  auto number = [&](const char* name, const std::optional<uint32_t>& value) {
    if (value) gpu.numbers[name] = *value;
  };
  number("link_generation_own", sizes.own.generation);
  number("link_width_own", sizes.own.width);
  number("slot_generation_max", sizes.slot.generation);
  number("slot_width_max", sizes.slot.width);
}

VerifiedGpu from_cuda(const CudaDevice& device) {
  VerifiedGpu gpu;
  gpu.uuid = device.uuid;
  gpu.name = device.name;
  gpu.pci_address = device.pci_address;
  gpu.ordinal = device.ordinal;
  gpu.sm = device.capability.value_or(0);
  if (device.memory_bytes) gpu.numbers["memory_bytes"] = static_cast<double>(*device.memory_bytes);
  if (device.error != 0) gpu.why_unusable = "the CUDA driver: " + device.error_text;
  if (gpu.uuid.starts_with("MIG-")) gpu.words["mig"] = "part";
  return gpu;
}

// The entry of that UUID; of a part that NVML does not list, its GPU's.
const NvmlEntry* entry_of(const NvmlEntries& all, const VerifiedGpu& gpu) {
  for (const NvmlEntry& entry : all.entries)
    if (!gpu.uuid.empty() && entry.uuid == gpu.uuid) return &entry;
  for (const NvmlEntry& entry : all.entries)
    if (!gpu.pci_address.empty() && !entry.part && entry.pci_address == gpu.pci_address)
      return &entry;
  return nullptr;
}

void join(VerifiedGpu& gpu, const NvmlAnswers& nvml, const NvmlEntries& entries) {
  const NvmlEntry* entry = entry_of(entries, gpu);
  if (entry) {
    gpu.nvml_index = entry->index;
    gpu.before = entry->counters;
    gpu.busy = who_uses(*entry);
    for (const auto& number : entry->numbers)
      gpu.numbers.insert(number);
    if (entry->busy_percent) gpu.numbers["busy_percent"] = *entry->busy_percent;
  }
  for (const NvmlGpu& whole : nvml.gpus) {
    bool same = entry ? whole.index == entry->index : !gpu.uuid.empty() && whole.uuid == gpu.uuid;
    if (!same) continue;
    gpu.nvml_index = whole.index;
    put_words(gpu, whole);
    put_numbers(gpu, whole);
    if (whole.error != 0) gpu.words["nvml"] = whole.error_text;
  }
}

// A GPU that NVML lists and the CUDA driver does not, although nothing hides it: a lost one would
// otherwise not be missed. One with MIG shows its parts instead, at the same address.
void add_unseen(const NvmlAnswers& nvml, std::vector<VerifiedGpu>& gpus) {
  if (std::getenv("CUDA_VISIBLE_DEVICES")) return;
  for (const NvmlGpu& whole : nvml.gpus) {
    const bool seen = std::any_of(gpus.begin(), gpus.end(), [&](const VerifiedGpu& gpu) {
      return gpu.uuid == whole.uuid || gpu.pci_address == whole.pci_address;
    });
    if (seen || whole.uuid.empty() || (whole.mig && *whole.mig)) continue;
    VerifiedGpu gpu;
    gpu.uuid = whole.uuid;
    gpu.name = whole.name;
    gpu.pci_address = whole.pci_address;
    gpu.nvml_index = whole.index;
    gpu.why_unusable = "NVML lists this GPU and the CUDA driver does not";
    gpus.push_back(std::move(gpu));
  }
}

std::string why_no_gpu(const CudaAnswers& cuda) {
  const Asked& asked = cuda.asked;
  if (asked.state == AskState::no_library)
    return "no driver: libcuda.so.1 cannot be loaded (" + asked.problem + ")";
  if (asked.state == AskState::failed)
    return fmt::format("the CUDA driver does not start: cuInit gave {} ({})", asked.error_text,
                       asked.error);
  if (cuda.count_error && *cuda.count_error != 0)
    return fmt::format("the CUDA driver does not count its GPUs: error {}", *cuda.count_error);
  if (!cuda.devices.empty()) return {};
  if (!asked.problem.empty()) return "the CUDA driver: " + asked.problem;
  return "the CUDA driver offers no GPU to this process";
}

std::string dotted(uint32_t version) { // 13000 -> "13.0"
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

} // namespace

Survey survey_gpus(const SurveyOptions& options) {
  AskOptions ask_cuda, ask_nvml;
  ask_cuda.deadline_s = ask_nvml.deadline_s = options.deadline_s;
  ask_cuda.library = options.cuda_library;
  ask_nvml.library = options.nvml_library;
  auto cuda_question = start_cuda(ask_cuda);
  auto nvml_question = start_nvml(ask_nvml);
  auto numbers_question = start_device_numbers(options.cuda_library, options.deadline_s);
  auto entries_question = start_entries({options.nvml_library, options.deadline_s, kWatch_s});
  Survey survey;
  CudaAnswers cuda = collect(cuda_question);
  survey.no_gpu_why = why_no_gpu(cuda);
  if (cuda.driver_api) survey.cuda = dotted(*cuda.driver_api);
  NvmlAnswers nvml = collect(nvml_question);
  survey.driver = nvml.driver_version;
  if (!survey.no_gpu_why.empty()) return survey; // nobody waits for the rest
  if (options.meanwhile) options.meanwhile();
  auto numbers = collect_device_numbers(numbers_question);
  NvmlEntries entries = collect_entries(entries_question);
  survey.nvml_problem = !nvml.asked.problem.empty() ? nvml.asked.problem : entries.problem;
  for (const CudaDevice& device : cuda.devices) {
    VerifiedGpu gpu = from_cuda(device);
    gpu.numbers.merge(numbers[device.ordinal]);
    join(gpu, nvml, entries);
    fill_gaps(gpu);
    put_numa_node(gpu);
    put_slot(gpu);
    if (!survey.nvml_problem.empty()) gpu.words.emplace("nvml", survey.nvml_problem);
    survey.gpus.push_back(std::move(gpu));
  }
  add_unseen(nvml, survey.gpus);
  return survey;
}

void read_counters_after(std::vector<VerifiedGpu>& gpus, const SurveyOptions& options) {
  NvmlEntries entries =
      collect_entries(start_entries({options.nvml_library, options.deadline_s, 0}));
  for (VerifiedGpu& gpu : gpus) {
    auto xids = gpu.after.xids;
    if (const NvmlEntry* entry = entry_of(entries, gpu)) gpu.after = entry->counters;
    gpu.after.xids = xids;
  }
}

} // namespace gpuvet
