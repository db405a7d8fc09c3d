#include "gpu/work/bench.hpp"

#include "gpu/kernels/kernels.hpp"
#include "gpu/text.hpp"
#include "gpu/work/images.hpp"

#include <fmt/core.h>

#include <array>

namespace gpuvet {
namespace {

struct Meaning {
  int code;
  const char* text;
};

constexpr Meaning kMeanings[] = {
    {kCudaOutOfMemory, "something else uses the GPU's memory, or the test asked for too much"},
    {kCudaDeviceUnavailable, "another process has the GPU for itself (exclusive compute mode)"},
    {100, "the driver offers no GPU to this process"},
    {214, "an error in the GPU's memory that ECC could not correct"},
    {220, "an NVLink error"},
    {700, "a kernel reached an address that is not its own"},
    {702, "a kernel was ended because it took too long"},
    {715, "a kernel has an instruction that this GPU does not know"},
    {719, "a kernel ended abnormally"},
    {802, "the fabric manager has not yet set up the NVLink switches"},
    {803, "the library is not that of the driver in the kernel"},
};

const char* compute_mode_name(int mode) {
  return mode == 0 ? "default" : mode == 2 ? "prohibited" : mode == 3 ? "exclusive process" : "?";
}

} // namespace

void stop_at(const CudaApi& cuda, const char* call, int code) {
  std::string error = cuda_error_name(cuda, code);
  std::string reason = fmt::format("{} gave {} ({})", call, error, code);
  for (const Meaning& row : kMeanings)
    if (row.code == code) reason += fmt::format(": {}", row.text);
  if (code == kCudaNotFound) reason += ": this driver may be too old to have the function";
  throw StepStopped{false, reason, call, error, code};
}

Bench::Bench(const CudaApi& api, int ordinal_, StepTeller& teller)
    : cuda(api), ordinal(ordinal_), tell(teller) {
  call(cuda.cuDeviceGet, &device, ordinal);
  sm =
      static_cast<uint32_t>(attribute(kCudaCapabilityMajor) * 10 + attribute(kCudaCapabilityMinor));
  retain_context();
  if (int code = ask(cuda.cuCtxSetCurrent, context)) {
    cuda.cuDevicePrimaryCtxRelease_v2.function(device); // no destructor runs for half an object
    stop_at(cuda.cuCtxSetCurrent.name, code);
  }
}

Bench::~Bench() {
  ask(cuda.cuDevicePrimaryCtxRelease_v2, device);
}

// In the compute modes "prohibited" and "exclusive process" this is the call that is refused.
void Bench::retain_context() {
  double began = tell.seconds();
  int code = ask(cuda.cuDevicePrimaryCtxRetain, &context, device);
  context_s = tell.seconds() - began;
  if (code == 0) return;
  int mode = attribute(kCudaComputeMode);
  if (mode != 0) tell.word("compute_mode", compute_mode_name(mode));
  stop_at(cuda.cuDevicePrimaryCtxRetain.name, code);
}

int Bench::attribute(int number) {
  int value = 0;
  call(cuda.cuDeviceGetAttribute, &value, number, device);
  return value;
}

int Bench::load(const char* image, CudaModule& module, std::string& log) {
  std::array<char, 8192> said{}, errors{};
  constexpr uintptr_t kRoom = 8191; // bytes: one less, for the end
  // The interface wants a number in a pointer. NOLINTNEXTLINE(performance-no-int-to-ptr)
  auto bytes = reinterpret_cast<void*>(kRoom);
  std::array<int, 4> options = {kCudaJitInfoLog, kCudaJitInfoLogBytes, kCudaJitErrorLog,
                                kCudaJitErrorLogBytes};
  std::array<void*, 4> values = {said.data(), bytes, errors.data(), bytes};
  int code = ask(cuda.cuModuleLoadDataEx, &module, static_cast<const void*>(image),
                 unsigned{options.size()}, options.data(), values.data());
  log = bounded_text(errors.data(), errors.size());
  if (log.empty()) log = bounded_text(said.data(), said.size());
  return code;
}

// The exact machine code first; PTX where the driver refuses it, and where there is none.
CudaModule Bench::module(std::string_view blob) {
  for (const Loaded& loaded : modules_)
    if (loaded.blob == blob) return loaded.module;
  std::vector<KernelImage> images = images_for(kernel_images(), blob, sm);
  if (images.empty()) unsupported(why_no_image(kernel_images(), blob, sm));
  int code = 0;
  std::string log;
  for (const KernelImage& image : images) {
    CudaModule module = nullptr;
    code = load(image.bytes.data(), module, log);
    if (code == 0) {
      modules_.push_back({std::string(blob), describe(image), module});
      return module;
    }
    bool other_may_do = code == kCudaInvalidImage || code == kCudaNoBinaryForGpu ||
                        code == kCudaUnsupportedPtxVersion || code == kCudaNoJitCompiler ||
                        code == kCudaJitDisabled;
    if (!other_may_do) break;
  }
  std::string error = cuda_error_name(cuda, code);
  throw StepStopped{false, why_not_loaded(blob, sm, error, code, log), cuda.cuModuleLoadDataEx.name,
                    error, code};
}

CudaFunction Bench::kernel(std::string_view blob, const char* name) {
  CudaModule from = module(blob);
  CudaFunction function = nullptr;
  if (int code = ask(cuda.cuModuleGetFunction, &function, from, name)) {
    std::string error = cuda_error_name(cuda, code);
    throw StepStopped{
        false,
        fmt::format("cuModuleGetFunction gave {} for kernel {} of {}", error, name, image_of(blob)),
        cuda.cuModuleGetFunction.name, error, code};
  }
  int registers = 0; // asking for it loads a kernel that is loaded lazily
  call(cuda.cuFuncGetAttribute, &registers, int{kCudaFunctionRegisters}, function);
  return function;
}

std::string Bench::image_of(std::string_view blob) const {
  for (const Loaded& loaded : modules_)
    if (loaded.blob == blob) return loaded.image;
  return {};
}

} // namespace gpuvet
