// A convolution by cuDNN: 3 x 3, padded by 1, images and filters with the channels innermost
// (NHWC), bf16, sums in fp32. Operands are exact integers as for products (stress/product.hpp), so
// the sums are exact and the result is each sum rounded to bf16, once.
#pragma once

#include "gpu/work/libraries/cudnn_api.hpp"
#include "gpu/work/libraries/opened.hpp"
#include "gpu/work/pieces.hpp"

#include <string>
#include <vector>

namespace gpuvet {

struct ConvolutionShape {
  uint32_t images = 0, side = 0, channels = 0, filters = 0;

  uint32_t inner() const { return 9 * channels; } // products in a sum
  uint64_t x_words() const { return uint64_t{images} * side * side * channels; } // of 2 bytes
  uint64_t w_words() const { return uint64_t{filters} * inner(); }
  uint64_t y_words() const { return uint64_t{images} * side * side * filters; }
  uint64_t bytes() const { return 2 * (x_words() + w_words() + y_words()); }
  double flop() const { return 2.0 * static_cast<double>(y_words()) * inner(); }
};

std::string describe(const ConvolutionShape& shape);

// Output `index` as it must be, from the seeds of x and w alone.
uint16_t right_output(const ConvolutionShape& shape, uint64_t x_seed, uint64_t w_seed,
                      uint64_t index);

class Cudnn {
 public:
  // Loads the parts of cuDNN, and the cuBLASLt that it uses, from where the installation has them.
  // Throws StepStopped.
  Cudnn(Bench& bench, const LibraryFiles& files, const ConvolutionShape& shape, CudaStream stream);
  Cudnn(const Cudnn&) = delete;
  Cudnn& operator=(const Cudnn&) = delete;
  ~Cudnn();

  void forward(CudaPointer x, CudaPointer w, CudaPointer y); // enqueues

  std::string version; // "9.19.0"
  double load_s = 0;

 private:
  void describe_convolution(const ConvolutionShape& shape);

  OpenedLibrary library_;
  CudnnApi api_;
  CudnnHandle handle_ = nullptr;
  CudnnTensor x_ = nullptr, y_ = nullptr;
  CudnnFilter w_ = nullptr;
  CudnnConvolution convolution_ = nullptr;
  std::vector<DeviceMemory> workspace_; // none or one
};

} // namespace gpuvet
