#include "gpu/ask.hpp"
#include "gpu/nvml_device.hpp"
#include "gpu/talk.hpp"
#include "gpu/text.hpp"
#include "model/machine/gpu_fields.hpp"

#include <array>
namespace gpuvet {

const LibraryPlaces kNvmlPlaces = {"libnvidia-ml.so.1", driver_folders()};

namespace {

void ask_version(Asker& asker, const LibraryCall<char*, unsigned>& call, const char* field) {
  std::array<char, 257> text{};
  int code = asker.ask(call, text.data(), unsigned{256});
  asker.answer(field, code, bounded_text(text.data(), 256));
}

void ask_cuda_version(const NvmlApi& api, Asker& asker) {
  int version = 0;
  const auto& newer = api.nvmlSystemGetCudaDriverVersion_v2;
  int code = asker.ask(newer.function ? newer : api.nvmlSystemGetCudaDriverVersion, &version);
  asker.answer("cuda_version", code, version);
}

void ask_confidential(const NvmlApi& api, Asker& asker) {
  NvmlConfidential state{};
  int code = asker.ask(api.nvmlSystemGetConfComputeState, &state);
  asker.answer("confidential_computing", code, state.feature != 0);
  if (code != 0 || state.feature == 0) return;
  unsigned ready = 0;
  code = asker.ask(api.nvmlSystemGetConfComputeGpusReadyState, &ready);
  asker.answer("confidential_ready", code, ready != 0);
}

void ask_gpu(NvmlTalk& talk, int gpu) {
  talk.asker.turn_to(gpu);
  int code = talk.asker.ask(talk.api.nvmlDeviceGetHandleByIndex_v2, static_cast<unsigned>(gpu),
                            &talk.device);
  if (code == 0) {
    for (auto* ask : {ask_identity, ask_memory_and_health, ask_clocks_and_power, ask_modes,
                      ask_links, ask_processes})
      ask(talk);
    code = talk.asker.verdict();
  }
  talk.asker.answer("error", code);
  talk.asker.answer("error_text", code != 0 ? nvml_error_text(talk.api, code) : "");
  talk.asker.tell().done(gpu);
}

void ask_nvml(Teller& tell, const std::set<int>& skip, const AskOptions& options) {
  Asker asker(tell, {kNvmlFunctionNotFound, kNvmlGpuIsLost, kNvmlResetRequired});
  tell.about_to_call(kNoGpu, "dlopen");
  auto library = open_library(kNvmlPlaces, options.library);
  if (!library) {
    asker.answer("problem", library.error().what);
    return tell.stop("no_library");
  }
  asker.answer("library", library->file);
  asker.answer("loader_problem", library->loader_problem);
  const NvmlApi api = find_nvml(*library);
  ask_version(asker, api.nvmlSystemGetNVMLVersion, "library_version");
  int code = asker.ask(api.nvmlInit_v2);
  unsigned count = 0;
  if (code == 0) {
    ask_version(asker, api.nvmlSystemGetDriverVersion, "driver_version");
    ask_cuda_version(api, asker);
    code = asker.ask(api.nvmlDeviceGetCount_v2, &count);
  }
  if (code != 0) {
    asker.answer("error", code);
    asker.answer("error_text", nvml_error_text(api, code));
    return tell.stop("failed");
  }
  asker.answer("count", count);
  tell.gpus(count);
  NvmlTalk talk{api, asker, nullptr, options.read_roms};
  for (int gpu = 0; gpu < kMostGpus && static_cast<unsigned>(gpu) < count; ++gpu)
    if (!skip.contains(gpu)) ask_gpu(talk, gpu);
  asker.turn_to(kNoGpu);
  ask_confidential(api, asker);
}

struct NothingAsked {
  template <class T> void operator()(const char*, NvmlValue<T>& value) { value.error = kNotAsked; }
  template <class T> void operator()(const char*, T&) {}
};

NvmlGpu unasked_gpu(size_t index) {
  NvmlGpu gpu;
  NothingAsked nothing;
  fields(nothing, gpu);
  gpu.index = static_cast<uint32_t>(index);
  gpu.error = kNotAsked;
  return gpu;
}

void add_gpus(NvmlAnswers& answers, size_t number) {
  while (answers.gpus.size() < number)
    answers.gpus.push_back(unasked_gpu(answers.gpus.size()));
}

void take(NvmlAnswers& answers, int gpu, std::string_view field, std::string_view value) {
  TakeValue take{field, value};
  if (gpu == kNoGpu) {
    fields(take, answers.asked);
    fields(take, answers);
    return;
  }
  add_gpus(answers, static_cast<size_t>(gpu) + 1);
  fields(take, answers.gpus[static_cast<size_t>(gpu)]);
}

} // namespace

NvmlQuestion start_nvml(const AskOptions& options) {
  auto work = [options](Teller& tell, const std::set<int>& skip) { ask_nvml(tell, skip, options); };
  return {std::make_shared<Talk>(work, options.deadline_s)};
}

NvmlAnswers collect(const NvmlQuestion& question, std::vector<CallTime>* times) {
  NvmlAnswers answers;
  TalkEnd end = question.talk->finish([&](int gpu, std::string_view field, std::string_view value) {
    take(answers, gpu, field, value);
  });
  add_gpus(answers, static_cast<size_t>(end.gpus));
  for (NvmlGpu& gpu : answers.gpus)
    if (gpu.error == kNotAsked) gpu.error_text = why_unanswered(end, static_cast<int>(gpu.index));
  describe(end, answers.asked);
  if (times) *times = end.times;
  return answers;
}

} // namespace gpuvet
