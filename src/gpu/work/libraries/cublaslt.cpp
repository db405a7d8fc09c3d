#include "gpu/work/libraries/cublaslt.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

constexpr int kChoices = 8;
constexpr size_t kWorkspace = 64 << 20; // what its best kernels on Hopper and Blackwell may use

size_t workspace_bytes(Bench& bench) {
  size_t free = 0, total = 0;
  bench.call(bench.cuda.cuMemGetInfo_v2, &free, &total);
  return std::clamp<size_t>(free / 16, 4096, kWorkspace);
}

void find_all(const OpenedLibrary& library, CublasLtApi& api) {
#define GPUVET_FIND(name, ...) library.require(api.name);
  GPUVET_CUBLASLT_CALLS(GPUVET_FIND)
#undef GPUVET_FIND
  library.require("cublasLtGetVersion", api.cublasLtGetVersion);
}

} // namespace

CublasLt::CublasLt(Bench& bench, const std::string& file, const ProductShape& shape)
    : library_(open_for_test(bench.tell, "cuBLASLt", file)), shape_(shape),
      workspace_(bench, workspace_bytes(bench)) {
  find_all(library_, api_);
  version = version_text(api_.cublasLtGetVersion(), 10'000, 100);
  bench.tell.word("version", version);
  const double began = bench.tell.seconds();
  library_.call(api_.cublasLtCreate, &handle_);
  load_s = library_.load_s + bench.tell.seconds() - began;
  describe_product();
  ask_choices();
}

// Nothing is given back when the constructor throws: the child process ends then.
CublasLt::~CublasLt() {
  for (CublasLtLayout layout : {first_, second_, result_})
    api_.cublasLtMatrixLayoutDestroy.function(layout);
  api_.cublasLtMatmulDescDestroy.function(product_);
  api_.cublasLtDestroy.function(handle_);
}

void CublasLt::describe_product() {
  library_.call(api_.cublasLtMatmulDescCreate, &product_, int{kCublasCompute32F},
                int{kCublasReal32F});
  const int transposed = kCublasTranspose; // the second operand is not: that is the default
  library_.call(api_.cublasLtMatmulDescSetAttribute, product_, int{kCublasDescTransposeA},
                static_cast<const void*>(&transposed), sizeof(transposed));
  const auto inner = static_cast<int64_t>(shape_.inner);
  library_.call(api_.cublasLtMatrixLayoutCreate, &first_, int{kCublasReal16BF},
                uint64_t{shape_.inner}, uint64_t{shape_.columns}, inner);
  library_.call(api_.cublasLtMatrixLayoutCreate, &second_, int{kCublasReal16BF},
                uint64_t{shape_.inner}, uint64_t{shape_.rows}, inner);
  library_.call(api_.cublasLtMatrixLayoutCreate, &result_, int{kCublasReal32F},
                uint64_t{shape_.columns}, uint64_t{shape_.rows},
                static_cast<int64_t>(shape_.columns));
}

void CublasLt::ask_choices() {
  CublasLtPreference preference = nullptr;
  library_.call(api_.cublasLtMatmulPreferenceCreate, &preference);
  const uint64_t most = workspace_.bytes();
  library_.call(api_.cublasLtMatmulPreferenceSetAttribute, preference, int{kCublasPreferWorkspace},
                static_cast<const void*>(&most), sizeof(most));
  choices_.resize(kChoices);
  int found = 0;
  library_.call(api_.cublasLtMatmulAlgoGetHeuristic, handle_, product_, first_, second_, result_,
                result_, preference, kChoices, choices_.data(), &found);
  choices_.resize(static_cast<size_t>(std::clamp(found, 0, kChoices)));
  choices_.erase(std::remove_if(choices_.begin(), choices_.end(),
                                [](const CublasLtChoice& choice) { return choice.state != 0; }),
                 choices_.end());
  if (choices_.empty())
    Bench::wrong(fmt::format("cuBLASLt {} knows no way to multiply bf16 matrices of {} on this GPU",
                             version, describe(shape_)));
}

ProductEngine CublasLt::engine(size_t choice) {
  ProductEngine made{"cuBLASLt " + version, false, {}};
  made.multiply = [this, choice](const ProductCall& call) {
    const float one = 1, zero = 0;
    library_.quietly(api_.cublasLtMatmul, handle_, product_, static_cast<const void*>(&one),
                     static_cast<const void*>(address_of(call.b)), first_,
                     static_cast<const void*>(address_of(call.a)), second_,
                     static_cast<const void*>(&zero), static_cast<const void*>(address_of(call.c)),
                     result_, address_of(call.c), result_,
                     static_cast<const CublasLtAlgo*>(&choices_[choice].algo),
                     address_of(workspace_.at()), choices_[choice].workspace, call.stream);
  };
  return made;
}

} // namespace gpuvet
