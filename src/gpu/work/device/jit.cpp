#include "gpu/kernels/mix.hpp"
#include "gpu/work/device/device_steps.hpp"
#include "gpu/work/images.hpp"
#include "gpu/work/pieces.hpp"

#include <fmt/core.h>

#include <chrono>
#include <cstdlib>

namespace gpuvet {
namespace {

constexpr const char* kIsa = "6.0"; // all drivers that gpuvet can use know it

std::string why(int code) {
  if (code == kCudaNoJitCompiler)
    return "; the driver's libnvidia-ptxjitcompiler.so.1 is not installed, or not that of the "
           "driver: programs without machine code for this GPU do not start";
  if (code != kCudaJitDisabled) return {};
  for (const char* name : {"CUDA_DISABLE_PTX_JIT", "CUDA_DISABLE_JIT"})
    if (const char* value = std::getenv(name)) return fmt::format("; {}={} is set", name, value);
  return "; neither CUDA_DISABLE_PTX_JIT nor CUDA_DISABLE_JIT is set";
}

// New each time, so that no cache of compiled code answers.
uint64_t new_number(const StepOptions& options) {
  auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return mix64(options.seed ^ mix64(static_cast<uint64_t>(now)));
}

} // namespace

std::string jit_text(uint64_t number) {
  std::string text = fmt::format(".version {}\n.target sm_52\n.address_size 64\n", kIsa);
  text += fmt::format(".global .align 8 .u64 gv_number = {};\n", number);
  text += R"(
.visible .entry gv_flip(.param .u64 gv_flip_word, .param .u32 gv_flip_mask)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<3>;
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra done;
  ld.param.u64 %rd1, [gv_flip_word];
  cvta.to.global.u64 %rd2, %rd1;
  ld.param.u32 %r2, [gv_flip_mask];
  ld.global.u32 %r3, [%rd2];
  xor.b32 %r4, %r3, %r2;
  st.global.u32 [%rd2], %r4;
done:
  ret;
}
)";
  return text;
}

void device_jit(Bench& bench, const StepOptions& options) {
  bench.tell.word("ptx_isa", kIsa);
  bench.tell.word("pattern", "a word, flipped by a mask");
  const uint64_t number = new_number(options);
  const std::string text = jit_text(number);
  CudaModule module = nullptr;
  CudaFunction flip = nullptr;
  int registers = 0;
  std::string log;
  double began = bench.tell.seconds();
  if (int code = bench.load(text.c_str(), module, log)) {
    std::string error = cuda_error_name(bench.cuda, code);
    throw StepStopped{code == kCudaJitDisabled,
                      why_not_loaded("of a new PTX text", bench.sm, error, code, log) + why(code),
                      bench.cuda.cuModuleLoadDataEx.name, error, code};
  }
  bench.call(bench.cuda.cuModuleGetFunction, &flip, module, "gv_flip");
  bench.call(bench.cuda.cuFuncGetAttribute, &registers, int{kCudaFunctionRegisters}, flip);
  double took = bench.tell.seconds() - began; // a driver that loads lazily compiles only here

  DeviceMemory word(bench, sizeof(uint32_t));
  Stream stream(bench);
  const auto before = static_cast<uint32_t>(number), mask = static_cast<uint32_t>(number >> 32);
  uint32_t after = 0;
  bench.call(bench.cuda.cuMemsetD32Async, word.at(), before, size_t{1}, CudaStream{stream});
  launch(bench, flip, 1, 32, 0, stream, word.at(), mask);
  bench.call(bench.cuda.cuMemcpyDtoHAsync_v2, static_cast<void*>(&after), word.at(), sizeof(after),
             CudaStream{stream});
  bench.call(bench.cuda.cuStreamSynchronize, CudaStream{stream});
  bench.call(bench.cuda.cuModuleUnload, module);
  if (after != (before ^ mask))
    Bench::wrong(fmt::format("the compiled kernel made {:#x} of {:#x}, not {:#x}", after, before,
                             before ^ mask));
  bench.tell.reading("jit_ms", "ms", took * 1e3);
}

} // namespace gpuvet
