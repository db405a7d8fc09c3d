#include "gpu/work/survey/nvml_entries.hpp"

#include "gpu/nvml_device.hpp"
#include "gpu/talk.hpp"
#include "gpu/text.hpp"

#include <array>
#include <thread>

namespace gpuvet {
namespace {

constexpr unsigned kMostParts = 64;     // MIG devices of one GPU
constexpr double kBetweenLooks_s = 0.2; // NVML renews its figure every 1/6 s to 1 s

struct Handle {
  NvmlDevice device, whole; // the same, but for a MIG device
  unsigned index;
};

void add_parts(Asker& asker, const NvmlApi& api, const Handle& whole, std::vector<Handle>& to) {
  unsigned on = 0, later = 0, most = 0;
  if (asker.ask(api.nvmlDeviceGetMigMode, whole.device, &on, &later) != 0 || on == 0) return;
  if (asker.ask(api.nvmlDeviceGetMaxMigDeviceCount, whole.device, &most) != 0) return;
  for (unsigned at = 0; at < most && at < kMostParts; ++at) {
    NvmlDevice part = nullptr;
    if (asker.ask(api.nvmlDeviceGetMigDeviceHandleByIndex, whole.device, at, &part) == 0)
      to.push_back({part, whole.device, whole.index});
  }
}

std::vector<Handle> find_handles(Asker& asker, const NvmlApi& api) {
  unsigned count = 0;
  asker.ask(api.nvmlDeviceGetCount_v2, &count);
  std::vector<Handle> handles;
  for (unsigned index = 0; index < count && index < unsigned{kMostGpus}; ++index) {
    Handle whole{nullptr, nullptr, index};
    // A GPU that cannot be had keeps its place, so that places stay those of the index.
    asker.ask(api.nvmlDeviceGetHandleByIndex_v2, index, &whole.device);
    whole.whole = whole.device;
    handles.push_back(whole);
  }
  for (size_t at = 0; at < count && at < handles.size(); ++at)
    if (Handle whole = handles[at]; whole.device) add_parts(asker, api, whole, handles);
  if (handles.size() > size_t{kMostGpus}) handles.resize(size_t{kMostGpus});
  return handles;
}

template <class T> void answer_if(Asker& asker, const char* field, int code, const T& value) {
  if (code == 0) asker.answer(field, value);
}

void ask_ecc(NvmlTalk& talk, int kind, const char* field) {
  unsigned long long errors = 0;
  int code = talk.asker.ask(talk.api.nvmlDeviceGetTotalEccErrors, talk.device, kind,
                            int{kNvmlVolatile}, &errors);
  answer_if(talk.asker, field, code, errors);
}

// Of all links together; what a driver or a generation does not count is left out.
void ask_nvlink_errors(NvmlTalk& talk) {
  std::array<NvmlField, 4> fields = {
      nvml_field(kNvmlFieldFlitErrors), nvml_field(kNvmlFieldCrcErrors),
      nvml_field(kNvmlFieldReplayErrors), nvml_field(kNvmlFieldRecoveryErrors)};
  if (talk.asker.ask(talk.api.nvmlDeviceGetFieldValues, talk.device, int{fields.size()},
                     fields.data()) != 0)
    return;
  uint64_t sum = 0;
  bool any = false;
  for (const NvmlField& field : fields)
    if (field.code == 0) {
      sum += number_of(field);
      any = true;
    }
  if (any) talk.asker.answer("nvlink_errors", sum);
}

void ask_counters(NvmlTalk& talk) {
  unsigned replays = 0;
  int code = talk.asker.ask(talk.api.nvmlDeviceGetPcieReplayCounter, talk.device, &replays);
  answer_if(talk.asker, "replays", code, replays);
  ask_ecc(talk, kNvmlCorrected, "ecc_corrected");
  ask_ecc(talk, kNvmlUncorrected, "ecc_uncorrected");
  unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
  code = talk.asker.ask(talk.api.nvmlDeviceGetRemappedRows, talk.device, &corrected, &uncorrected,
                        &pending, &failed);
  answer_if(talk.asker, "remapped_rows", code, corrected + uncorrected);
  answer_if(talk.asker, "remap_pending", code, pending != 0);
  answer_if(talk.asker, "remap_failed", code, failed != 0);
  ask_nvlink_errors(talk);
}

void ask_part(NvmlTalk& talk) {
  NvmlParts parts{};
  if (talk.asker.ask(talk.api.nvmlDeviceGetAttributes_v2, talk.device, &parts) != 0) return;
  talk.asker.answer("number.gpu_slices", parts.gpu_slices);
  talk.asker.answer("number.compute_slices", parts.compute_slices);
  talk.asker.answer("number.part_multiprocessors", parts.multiprocessors);
  talk.asker.answer("number.part_copy_engines", parts.copy_engines);
  talk.asker.answer("number.part_memory_bytes", parts.memory_mib << 20);
}

void ask_entry(NvmlTalk& talk, const Handle& handle) {
  std::array<char, 257> uuid{};
  int code = talk.asker.ask(talk.api.nvmlDeviceGetUUID, handle.device, uuid.data(), unsigned{256});
  answer_if(talk.asker, "uuid", code, bounded_text(uuid.data(), 256));
  talk.asker.answer("index", handle.index);
  talk.asker.answer("part", handle.device != handle.whole);
  talk.device = handle.whole; // parts have no counters of their own
  NvmlPci pci{};
  code = talk.asker.ask(talk.api.nvmlDeviceGetPciInfo_v3, talk.device, &pci);
  answer_if(talk.asker, "pci_address", code,
            sysfs_address(bounded_text(pci.bus_id, sizeof(pci.bus_id))));
  ask_counters(talk);
  unsigned bits = 0;
  code = talk.asker.ask(talk.api.nvmlDeviceGetMemoryBusWidth, talk.device, &bits);
  answer_if(talk.asker, "number.whole_memory_bus_bits", code, bits);
  talk.device = handle.device;
  if (handle.device != handle.whole) ask_part(talk);
  ask_processes(talk);
}

void watch(NvmlTalk& talk, const std::vector<Handle>& handles, const std::set<int>& skip,
           double seconds) {
  std::vector<double> sums(handles.size());
  std::vector<int> looks(handles.size());
  for (int look = 0; look * kBetweenLooks_s < seconds; ++look) {
    std::this_thread::sleep_for(std::chrono::duration<double>(kBetweenLooks_s));
    for (size_t at = 0; at < handles.size(); ++at) {
      if (skip.contains(static_cast<int>(at)) || !handles[at].device) continue;
      talk.asker.turn_to(static_cast<int>(at));
      NvmlUtilization now{};
      int code = talk.asker.ask(talk.api.nvmlDeviceGetUtilizationRates, handles[at].device, &now);
      if (code != 0) continue;
      sums[at] += now.gpu;
      ++looks[at];
    }
  }
  for (size_t at = 0; at < handles.size(); ++at) {
    if (looks[at] == 0) continue;
    talk.asker.turn_to(static_cast<int>(at));
    talk.asker.answer("busy_percent", sums[at] / looks[at]);
  }
}

void ask_entries(Teller& tell, const std::set<int>& skip, const EntriesOptions& options) {
  Asker asker(tell, {kNvmlFunctionNotFound, kNvmlGpuIsLost, kNvmlResetRequired});
  tell.about_to_call(kNoGpu, "dlopen");
  auto library = open_library(kNvmlPlaces, options.library);
  if (!library) {
    asker.answer("problem", library.error().what);
    return tell.stop("no_library");
  }
  const NvmlApi api = find_nvml(*library);
  if (int code = asker.ask(api.nvmlInit_v2)) {
    asker.answer("problem", "nvmlInit_v2: " + nvml_error_text(api, code));
    return tell.stop("failed");
  }
  std::vector<Handle> handles = find_handles(asker, api);
  tell.gpus(handles.size());
  NvmlTalk talk{api, asker};
  for (size_t at = 0; at < handles.size(); ++at) {
    if (skip.contains(static_cast<int>(at)) || !handles[at].device) continue;
    asker.turn_to(static_cast<int>(at));
    ask_entry(talk, handles[at]);
  }
  watch(talk, handles, skip, options.watch_s);
  for (size_t at = 0; at < handles.size(); ++at)
    tell.done(static_cast<int>(at));
}

void take_entry(NvmlEntry& entry, std::string_view field, std::string_view value) {
  constexpr std::string_view kNumber = "number.";
  double number = 0;
  if (field.starts_with(kNumber)) {
    if (value.starts_with('=') && from_text(value.substr(1), number))
      entry.numbers[std::string(field.substr(kNumber.size()))] = number;
    return;
  }
  TakeValue take{field, value};
  NvmlValue<std::vector<NvmlProcess>> processes;
  take("uuid", entry.uuid);
  take("pci_address", entry.pci_address);
  take("index", entry.index);
  take("part", entry.part);
  take("busy_percent", entry.busy_percent);
  take("processes", processes);
  if (processes) entry.processes = *processes;
  take("replays", entry.counters.replays);
  take("ecc_corrected", entry.counters.ecc_corrected);
  take("ecc_uncorrected", entry.counters.ecc_uncorrected);
  take("remapped_rows", entry.counters.remapped_rows);
  take("remap_pending", entry.counters.remap_pending);
  take("remap_failed", entry.counters.remap_failed);
  take("nvlink_errors", entry.counters.nvlink_errors);
}

} // namespace

EntriesQuestion start_entries(const EntriesOptions& options) {
  auto work = [options](Teller& tell, const std::set<int>& skip) {
    ask_entries(tell, skip, options);
  };
  return {std::make_shared<Talk>(work, options.deadline_s)};
}

NvmlEntries collect_entries(const EntriesQuestion& question) {
  NvmlEntries answers;
  std::map<int, NvmlEntry> entries;
  TalkEnd end = question.talk->finish([&](int gpu, std::string_view field, std::string_view value) {
    if (gpu != kNoGpu) return take_entry(entries[gpu], field, value);
    TakeValue{field, value}("problem", answers.problem);
  });
  for (auto& entry : entries)
    answers.entries.push_back(std::move(entry.second));
  if (answers.problem.empty()) answers.problem = end.problem;
  return answers;
}

} // namespace gpuvet
