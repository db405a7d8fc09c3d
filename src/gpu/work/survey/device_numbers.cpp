#include "gpu/work/survey/device_numbers.hpp"

#include "gpu/asker.hpp"
#include "gpu/cuda_api.hpp"
#include "gpu/talk.hpp"
#include "gpu/work/attributes.hpp"

namespace gpuvet {
namespace {

void ask_device(const CudaApi& api, Asker& asker, int ordinal) {
  asker.turn_to(ordinal);
  int device = 0;
  if (asker.ask(api.cuDeviceGet, &device, ordinal) == 0)
    for (const CudaAttributeName& attribute : kCudaAttributes) {
      int value = 0;
      if (asker.ask(api.cuDeviceGetAttribute, &value, attribute.number, device) == 0)
        asker.answer(attribute.name, value);
    }
  asker.tell().done(ordinal);
}

void ask_numbers(Teller& tell, const std::set<int>& skip, const std::string& file) {
  constexpr int kNever = -1;
  Asker asker(tell, {kCudaNotFound, kNever, kNever});
  tell.about_to_call(kNoGpu, "dlopen");
  auto library = open_library(kCudaPlaces, file);
  if (!library) return tell.stop("no_library"); // gpu/ask.hpp tells why
  const CudaApi api = find_cuda(*library);
  int count = 0;
  if (asker.ask(api.cuInit, 0u) != 0) return tell.stop("failed");
  if (asker.ask(api.cuDeviceGetCount, &count) != 0) return tell.stop("failed");
  tell.gpus(count > 0 ? static_cast<uint64_t>(count) : 0);
  for (int ordinal = 0; ordinal < count && ordinal < kMostGpus; ++ordinal)
    if (!skip.contains(ordinal)) ask_device(api, asker, ordinal);
}

} // namespace

NumbersQuestion start_device_numbers(const std::string& library, double deadline_s) {
  auto work = [library](Teller& tell, const std::set<int>& skip) {
    ask_numbers(tell, skip, library);
  };
  return {std::make_shared<Talk>(work, deadline_s)};
}

std::map<int, std::map<std::string, double>>
collect_device_numbers(const NumbersQuestion& question) {
  std::map<int, std::map<std::string, double>> all;
  question.talk->finish([&](int gpu, std::string_view field, std::string_view value) {
    double number = 0;
    if (gpu != kNoGpu && value.starts_with('=') && from_text(value.substr(1), number))
      all[gpu][std::string(field)] = number;
  });
  return all;
}

} // namespace gpuvet
