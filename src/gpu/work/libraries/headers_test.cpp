// Our declarations of cuBLASLt, cuDNN and NCCL against NVIDIA's own headers, where those are
// installed.
#include "gpu/testing/called_alike.hpp"
#include "gpu/work/libraries/cublaslt_api.hpp"
#include "gpu/work/libraries/cudnn_api.hpp"
#include "gpu/work/libraries/nccl_api.hpp"

#include <gtest/gtest.h>

#if __has_include(<cuda_runtime_api.h>) && __has_include(<cublasLt.h>)
#include <cublasLt.h>
#endif
#if __has_include(<cuda_runtime_api.h>) && __has_include(<cudnn.h>)
#include <cudnn.h>
#endif
#if __has_include(<cuda_runtime_api.h>) && __has_include(<nccl.h>)
#include <nccl.h>
#endif

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace gpuvet {
namespace {

#define GPUVET_COMPARE_IN(Api, name)                                                               \
  EXPECT_TRUE((kCalledAlike<decltype(Api::name), decltype(&::name)>)) << #name

#ifdef CUBLAS_VERSION

TEST(LibraryHeaders, CublasLtFunctionsTakeWhatWeGive) {
#define GPUVET_COMPARE(name, ...) GPUVET_COMPARE_IN(CublasLtApi, name);
  GPUVET_CUBLASLT_CALLS(GPUVET_COMPARE)
#undef GPUVET_COMPARE
  EXPECT_TRUE(
      (std::is_same_v<decltype(CublasLtApi::cublasLtGetVersion), decltype(&::cublasLtGetVersion)>));
}

TEST(LibraryHeaders, CublasLtChoicesLieAlike) {
  EXPECT_EQ(sizeof(CublasLtAlgo), sizeof(cublasLtMatmulAlgo_t));
  EXPECT_EQ(sizeof(CublasLtChoice), sizeof(cublasLtMatmulHeuristicResult_t));
  EXPECT_SAME_PLACE(CublasLtChoice, algo, cublasLtMatmulHeuristicResult_t, algo);
  EXPECT_SAME_PLACE(CublasLtChoice, workspace, cublasLtMatmulHeuristicResult_t, workspaceSize);
  EXPECT_SAME_PLACE(CublasLtChoice, state, cublasLtMatmulHeuristicResult_t, state);
  EXPECT_SAME_PLACE(CublasLtChoice, waves, cublasLtMatmulHeuristicResult_t, wavesCount);
}

TEST(LibraryHeaders, CublasLtNumbersAreTheirs) {
  EXPECT_EQ(kCublasNotSupported, int{CUBLAS_STATUS_NOT_SUPPORTED});
  EXPECT_EQ(kCublasCompute32F, int{CUBLAS_COMPUTE_32F});
  EXPECT_EQ(kCublasDescTransposeA, int{CUBLASLT_MATMUL_DESC_TRANSA});
  EXPECT_EQ(kCublasDescTransposeB, int{CUBLASLT_MATMUL_DESC_TRANSB});
  EXPECT_EQ(kCublasPreferWorkspace, int{CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES});
  EXPECT_EQ(kCublasTranspose, int{CUBLAS_OP_T});
  EXPECT_EQ(kCublasReal32F, int{CUDA_R_32F});
  EXPECT_EQ(kCublasReal16BF, int{CUDA_R_16BF});
  EXPECT_EQ(sizeof(cublasOperation_t), sizeof(int)); // the attributes are set by size
}

#else

TEST(LibraryHeaders, CublasLt) {
  GTEST_SKIP() << "no cublasLt.h is installed";
}

#endif
#ifdef CUDNN_MAJOR

TEST(LibraryHeaders, CudnnFunctionsTakeWhatWeGive) {
#define GPUVET_COMPARE(name, ...) GPUVET_COMPARE_IN(CudnnApi, name);
  GPUVET_CUDNN_CALLS(GPUVET_COMPARE)
#undef GPUVET_COMPARE
  EXPECT_TRUE((std::is_same_v<decltype(CudnnApi::cudnnGetVersion), decltype(&::cudnnGetVersion)>));
}

TEST(LibraryHeaders, CudnnNumbersAreTheirs) {
  EXPECT_EQ(kCudnnFloat, int{CUDNN_DATA_FLOAT});
  EXPECT_EQ(kCudnnBfloat16, int{CUDNN_DATA_BFLOAT16});
  EXPECT_EQ(kCudnnNhwc, int{CUDNN_TENSOR_NHWC});
  EXPECT_EQ(kCudnnCrossCorrelation, int{CUDNN_CROSS_CORRELATION});
  EXPECT_EQ(kCudnnTensorOpMath, int{CUDNN_TENSOR_OP_MATH});
  EXPECT_EQ(kCudnnPrecompGemm, int{CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM});
}

#else

TEST(LibraryHeaders, Cudnn) {
  GTEST_SKIP() << "no cudnn.h is installed";
}

#endif
#ifdef NCCL_VERSION_CODE

TEST(LibraryHeaders, NcclFunctionsTakeWhatWeGive) {
#define GPUVET_COMPARE(name, ...) GPUVET_COMPARE_IN(NcclApi, name);
  GPUVET_NCCL_CALLS(GPUVET_COMPARE)
#undef GPUVET_COMPARE
}

TEST(LibraryHeaders, NcclNumbersAreTheirs) {
  EXPECT_EQ(kNcclSum, int{ncclSum});
  EXPECT_EQ(kNcclInt32, int{ncclInt32});
  EXPECT_EQ(kNcclBfloat16, int{ncclBfloat16});
  EXPECT_EQ(kNcclInProgress, int{ncclInProgress});
}

#else

TEST(LibraryHeaders, Nccl) {
  GTEST_SKIP() << "no nccl.h is installed";
}

#endif

} // namespace
} // namespace gpuvet
