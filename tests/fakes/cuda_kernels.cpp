// Kernels on the CPU for the fake libcuda (device.hpp): those of core.cu as they are, matrix
// products by plain loops.
#include "device.hpp"
#include "gpu/kernels/core.cu"
#include "host_kernels.hpp"

#include <cstring>
#include <tuple>
#include <utility>

namespace {

using gpuvet::CudaStreamHandle;
using gpuvet::TileHash;
using Arguments = void* const*;

struct Kernel {
  std::vector<size_t> sizes; // of its arguments, bytes
  std::function<void(Arguments)> thread;
  std::function<double(Arguments, int gpu)> seconds; // that it takes
  bool spoils = true;                                // the first argument is what it writes
};

template <class... P> Kernel kernel(void (*function)(P...)) {
  Kernel made;
  made.sizes = {sizeof(P)...};
  made.thread = [function](Arguments arguments) {
    [&]<size_t... at>(std::index_sequence<at...>) {
      function(*static_cast<P*>(arguments[at])...);
    }
    (std::index_sequence_for<P...>());
  };
  return made;
}

unsigned long long number(Arguments arguments, size_t at) {
  unsigned long long value = 0;
  std::memcpy(&value, arguments[at], sizeof(value));
  return value;
}

// `unit` bytes for each of argument `at`.
template <class... P> Kernel moves(void (*function)(P...), size_t at, double unit) {
  Kernel made = kernel(function);
  made.seconds = [at, unit](Arguments arguments, int gpu) {
    return static_cast<double>(number(arguments, at)) * unit /
           (fake::rate("memory", gpu, 4000) * 1e9);
  };
  return made;
}

template <class... P> Kernel takes(void (*function)(P...), size_t at, double ns) {
  Kernel made = kernel(function);
  made.seconds = [at, ns](Arguments arguments, int) {
    return static_cast<double>(number(arguments, at)) * ns * 1e-9;
  };
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
      {"gv_gate", kernel(gv_gate)},
      {"gv_clock", takes(gv_clock, 0, 2)},
      {"gv_step", moves(gv_step, 1, 8)},
      {"gv_atomic_add", kernel(gv_atomic_add)},
      {"gv_flip", kernel(gv_flip)},
      {"gv_operands", moves(gv_operands, 1, 2)},
      {"gv_tile_hash", kernel(gv_tile_hash)},
      {"gv_golden_tiles", kernel(gv_golden_tiles)},
      {"gv_compare_hashes", kernel(gv_compare_hashes)},
  };
  return all;
}

} // namespace
