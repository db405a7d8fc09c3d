#include "gpu/nvml_device.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <vector>

namespace gpuvet {
namespace {

constexpr unsigned kMostProcesses = 1024;

int ask_fields(NvmlTalk& talk, std::vector<NvmlField>& fields) {
  return talk.asker.ask(talk.api.nvmlDeviceGetFieldValues, talk.device,
                        static_cast<int>(fields.size()), fields.data());
}

// One call per link, for drivers that do not tell the states as fields.
int count_active(NvmlTalk& talk, unsigned links, unsigned& active) {
  for (unsigned link = 0; link < links; ++link) {
    int state = 0;
    int code = talk.asker.ask(talk.api.nvmlDeviceGetNvLinkState, talk.device, link, &state);
    if (code != 0) return code;
    active += state != 0;
  }
  return 0;
}

void ask_link_states(NvmlTalk& talk, unsigned links) {
  std::vector<NvmlField> states;
  for (unsigned link = 0; link < links; ++link)
    states.push_back(nvml_field(kNvmlFieldLinkState, link));
  unsigned active = 0;
  int code = links > 0 ? ask_fields(talk, states) : 0;
  bool all = std::all_of(states.begin(), states.end(),
                         [](const NvmlField& state) { return state.code == 0; });
  if (code == 0 && all)
    active = static_cast<unsigned>(
        std::count_if(states.begin(), states.end(),
                      [](const NvmlField& state) { return number_of(state) == 1; }));
  else
    code = count_active(talk, links, active);
  talk.asker.answer("nvlinks_active", code, active);
}

void ask_nvlinks(NvmlTalk& talk) {
  std::vector<NvmlField> fields = {nvml_field(kNvmlFieldLinkCount),
                                   nvml_field(kNvmlFieldRecoveryAction)};
  int code = ask_fields(talk, fields);
  auto code_of = [&](size_t at) { return code != 0 ? code : fields[at].code; };
  talk.asker.answer("recovery_action", code_of(1), number_of(fields[1]));
  auto links = static_cast<unsigned>(std::min<uint64_t>(number_of(fields[0]), kNvmlMostLinks));
  talk.asker.answer("nvlinks", code_of(0), links);
  if (code_of(0) == 0)
    ask_link_states(talk, links);
  else
    talk.asker.answer("nvlinks_active", code_of(0), 0u);
}

void ask_fabric(NvmlTalk& talk) {
  NvmlFabric2 fabric{};
  fabric.version = nvml_version<NvmlFabric2>(2);
  int code = talk.asker.ask(talk.api.nvmlDeviceGetGpuFabricInfoV, talk.device, &fabric);
  if (code == kNvmlFunctionNotFound || code == kNvmlArgumentVersionMismatch) {
    NvmlFabric older{};
    code = talk.asker.ask(talk.api.nvmlDeviceGetGpuFabricInfo, talk.device, &older);
    fabric.state = older.state;
    fabric.status = older.status;
  }
  talk.asker.answer("fabric_state", code, unsigned{fabric.state});
  constexpr unsigned kCompleted = 3; // only then does the status say anything
  bool told = code != 0 || fabric.state == kCompleted;
  talk.asker.answer("fabric_status", told ? code : kNotAsked, fabric.status);
}

using ProcessCall = LibraryCall<NvmlDevice, unsigned*, NvmlProcessEntry*>;

// The entries of a process list have 24 bytes, but some drivers write 32 or 16 under the same name
// (XuehaiPan/nvitop pull requests 79 and 226). Which it was shows in how far the buffer was
// written.
struct ProcessBuffer {
  static constexpr std::byte kUntouched{0xa5};
  static constexpr size_t kEntrySizes[] = {16, sizeof(NvmlProcessEntry), 32};

  std::vector<std::byte> bytes =
      std::vector<std::byte>(kMostProcesses * kEntrySizes[2], kUntouched);

  size_t entry_size(size_t count) const {
    auto last = std::find_if(bytes.rbegin(), bytes.rend(),
                             [](std::byte byte) { return byte != kUntouched; });
    auto written = static_cast<size_t>(bytes.rend() - last);
    for (size_t size : kEntrySizes)
      if (count * size >= written) return size;
    return kEntrySizes[2];
  }

  NvmlProcessEntry entry(size_t at, size_t size) const {
    NvmlProcessEntry entry{};
    std::memcpy(&entry, bytes.data() + at * size, std::min(size, sizeof(entry)));
    return entry;
  }
};

int add_processes(NvmlTalk& talk, const ProcessCall& newer, const ProcessCall& older, bool graphics,
                  std::vector<NvmlProcess>& to) {
  ProcessBuffer buffer;
  unsigned count = kMostProcesses;
  int code = talk.asker.ask(newer.function ? newer : older, talk.device, &count,
                            reinterpret_cast<NvmlProcessEntry*>(buffer.bytes.data()));
  if (code != 0) return code;
  count = std::min(count, kMostProcesses);
  size_t size = buffer.entry_size(count);
  std::set<uint64_t> seen; // one process has an entry per MIG device
  for (unsigned at = 0; at < count; ++at) {
    NvmlProcessEntry entry = buffer.entry(at, size);
    NvmlProcess process{entry.pid, std::nullopt, graphics};
    if (entry.used != ~0ull) process.bytes = entry.used;
    if (seen.insert(entry.pid).second) to.push_back(process);
  }
  return 0;
}

} // namespace

uint64_t number_of(const NvmlField& field) {
  switch (field.type) {
  case 0:
    return static_cast<uint64_t>(field.value.floating);
  case 1:
    return field.value.u32;
  case 5:
    return static_cast<uint64_t>(std::max(field.value.i32, 0));
  case 6:
    return field.value.u16;
  default:
    return field.value.u64; // unsigned long, unsigned and signed 64 bits
  }
}

NvmlField nvml_field(unsigned id, unsigned scope) {
  NvmlField field{};
  field.field = id;
  field.scope = scope;
  field.code = kNvmlNotSupported;
  return field;
}

void ask_links(NvmlTalk& talk) {
  const NvmlApi& api = talk.api;
  auto ask = [&](const LibraryCall<NvmlDevice, unsigned*>& call, const char* name) {
    unsigned number = 0;
    int code = talk.asker.ask(call, talk.device, &number);
    talk.asker.answer(name, code, number);
  };
  ask(api.nvmlDeviceGetCurrPcieLinkGeneration, "link_generation");
  ask(api.nvmlDeviceGetMaxPcieLinkGeneration, "link_generation_max");
  ask(api.nvmlDeviceGetGpuMaxPcieLinkGeneration, "link_generation_device_max");
  ask(api.nvmlDeviceGetCurrPcieLinkWidth, "link_width");
  ask(api.nvmlDeviceGetMaxPcieLinkWidth, "link_width_max");
  ask(api.nvmlDeviceGetPcieReplayCounter, "replays");
  ask_nvlinks(talk);
  ask_fabric(talk);
}

void ask_processes(NvmlTalk& talk) {
  const NvmlApi& api = talk.api;
  std::vector<NvmlProcess> found;
  int code = add_processes(talk, api.nvmlDeviceGetComputeRunningProcesses_v3,
                           api.nvmlDeviceGetComputeRunningProcesses_v2, false, found);
  if (code == 0)
    code = add_processes(talk, api.nvmlDeviceGetGraphicsRunningProcesses_v3,
                         api.nvmlDeviceGetGraphicsRunningProcesses_v2, true, found);
  talk.asker.answer("processes", code, found);
}

} // namespace gpuvet
