#include "gpu/work/libraries/cudnn.hpp"

#include "gpu/kernels/mix.hpp"

#include <fmt/core.h>

#include <dlfcn.h>

namespace gpuvet {
namespace {

// In the order of their dependencies. cuDNN opens them by name when it first needs them, and would
// take those of another installation that the loader finds first; what is loaded already stays.
constexpr const char* kParts[] = {"graph",
                                  "ops",
                                  "cnn",
                                  "ext",
                                  "heuristic",
                                  "engines_precompiled",
                                  "engines_runtime_compiled",
                                  "engines_tensor_ir"};

// "/x/libcudnn.so.9" gives "/x/libcudnn_ops.so.9". Missing parts are cuDNN's own matter: versions
// differ in them.
void load_parts(StepTeller& tell, const LibraryFiles& files) {
  if (!files.cublaslt.empty()) {
    tell.about_to_call("dlopen");
    dlopen(files.cublaslt.c_str(), RTLD_LAZY | RTLD_GLOBAL);
  }
  const std::string base = "libcudnn.so";
  const size_t at = files.cudnn.rfind(base);
  if (at == std::string::npos) return;
  for (const char* part : kParts) {
    std::string file = files.cudnn;
    file.replace(at, base.size(), fmt::format("libcudnn_{}.so", part));
    tell.about_to_call("dlopen");
    dlopen(file.c_str(), RTLD_LAZY | RTLD_GLOBAL);
  }
}

OpenedLibrary open_cudnn(Bench& bench, const LibraryFiles& files) {
  load_parts(bench.tell, files);
  return open_for_test(bench.tell, "cuDNN", files.cudnn);
}

} // namespace

std::string describe(const ConvolutionShape& shape) {
  return fmt::format("{} images of {} x {} x {}, {} filters 3 x 3", shape.images, shape.side,
                     shape.side, shape.channels, shape.filters);
}

uint16_t right_output(const ConvolutionShape& shape, uint64_t x_seed, uint64_t w_seed,
                      uint64_t index) {
  const uint32_t bound = exact_bound(shape.inner());
  const uint64_t filter = index % shape.filters, place = index / shape.filters;
  const uint64_t column = place % shape.side, row = place / shape.side % shape.side;
  const uint64_t image = place / shape.side / shape.side;
  int32_t sum = 0;
  for (uint64_t tap = 0; tap < 9; ++tap) {
    const uint64_t y = row + tap / 3, x = column + tap % 3; // one more than the place read
    if (y < 1 || y > shape.side || x < 1 || x > shape.side) continue;
    const uint64_t from = ((image * shape.side + y - 1) * shape.side + x - 1) * shape.channels;
    const uint64_t weights = (filter * 9 + tap) * shape.channels;
    for (uint64_t channel = 0; channel < shape.channels; ++channel)
      sum += int_of_bf16(operand(from + channel, x_seed, bound)) *
             int_of_bf16(operand(weights + channel, w_seed, bound));
  }
  return bf16_of(static_cast<float>(sum));
}

Cudnn::Cudnn(Bench& bench, const LibraryFiles& files, const ConvolutionShape& shape,
             CudaStream stream)
    : library_(open_cudnn(bench, files)) {
#define GPUVET_FIND(name, ...) library_.require(api_.name);
  GPUVET_CUDNN_CALLS(GPUVET_FIND)
#undef GPUVET_FIND
  library_.require("cudnnGetVersion", api_.cudnnGetVersion);
  library_.require("cudnnGetErrorString", api_.cudnnGetErrorString);
  library_.error_text = api_.cudnnGetErrorString;
  const size_t number = api_.cudnnGetVersion(); // 91900; before 9: 8907
  version = number >= 90'000 ? version_text(number, 10'000, 100) : version_text(number, 1000, 100);
  bench.tell.word("version", version);
  const double began = bench.tell.seconds();
  library_.call(api_.cudnnCreate, &handle_);
  load_s = library_.load_s + bench.tell.seconds() - began;
  library_.call(api_.cudnnSetStream, handle_, stream);
  describe_convolution(shape);
  size_t bytes = 0;
  library_.call(api_.cudnnGetConvolutionForwardWorkspaceSize, handle_, x_, w_, convolution_, y_,
                int{kCudnnPrecompGemm}, &bytes);
  if (bytes > 0) workspace_.emplace_back(bench, bytes);
}

// Nothing is given back when the constructor throws: the child process ends then.
Cudnn::~Cudnn() {
  api_.cudnnDestroyTensorDescriptor.function(x_);
  api_.cudnnDestroyTensorDescriptor.function(y_);
  api_.cudnnDestroyFilterDescriptor.function(w_);
  api_.cudnnDestroyConvolutionDescriptor.function(convolution_);
  api_.cudnnDestroy.function(handle_);
}

void Cudnn::describe_convolution(const ConvolutionShape& shape) {
  const auto images = static_cast<int>(shape.images), side = static_cast<int>(shape.side);
  const auto channels = static_cast<int>(shape.channels), filters = static_cast<int>(shape.filters);
  library_.call(api_.cudnnCreateTensorDescriptor, &x_);
  library_.call(api_.cudnnSetTensor4dDescriptor, x_, int{kCudnnNhwc}, int{kCudnnBfloat16}, images,
                channels, side, side);
  library_.call(api_.cudnnCreateTensorDescriptor, &y_);
  library_.call(api_.cudnnSetTensor4dDescriptor, y_, int{kCudnnNhwc}, int{kCudnnBfloat16}, images,
                filters, side, side);
  library_.call(api_.cudnnCreateFilterDescriptor, &w_);
  library_.call(api_.cudnnSetFilter4dDescriptor, w_, int{kCudnnBfloat16}, int{kCudnnNhwc}, filters,
                channels, 3, 3);
  library_.call(api_.cudnnCreateConvolutionDescriptor, &convolution_);
  library_.call(api_.cudnnSetConvolution2dDescriptor, convolution_, 1, 1, 1, 1, 1, 1,
                int{kCudnnCrossCorrelation}, int{kCudnnFloat});
  library_.call(api_.cudnnSetConvolutionMathType, convolution_, int{kCudnnTensorOpMath});
}

// Winograd and FFT transforms round; a product of the unrolled image does not.
void Cudnn::forward(CudaPointer x, CudaPointer w, CudaPointer y) {
  const float one = 1, zero = 0;
  const CudaPointer space = workspace_.empty() ? 0 : workspace_.front().at();
  library_.quietly(api_.cudnnConvolutionForward, handle_, static_cast<const void*>(&one), x_,
                   static_cast<const void*>(address_of(x)), w_,
                   static_cast<const void*>(address_of(w)), convolution_, int{kCudnnPrecompGemm},
                   address_of(space), workspace_.empty() ? size_t{0} : workspace_.front().bytes(),
                   static_cast<const void*>(&zero), y_, address_of(y));
}

} // namespace gpuvet
