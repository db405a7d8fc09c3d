// Products by cuBLASLt, in the same layout as those of our kernels, so that the results are the
// same bits. cuBLASLt counts its matrices by columns: there our row-major C is its transpose, and
// C^T = B * A^T, where our B and A, row-major with `inner` along a row, are the operands of a
// product with the first one transposed ("TN").
#pragma once

#include "gpu/work/libraries/cublaslt_api.hpp"
#include "gpu/work/libraries/opened.hpp"
#include "gpu/work/stress/engine.hpp"

#include <memory>
#include <vector>

namespace gpuvet {

class CublasLt {
 public:
  // Throws StepStopped.
  CublasLt(Bench& bench, const std::string& file, const ProductShape& shape);
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;
  ~CublasLt();

  // The library's own choices for this product, the one it thinks best first.
  size_t choices() const { return choices_.size(); }
  ProductEngine engine(size_t choice); // lives as long as this

  std::string version; // "13.1.0"
  double load_s = 0;

 private:
  void describe_product();
  void ask_choices();

  OpenedLibrary library_;
  CublasLtApi api_;
  ProductShape shape_;
  DeviceMemory workspace_;
  CublasLtHandle handle_ = nullptr;
  CublasLtDesc product_ = nullptr;
  CublasLtLayout first_ = nullptr, second_ = nullptr, result_ = nullptr;
  std::vector<CublasLtChoice> choices_;
};

} // namespace gpuvet
