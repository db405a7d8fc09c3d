// Kernels on the CPU for the fake libcuda (device.hpp): those of core.cu as they are, matrix
// products by plain loops.
#include "cuda_products.hpp"
#include "device.hpp"
#include "gpu/kernels/core.cu"
#include "gpu/testing/host_kernels.hpp"

#include <algorithm>
#include <cstring>

namespace {

using gpuvet::CudaStreamHandle;

struct Kernel {
  std::vector<size_t> sizes; // of its arguments, bytes
  std::function<void(Dim3 grid, Dim3 block, void** arguments)> run;
  std::function<double(void** arguments, int gpu)> seconds; // besides the launch; empty: none
};

template <class... P> Kernel kernel(void (*function)(P...)) {
  Kernel made;
  made.sizes = {sizeof(P)...};
  made.run = [function](Dim3 grid, Dim3 block, void** arguments) {
    gpuvet::launch_on_host(function, grid, block, arguments);
  };
  return made;
}

double number(void** arguments, size_t at) {
  unsigned long long value = 0;
  std::memcpy(&value, arguments[at], sizeof(value));
  return static_cast<double>(value);
}

// Moves `unit` bytes of memory for each of argument `at`.
template <class... P> Kernel moves(void (*function)(P...), size_t at, double unit) {
  Kernel made = kernel(function);
  made.seconds = [at, unit](void** arguments, int gpu) {
    return number(arguments, at) * unit / (fake::rate("memory", gpu, 4000) * 1e9);
  };
  return made;
}

// Takes `ns` for each of argument `at`.
template <class... P> Kernel takes(void (*function)(P...), size_t at, double ns) {
  Kernel made = kernel(function);
  made.seconds = [at, ns](void** arguments, int) { return number(arguments, at) * ns * 1e-9; };
  return made;
}

// Its loop has ended where it ends long before a GPU's many rounds are over.
Kernel clock_kernel() {
  Kernel made = takes(gv_clock, 0, 2);
  made.run = [](Dim3 grid, Dim3 block, void** arguments) {
    unsigned long long rounds = 0;
    std::memcpy(&rounds, arguments[0], sizeof(rounds));
    rounds = std::min(rounds, 100ull);
    void* fewer[] = {&rounds, arguments[1]};
    gpuvet::launch_on_host(gv_clock, grid, block, fewer);
  };
  return made;
}

// Waits as cuStreamWaitValue32 does: see run_kernel.
Kernel gate() {
  Kernel made = kernel(gv_gate);
  made.run = [](Dim3, Dim3, void**) {};
  return made;
}

Kernel product(const char* name, bool maps) {
  Kernel made;
  made.sizes = fake::product_sizes(maps);
  made.run = [=](Dim3, Dim3, void** arguments) {
    fake::run_product(arguments, maps, fake::told("corrupt", name, fake::current_device()));
  };
  made.seconds = [=](void** arguments, int gpu) {
    return fake::product_flop(arguments, maps) / (fake::rate("tflops", gpu, 700) * 1e12);
  };
  return made;
}

Kernel pipe() {
  Kernel made;
  made.sizes = {8, sizeof(void*)};
  made.run = [](Dim3, Dim3, void** arguments) {
    fake::run_pipe(arguments, fake::rate("sm_mhz", fake::current_device(), 1980));
  };
  made.seconds = [](void** arguments, int) { return number(arguments, 0) * 1e-8; };
  return made;
}

const std::map<std::string, Kernel>& kernels() {
  static const std::map<std::string, Kernel> all = {
      {"gv_null", kernel(gv_null)},
      {"gv_null8", kernel(gv_null8)},
      {"gv_mark", kernel(gv_mark)},
      {"gv_fill", moves(gv_fill, 1, 8)},
      {"gv_check", moves(gv_check, 1, 8)},
      {"gv_check_then_flip", moves(gv_check_then_flip, 1, 16)},
      {"gv_pattern", moves(gv_pattern, 1, 8)},
      {"gv_check_pattern", moves(gv_check_pattern, 1, 8)},
      {"gv_modulo", moves(gv_modulo, 1, 8)},
      {"gv_check_modulo", moves(gv_check_modulo, 1, 8)},
      {"gv_read", moves(gv_read, 1, 16)},
      {"gv_write", moves(gv_write, 1, 16)},
      {"gv_copy", moves(gv_copy, 2, 32)},
      {"gv_triad", moves(gv_triad, 3, 48)},
      {"gv_chase", takes(gv_chase, 1, 300)},
      {"gv_gate", gate()},
      {"gv_clock", clock_kernel()},
      {"gv_step", moves(gv_step, 1, 8)},
      {"gv_atomic_add", kernel(gv_atomic_add)},
      {"gv_flip", kernel(gv_flip)},
      {"gv_operands", moves(gv_operands, 1, 2)},
      {"gv_tile_hash", kernel(gv_tile_hash)},
      {"gv_golden_tiles", kernel(gv_golden_tiles)},
      {"gv_compare_hashes", kernel(gv_compare_hashes)},
      {"gv_gemm", product("gv_gemm", false)},
      {"gv_gemm_tma", product("gv_gemm_tma", true)},
      {"gv_gemm_tma2", product("gv_gemm_tma2", true)},
      {"gv_pipe", pipe()},
  };
  return all;
}

// --- time inside a kernel: what it takes lies between its first and its last look at a clock -----

thread_local double kernel_begin_ns = 0, kernel_takes_ns = 0, cycles_per_ns = 1;
thread_local unsigned ns_looks = 0, cycle_looks = 0;

unsigned long long counted_ns() {
  return static_cast<unsigned long long>(kernel_begin_ns + ns_looks++ * kernel_takes_ns);
}

long long counted_cycles() {
  return static_cast<long long>((kernel_begin_ns + cycle_looks++ * kernel_takes_ns) *
                                cycles_per_ns);
}

// Whether the kernel's first argument points into another GPU's memory.
bool writes_elsewhere(void** arguments, const Kernel& kernel, int gpu) {
  if (kernel.sizes.empty() || kernel.sizes[0] != sizeof(void*)) return false;
  uintptr_t address = 0;
  std::memcpy(&address, arguments[0], sizeof(address));
  const fake::Block* block = fake::block_of(address, 1);
  return block && !block->pinned && block->device != gpu;
}

} // namespace

