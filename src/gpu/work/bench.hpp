// One GPU as a test sees it. A test runs in a child process: it may hang, crash or break the
// context, and that becomes its result. It tells what it does before each call and what it measured
// as soon as it knows.
//
// Inside a test a failed call ends the test: `call` throws StepStopped, which the child turns into
// the result. Nothing outside src/gpu/work throws or catches it.
#pragma once

#include "gpu/cuda_api.hpp"
#include "gpu/work/telling.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

// Which faults `--self-test` plants: the detector must find each.
enum class Fault : uint8_t { none, wrong_bit, slow_link, hang };

struct LibraryFiles { // of the installation under test, by absolute path; empty: not found
  std::string cublaslt, cudnn, nccl;
};

struct StepOptions {
  double seconds = 0;   // how long the test may measure
  uint64_t seed = 1;    // of all data; printed, so a run can be repeated
  int peer = -1;        // CUDA ordinal of the second GPU of a pair
  std::vector<int> all; // CUDA ordinals, for tests of all GPUs at once
  LibraryFiles libraries;
  Fault fault = Fault::none;
};

// Thrown by a test that cannot go on.
struct StepStopped {
  bool unsupported = false; // else it failed
  std::string reason;
  std::string call, error; // "cuMemAlloc_v2", "CUDA_ERROR_OUT_OF_MEMORY"; empty: no call failed
  int code = 0;
};

// Throws StepStopped: "cuInit gave CUDA_ERROR_NO_DEVICE (100)", and what that means where we know.
[[noreturn]] void stop_at(const CudaApi& cuda, const char* call, int code);

class Bench {
 public:
  // Makes the primary context of the device current. Throws StepStopped.
  Bench(const CudaApi& api, int ordinal_, StepTeller& teller);
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench();

  // Calls and requires success.
  template <class... Parameters, class... Arguments>
  void call(const LibraryCall<Parameters...>& function, Arguments... arguments) {
    if (int code = ask(function, arguments...)) stop_at(function.name, code);
  }
  // Calls and gives the code; kCudaNotFound when this driver has no such function.
  template <class... Parameters, class... Arguments>
  int ask(const LibraryCall<Parameters...>& function, Arguments... arguments) {
    if (!function.function) return kCudaNotFound;
    tell.about_to_call(function.name);
    return function.function(arguments...);
  }
  // The same without a word to the parent: for calls that are timed or made thousands of times.
  template <class... Parameters, class... Arguments>
  void quietly(const LibraryCall<Parameters...>& function, Arguments... arguments) {
    int code = function.function ? function.function(arguments...) : int{kCudaNotFound};
    if (code != 0) stop_at(function.name, code);
  }

  // A kernel of src/gpu/kernels/core.cu, or of a blob that is named for a GPU family. Loads the
  // module at first use; throws StepStopped with the log of the driver's compiler. The kernel is in
  // the GPU when this returns, so that no launch behind a gate has to load it.
  CudaFunction kernel(std::string_view blob, const char* name);
  CudaModule module(std::string_view blob);
  // "cubin for compute capability 9.0"; of a blob that was loaded.
  std::string image_of(std::string_view blob) const;

  // Loads PTX or a cubin that is not among ours. The log is what the driver's compiler said.
  int load(const char* image, CudaModule& module, std::string& log);

  int attribute(int number); // of the device; throws StepStopped

  [[noreturn]] void stop_at(const char* call, int code) { gpuvet::stop_at(cuda, call, code); }
  [[noreturn]] static void unsupported(std::string why) {
    throw StepStopped{true, std::move(why), {}, {}, 0};
  }
  [[noreturn]] static void wrong(std::string what) {
    throw StepStopped{false, std::move(what), {}, {}, 0};
  }

  const CudaApi& cuda;
  const int ordinal;
  int device = 0;
  uint32_t sm = 0; // compute capability x 10
  CudaContext context = nullptr;
  double context_s = 0; // that the making of it took
  StepTeller& tell;

 private:
  struct Loaded {
    std::string blob, image;
    CudaModule module = nullptr;
  };
  void retain_context();
  std::vector<Loaded> modules_;
};

// One test: a row of facts/verify.toml has the same id.
struct Step {
  const char* id;
  double deadline_s; // beyond StepOptions::seconds; then it is a hang
  void (*run)(Bench& bench, const StepOptions& options);
};

// In the order in which they run. Each list stands beside its tests in gpu/work/LAYER/.
const std::vector<Step>& device_steps();    // on each GPU
const std::vector<Step>& bandwidth_steps(); // on each GPU
const std::vector<Step>& pair_steps();      // on each ordered pair, with options.peer
const std::vector<Step>& machine_steps();   // once, with options.all
const std::vector<Step>& stress_steps();    // on each GPU
const std::vector<Step>& library_steps();   // on each GPU, with options.libraries
const std::vector<Step>& self_test_steps(); // before all else, with options.fault

} // namespace gpuvet
