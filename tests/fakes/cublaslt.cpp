// A libcublasLt.so.13 that multiplies on the CPU, for the fake libcuda, whose device memory is
// memory of this process. Steered by GPUVET_FAKE_CUBLASLT (steering.hpp); it knows besides:
//   version=NUMBER (130100)   choices=COUNT (3)   tflops=RATE (700; each later choice is slower)
//   wrong=CHOICE              that one's products have a wrong bit; "all": every one's
//   spoil=COUNT               the products after so many have
#include "device.hpp"
#include "gpu/work/libraries/cublaslt_api.hpp"

#include <cstring>

namespace gpuvet {

struct CublasLtHandleHandle {
  long long products = 0;
};
struct CublasLtDescHandle {
  bool transpose_a = false;
};
struct CublasLtLayoutHandle {
  int type = 0;
  uint64_t rows = 0, columns = 0;
  int64_t leading = 0;
};
struct CublasLtPreferenceHandle {
  uint64_t workspace = 0;
};

} // namespace gpuvet

namespace {

using namespace gpuvet;

const fake::Steering& words() {
  static const fake::Steering words("GPUVET_FAKE_CUBLASLT");
  return words;
}

float value(uint16_t bf16) {
  const uint32_t bits = uint32_t{bf16} << 16;
  float made = 0;
  std::memcpy(&made, &bits, sizeof(made));
  return made;
}

// D = A^T * B, all by columns.
void multiply(const uint16_t* a, CublasLtLayout a_layout, const uint16_t* b,
              CublasLtLayout b_layout, float* d, CublasLtLayout d_layout) {
  for (uint64_t column = 0; column < d_layout->columns; ++column)
    for (uint64_t row = 0; row < d_layout->rows; ++row) {
      float sum = 0;
      for (uint64_t k = 0; k < a_layout->rows; ++k)
        sum += value(a[row * static_cast<uint64_t>(a_layout->leading) + k]) *
               value(b[column * static_cast<uint64_t>(b_layout->leading) + k]);
      d[column * static_cast<uint64_t>(d_layout->leading) + row] = sum;
    }
}

bool is_wrong(int choice, long long product) {
  const std::string which = words().text("wrong", "");
  if (which == "all" || which == std::to_string(choice)) return true;
  const int good = words().number("spoil", -1);
  return good >= 0 && product >= good;
}

} // namespace

extern "C" {

#define ENTER()                                                                                    \
  if (int code = words().enter(__func__, -1)) return code

size_t cublasLtGetVersion() {
  return static_cast<size_t>(words().number("version", 130100));
}

int cublasLtCreate(CublasLtHandle* handle) {
  ENTER();
  *handle = new CublasLtHandleHandle();
  return 0;
}

int cublasLtDestroy(CublasLtHandle handle) {
  delete handle;
  return 0;
}

int cublasLtMatmulDescCreate(CublasLtDesc* made, int compute, int scale) {
  ENTER();
  *made = new CublasLtDescHandle();
  return compute == 68 && scale == 0 ? 0 : 15;
}

int cublasLtMatmulDescDestroy(CublasLtDesc desc) {
  delete desc;
  return 0;
}

int cublasLtMatmulDescSetAttribute(CublasLtDesc desc, int attribute, const void* set, size_t size) {
  ENTER();
  if (attribute != 3 || size != sizeof(int)) return 7;
  desc->transpose_a = *static_cast<const int*>(set) == 1;
  return 0;
}

int cublasLtMatrixLayoutCreate(CublasLtLayout* made, int type, uint64_t rows, uint64_t columns,
                               int64_t leading) {
  ENTER();
  *made = new CublasLtLayoutHandle{type, rows, columns, leading};
  return 0;
}

int cublasLtMatrixLayoutDestroy(CublasLtLayout layout) {
  delete layout;
  return 0;
}

int cublasLtMatmulPreferenceCreate(CublasLtPreference* made) {
  ENTER();
  *made = new CublasLtPreferenceHandle();
  return 0;
}

int cublasLtMatmulPreferenceSetAttribute(CublasLtPreference preference, int attribute,
                                         const void* set, size_t size) {
  ENTER();
  if (attribute != 1 || size != sizeof(uint64_t)) return 7;
  std::memcpy(&preference->workspace, set, size);
  return 0;
}

int cublasLtMatmulAlgoGetHeuristic(CublasLtHandle, CublasLtDesc desc, CublasLtLayout a,
                                   CublasLtLayout b, CublasLtLayout, CublasLtLayout d,
                                   CublasLtPreference preference, int asked, CublasLtChoice* made,
                                   int* found) {
  ENTER();
  if (!desc->transpose_a || a->type != 14 || b->type != 14 || d->type != 0 || a->rows != b->rows ||
      a->columns != d->rows || b->columns != d->columns)
    return 15;
  *found = 0;
  for (int at = 0; at < words().number("choices", 3) && at < asked; ++at) {
    made[at] = CublasLtChoice{};
    made[at].algo.data[0] = static_cast<uint64_t>(at);
    made[at].workspace = preference->workspace / 2;
    ++*found;
  }
  return 0;
}

int cublasLtMatmul(CublasLtHandle handle, CublasLtDesc, const void*, const void* a,
                   CublasLtLayout a_layout, const void* b, CublasLtLayout b_layout, const void*,
                   const void*, CublasLtLayout, void* d, CublasLtLayout d_layout,
                   const CublasLtAlgo* algo, void*, size_t, CudaStream stream) {
  ENTER();
  const auto choice = static_cast<int>(algo->data[0]);
  auto* result = static_cast<float*>(d);
  multiply(static_cast<const uint16_t*>(a), a_layout, static_cast<const uint16_t*>(b), b_layout,
           result, d_layout);
  if (is_wrong(choice, handle->products++)) result[d_layout->rows * 3 + 17] += 1;
  const double flop =
      2.0 * static_cast<double>(d_layout->rows * d_layout->columns * a_layout->rows);
  const double tflops = std::atof(words().text("tflops", "700").c_str()) / (1 + 0.1 * choice);
  if (stream) stream->now_ns += flop / tflops / 1e3;
  return 0;
}

} // extern "C"