namespace fake {

bool has_kernel(const std::string& name) {
  return kernels().contains(name);
}

std::vector<std::vector<unsigned char>> keep_arguments(const std::string& name, void** arguments) {
  std::vector<std::vector<unsigned char>> kept;
  for (size_t size : kernels().at(name).sizes) {
    const auto* from = static_cast<const unsigned char*>(arguments[kept.size()]);
    kept.emplace_back(from, from + size);
  }
  return kept;
}

void run_kernel(const std::string& name, CudaStreamHandle& stream, const unsigned grid[3],
                const unsigned block[3], void** arguments) {
  const Kernel& kernel = kernels().at(name);
  const int gpu = stream.device;
  const bool elsewhere = writes_elsewhere(arguments, kernel, gpu);
  double seconds = kernel.seconds ? kernel.seconds(arguments, gpu) : 0;
  if (elsewhere) seconds *= rate("memory", gpu, 4000) / rate("peer", gpu, 390);
  kernel_begin_ns = stream.now_ns;
  kernel_takes_ns = seconds * 1e9;
  cycles_per_ns = rate("sm_mhz", gpu, 1980) / 1000;
  ns_looks = cycle_looks = 0;
  gpuvet::host_ns = counted_ns;
  gpuvet::host_cycles = counted_cycles;
  gpuvet::host_multiprocessors = 132;
  if (!(elsewhere && told("corrupt", "peer-write", gpu)))
    kernel.run({grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, arguments);
  if (name == "gv_gate") {
    const volatile unsigned* flag = nullptr;
    std::memcpy(static_cast<void*>(&flag), arguments[0], sizeof(flag));
    stream.waits[flag] = 1;
    return;
  }
  const bool is_product = name.starts_with("gv_gemm");
  if (!is_product && !kernel.sizes.empty() && kernel.sizes[0] == sizeof(void*)) {
    void* first = nullptr;
    std::memcpy(static_cast<void*>(&first), arguments[0], sizeof(first));
    if (const Block* at = block_of(reinterpret_cast<uintptr_t>(first), 1))
      spoil(name, gpu, first, std::min<size_t>(at->bytes, 64));
  }
  stream.now_ns += seconds * 1e9 + rate("launch_us", gpu, 2.2) * 1e3;
}

} // namespace fake
