// A libcudnn.so.9 that convolves on the CPU, for the fake libcuda. Steered by GPUVET_FAKE_CUDNN
// (steering.hpp); it knows besides:
//   version=NUMBER (91900)   tflops=RATE (400)   wrong=1  every result has a wrong bit
//   spoil=COUNT              the results after so many have
#include "device.hpp"
#include "gpu/work/libraries/cudnn_api.hpp"

#include <cstring>

namespace gpuvet {

struct CudnnHandleHandle {
  CudaStream stream = nullptr;
  long long results = 0;
};
struct CudnnTensorHandle {
  uint64_t n = 0, c = 0, h = 0, w = 0;
};
struct CudnnFilterHandle {
  uint64_t k = 0, c = 0;
};
struct CudnnConvolutionHandle {};

} // namespace gpuvet

namespace {

using namespace gpuvet;

const fake::Steering& words() {
  static const fake::Steering words("GPUVET_FAKE_CUDNN");
  return words;
}

float value(uint16_t bf16) {
  const uint32_t bits = uint32_t{bf16} << 16;
  float made = 0;
  std::memcpy(&made, &bits, sizeof(made));
  return made;
}

uint16_t rounded(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

// One output: 3 x 3, padded by 1.
float output(const uint16_t* x, const uint16_t* w, const CudnnTensorHandle& in, uint64_t n,
             uint64_t row, uint64_t column, uint64_t filter) {
  float sum = 0;
  for (uint64_t dy = 0; dy < 3; ++dy)
    for (uint64_t dx = 0; dx < 3; ++dx) {
      if (row + dy < 1 || row + dy > in.h || column + dx < 1 || column + dx > in.w) continue;
      const uint16_t* from = x + ((n * in.h + row + dy - 1) * in.w + column + dx - 1) * in.c;
      const uint16_t* weights = w + (filter * 9 + dy * 3 + dx) * in.c;
      for (uint64_t channel = 0; channel < in.c; ++channel)
        sum += value(from[channel]) * value(weights[channel]);
    }
  return sum;
}

} // namespace

extern "C" {

#define ENTER()                                                                                    \
  if (int code = words().enter(__func__, -1)) return code

size_t cudnnGetVersion() {
  return static_cast<size_t>(words().number("version", 91900));
}

const char* cudnnGetErrorString(int) {
  return "CUDNN_STATUS_OF_A_FAKE";
}

int cudnnCreate(CudnnHandle* made) {
  ENTER();
  *made = new CudnnHandleHandle();
  return 0;
}
int cudnnDestroy(CudnnHandle handle) {
  delete handle;
  return 0;
}
int cudnnSetStream(CudnnHandle handle, CudaStream stream) {
  ENTER();
  handle->stream = stream;
  return 0;
}

int cudnnCreateTensorDescriptor(CudnnTensor* made) {
  *made = new CudnnTensorHandle();
  return 0;
}
int cudnnDestroyTensorDescriptor(CudnnTensor tensor) {
  delete tensor;
  return 0;
}
int cudnnSetTensor4dDescriptor(CudnnTensor tensor, int format, int type, int n, int c, int h,
                               int w) {
  ENTER();
  *tensor = {static_cast<uint64_t>(n), static_cast<uint64_t>(c), static_cast<uint64_t>(h),
             static_cast<uint64_t>(w)};
  return format == 1 && type == 9 ? 0 : 3000;
}

int cudnnCreateFilterDescriptor(CudnnFilter* made) {
  *made = new CudnnFilterHandle();
  return 0;
}
int cudnnDestroyFilterDescriptor(CudnnFilter filter) {
  delete filter;
  return 0;
}
int cudnnSetFilter4dDescriptor(CudnnFilter filter, int type, int format, int k, int c, int h,
                               int w) {
  ENTER();
  *filter = {static_cast<uint64_t>(k), static_cast<uint64_t>(c)};
  return format == 1 && type == 9 && h == 3 && w == 3 ? 0 : 3000;
}

int cudnnCreateConvolutionDescriptor(CudnnConvolution* made) {
  *made = new CudnnConvolutionHandle();
  return 0;
}
int cudnnDestroyConvolutionDescriptor(CudnnConvolution convolution) {
  delete convolution;
  return 0;
}
int cudnnSetConvolution2dDescriptor(CudnnConvolution, int pad_h, int pad_w, int, int, int, int,
                                    int mode, int type) {
  ENTER();
  return pad_h == 1 && pad_w == 1 && mode == 1 && type == 0 ? 0 : 3000;
}
int cudnnSetConvolutionMathType(CudnnConvolution, int type) {
  ENTER();
  return type == 1 ? 0 : 3000;
}

int cudnnGetConvolutionForwardWorkspaceSize(CudnnHandle, CudnnTensor, CudnnFilter, CudnnConvolution,
                                            CudnnTensor, int, size_t* bytes) {
  ENTER();
  *bytes = 4096;
  return 0;
}

int cudnnConvolutionForward(CudnnHandle handle, const void*, CudnnTensor x_tensor, const void* x,
                            CudnnFilter, const void* w, CudnnConvolution, int algorithm, void*,
                            size_t workspace, const void*, CudnnTensor y_tensor, void* y) {
  ENTER();
  if (algorithm != 1 || workspace < 4096) return 3000;
  auto* to = static_cast<uint16_t*>(y);
  for (uint64_t n = 0; n < y_tensor->n; ++n)
    for (uint64_t row = 0; row < y_tensor->h; ++row)
      for (uint64_t column = 0; column < y_tensor->w; ++column)
        for (uint64_t filter = 0; filter < y_tensor->c; ++filter)
          *to++ = rounded(output(static_cast<const uint16_t*>(x), static_cast<const uint16_t*>(w),
                                 *x_tensor, n, row, column, filter));
  const int good = words().number("spoil", -1);
  if (words().number("wrong", 0) || (good >= 0 && handle->results >= good))
    static_cast<uint16_t*>(y)[100] ^= 4;
  ++handle->results;
  const double flop =
      2.0 * 9 *
      static_cast<double>(x_tensor->c * y_tensor->n * y_tensor->c * y_tensor->h * y_tensor->w);
  if (handle->stream)
    handle->stream->now_ns += flop / std::atof(words().text("tflops", "400").c_str()) / 1e3;
  return 0;
}

} // extern "C"
