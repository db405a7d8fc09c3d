#include "gpu/ask.hpp"
#include "gpu/asker.hpp"
#include "gpu/cuda_api.hpp"
#include "gpu/talk.hpp"
#include "gpu/text.hpp"
#include "model/machine/gpu_fields.hpp"

#include <array>
#include <cstring>

namespace gpuvet {

const LibraryPlaces kCudaPlaces = {"libcuda.so.1", driver_folders()};

namespace {

using Text = std::array<char, 257>; // one more than is told to the library, for the end

void ask_attribute(const CudaApi& api, Asker& asker, int device, int attribute, const char* field) {
  int value = 0;
  int code = asker.ask(api.cuDeviceGetAttribute, &value, attribute, device);
  asker.answer(field, code, value != 0);
}

// With MIG the second version gives the UUID of the part, the first that of the whole GPU.
void ask_uuid(const CudaApi& api, Asker& asker, int device) {
  CudaUuid whole{}, part{};
  int code = asker.ask(api.cuDeviceGetUuid, &whole, device);
  bool has_part = asker.ask(api.cuDeviceGetUuid_v2, &part, device) == 0;
  bool is_part = has_part && std::memcmp(&whole, &part, sizeof(whole)) != 0;
  asker.answer("uuid", has_part ? 0 : code,
               uuid_text(is_part ? "MIG" : "GPU", is_part ? part.bytes : whole.bytes));
}

void ask_context(const CudaApi& api, Asker& asker, int device) {
  CudaContext context = nullptr;
  int code = asker.ask(api.cuDevicePrimaryCtxRetain, &context, device);
  asker.answer("context_error", code);
  if (code == 0) asker.ask(api.cuDevicePrimaryCtxRelease_v2, device);
}

void ask_facts(const CudaApi& api, Asker& asker, int device) {
  Text address{}, name{};
  int code = asker.ask(api.cuDeviceGetPCIBusId, address.data(), 256, device);
  asker.answer("pci_address", code, sysfs_address(bounded_text(address.data(), 256)));
  code = asker.ask(api.cuDeviceGetName, name.data(), 256, device);
  asker.answer("name", code, bounded_text(name.data(), 256));
  ask_uuid(api, asker, device);
  int major = 0, minor = 0;
  code = asker.ask(api.cuDeviceGetAttribute, &major, int{kCudaCapabilityMajor}, device);
  if (code == 0)
    code = asker.ask(api.cuDeviceGetAttribute, &minor, int{kCudaCapabilityMinor}, device);
  asker.answer("capability", code, major * 10 + minor);
  size_t bytes = 0;
  code = asker.ask(api.cuDeviceTotalMem_v2, &bytes, device);
  asker.answer("memory_bytes", code, bytes);
  ask_attribute(api, asker, device, kCudaManagedMemory, "managed_memory");
  ask_attribute(api, asker, device, kCudaPageableMemory, "pageable_memory");
}

void ask_device(const CudaApi& api, Asker& asker, int ordinal, bool contexts) {
  asker.turn_to(ordinal);
  int device = 0;
  int code = asker.ask(api.cuDeviceGet, &device, ordinal);
  if (code == 0) {
    ask_facts(api, asker, device);
    if (contexts) ask_context(api, asker, device);
  }
  asker.answer("error", code);
  asker.answer("error_text", code != 0 ? cuda_error_name(api, code) : "");
  asker.tell().done(ordinal);
}

void ask_cuda(Teller& tell, const std::set<int>& skip, const AskOptions& options) {
  constexpr int kNever = -1;
  Asker asker(tell, {kCudaNotFound, kNever, kNever});
  tell.about_to_call(kNoGpu, "dlopen");
  auto library = open_library(kCudaPlaces, options.library);
  if (!library) {
    asker.answer("problem", library.error().what);
    return tell.stop("no_library");
  }
  asker.answer("library", library->file);
  asker.answer("loader_problem", library->loader_problem);
  const CudaApi api = find_cuda(*library);
  int version = 0;
  int code = asker.ask(api.cuDriverGetVersion, &version);
  asker.answer("driver_api", code, version);
  Moment began = std::chrono::steady_clock::now();
  code = asker.ask(api.cuInit, 0u);
  asker.answer("init_seconds", seconds_since(began));
  if (code != 0) {
    asker.answer("error", code);
    asker.answer("error_text", cuda_error_name(api, code));
    return tell.stop("failed");
  }
  int count = 0;
  code = asker.ask(api.cuDeviceGetCount, &count);
  if (code != 0) return asker.answer("count_error", code);
  tell.gpus(count > 0 ? static_cast<uint64_t>(count) : 0);
  for (int ordinal = 0; ordinal < count && ordinal < kMostGpus; ++ordinal)
    if (!skip.contains(ordinal)) ask_device(api, asker, ordinal, options.contexts);
}

void add_devices(CudaAnswers& answers, size_t number) {
  while (answers.devices.size() < number) {
    CudaDevice device;
    device.ordinal = static_cast<int>(answers.devices.size());
    device.error = kNotAsked;
    answers.devices.push_back(device);
  }
}

void take(CudaAnswers& answers, int gpu, std::string_view field, std::string_view value) {
  TakeValue take{field, value};
  if (gpu == kNoGpu) {
    fields(take, answers.asked);
    fields(take, answers);
    return;
  }
  add_devices(answers, static_cast<size_t>(gpu) + 1);
  fields(take, answers.devices[static_cast<size_t>(gpu)]);
}

} // namespace

CudaQuestion start_cuda(const AskOptions& options) {
  auto work = [options](Teller& tell, const std::set<int>& skip) { ask_cuda(tell, skip, options); };
  return {std::make_shared<Talk>(work, options.deadline_s)};
}

CudaAnswers collect(const CudaQuestion& question, std::vector<CallTime>* times) {
  CudaAnswers answers;
  TalkEnd end = question.talk->finish([&](int gpu, std::string_view field, std::string_view value) {
    take(answers, gpu, field, value);
  });
  add_devices(answers, static_cast<size_t>(end.gpus));
  for (CudaDevice& device : answers.devices)
    if (device.error == kNotAsked) device.error_text = why_unanswered(end, device.ordinal);
  describe(end, answers.asked);
  if (end.call == "cuInit") answers.init_seconds = end.seconds;
  if (times) *times = end.times;
  return answers;
}

} // namespace gpuvet
