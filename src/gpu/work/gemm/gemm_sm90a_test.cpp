#include "gpu/kernels/gemm_sm90a_shape.hpp"
#include "gpu/kernels/kernels.hpp"
#include "gpu/work/gemm/gemm_sm90a.hpp"
#include "gpu/work/gemm/tensor_maps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#if __has_include(<cuda.h>)
#include <cuda.h>
#endif

namespace gpuvet {
namespace {

struct Encoded {
  int type = 0;
  unsigned rank = 0;
  void* address = nullptr;
  std::vector<unsigned long long> sizes, strides;
  std::vector<unsigned> box, steps;
  std::vector<int> modes;
} encoded;

int encode(CudaTensorMap*, int type, unsigned rank, void* address, const unsigned long long* sizes,
           const unsigned long long* strides, const unsigned* box, const unsigned* steps,
           int interleave, int swizzle, int promotion, int fill) {
  encoded = {type,
             rank,
             address,
             {sizes, sizes + rank},
             {strides, strides + rank - 1},
             {box, box + rank},
             {steps, steps + rank},
             {interleave, swizzle, promotion, fill}};
  return 0;
}

TEST(TensorMaps, DescribeAnOperand) {
  CudaApi cuda;
  CudaTensorMap map;
  EXPECT_EQ(encode_operand_map(cuda, map, 0x1000, 256, 64), kCudaNotFound);
  cuda.cuTensorMapEncodeTiled.function = encode;
  ASSERT_EQ(encode_operand_map(cuda, map, 0x7000, 8192, 4096), 0);
  EXPECT_EQ(encoded.address, reinterpret_cast<void*>(0x7000));
  EXPECT_EQ(encoded.sizes, (std::vector<unsigned long long>{4096, 8192}));
  EXPECT_EQ(encoded.strides, (std::vector<unsigned long long>{8192}));
  EXPECT_EQ(encoded.box, (std::vector<unsigned>{64, 128}));
  EXPECT_EQ(encoded.steps, (std::vector<unsigned>{1, 1}));
  // What the driver demands of a swizzled map: the box's inner dimension is at most 128 bytes.
  EXPECT_LE(encoded.box[0] * 2, 128u);
  EXPECT_LE(encoded.box[1], 256u);
}

#ifdef CUDA_VERSION
TEST(TensorMaps, NumbersAreTheHeaders) {
  EXPECT_EQ(sm90a::kMapBf16, int{CU_TENSOR_MAP_DATA_TYPE_BFLOAT16});
  EXPECT_EQ(sm90a::kMapNotInterleaved, int{CU_TENSOR_MAP_INTERLEAVE_NONE});
  EXPECT_EQ(sm90a::kMapSwizzle128, int{CU_TENSOR_MAP_SWIZZLE_128B});
  EXPECT_EQ(sm90a::kMapPromote256, int{CU_TENSOR_MAP_L2_PROMOTION_L2_256B});
  EXPECT_EQ(sm90a::kMapFillZero, int{CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE});
}
#endif

TEST(GemmSm90aLaunch, FillsTheGpuWithoutHalvesOfPairs) {
  EXPECT_EQ(gemm_sm90a_blocks(132, 8192, 8192, GemmBlocks::single), 132u);
  EXPECT_EQ(gemm_sm90a_blocks(132, 8192, 8192, GemmBlocks::pairs), 132u);
  EXPECT_EQ(gemm_sm90a_blocks(113, 8192, 8192, GemmBlocks::single), 113u);
  EXPECT_EQ(gemm_sm90a_blocks(113, 8192, 8192, GemmBlocks::pairs), 112u);
  EXPECT_EQ(gemm_sm90a_blocks(132, 256, 256, GemmBlocks::single), 2u);
  EXPECT_EQ(gemm_sm90a_blocks(132, 256, 256, GemmBlocks::pairs), 2u);
  EXPECT_EQ(gemm_sm90a_blocks(1, 512, 512, GemmBlocks::pairs), 2u); // a cluster waits for its turn
}

// ---- what is launched, against the parameters in the image's text

std::vector<size_t> parameter_bytes(std::string_view ptx, const std::string& kernel) {
  std::vector<size_t> sizes;
  size_t at = ptx.find(".entry " + kernel + "(");
  if (at == std::string_view::npos) return sizes;
  std::string_view list = ptx.substr(at, ptx.find(')', at) - at);
  for (size_t next = list.find(".param "); next != std::string_view::npos;
       next = list.find(".param ", next + 1)) {
    std::string_view line = list.substr(next, list.find('\n', next) - next);
    size_t bracket = line.find('[');
    if (bracket != std::string_view::npos)
      sizes.push_back(std::stoul(std::string(line.substr(bracket + 1))));
    else
      sizes.push_back(line.find("64") < line.find(kernel) ? 8 : 4);
  }
  return sizes;
}

std::string_view image(std::string_view kind) {
  for (const KernelImage& it : kernel_images())
    if (it.blob == "gemm_sm90a" && it.kind == kind) return it.bytes;
  return {};
}

struct Launched {
  unsigned grid = 0, threads = 0, shared = 0;
  std::vector<std::string> parameters;
} launched;

int launch_kernel(CudaFunction, unsigned x, unsigned, unsigned, unsigned threads, unsigned,
                  unsigned, unsigned shared, CudaStream, void** parameters, void**) {
  launched = {x, threads, shared, {}};
  for (size_t bytes : parameter_bytes(image("ptx"), "gv_gemm_tma")) {
    launched.parameters.emplace_back(static_cast<const char*>(*parameters++), bytes);
  }
  return 0;
}

template <class T> std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

TEST(GemmSm90aLaunch, GivesWhatTheKernelTakes) {
  for (const char* kernel : {"gv_gemm_tma", "gv_gemm_tma2"})
    EXPECT_EQ(parameter_bytes(image("ptx"), kernel),
              (std::vector<size_t>{128, 128, 8, 4, 4, 4, 8, 8}))
        << kernel;
  EXPECT_EQ(parameter_bytes(image("ptx"), "gv_pipe"), (std::vector<size_t>{8, 8}));

  CudaApi cuda;
  cuda.cuLaunchKernel.function = launch_kernel;
  cuda.cuDeviceGet.function = [](int* device, int) { return *device = 0; };
  cuda.cuDeviceGetAttribute.function = [](int* value, int, int) {
    *value = 9;
    return 0;
  };
  cuda.cuDevicePrimaryCtxRetain.function = [](CudaContext*, int) { return 0; };
  cuda.cuDevicePrimaryCtxRelease_v2.function = [](int) { return 0; };
  cuda.cuCtxSetCurrent.function = [](CudaContext) { return 0; };
  StepTeller nobody(-1, Moment{});
  Bench bench(cuda, 0, nobody);
  GemmSm90a gemm;
  gemm.operands = {0xA, 0xB, 0xC, 512, 768, 128};
  for (unsigned i = 0; i < 16; ++i) {
    gemm.a.words[i] = i;
    gemm.b.words[i] = 100 + i;
  }
  gemm.blocks = 12;
  launch_gemm_sm90a(bench, gemm, 0xD, 0xE, nullptr);
  EXPECT_EQ(launched.grid, 12u);
  EXPECT_EQ(launched.threads, sm90a::kThreads);
  EXPECT_EQ(launched.shared, sm90a::kSharedBytes);
  EXPECT_EQ(launched.parameters, (std::vector<std::string>{
                                     bytes_of(gemm.a), bytes_of(gemm.b), bytes_of(CudaPointer{0xC}),
                                     bytes_of(512u), bytes_of(768u), bytes_of(128u),
                                     bytes_of(CudaPointer{0xD}), bytes_of(CudaPointer{0xE})}));

  gemm.operands.rows = 384;
  EXPECT_THROW(prepare_gemm_sm90a(bench, gemm.operands, GemmBlocks::single), StepStopped);
  gemm.operands.rows = 512;
  try { // this driver has no tensor maps
    prepare_gemm_sm90a(bench, gemm.operands, GemmBlocks::single);
    FAIL();
  } catch (const StepStopped& stopped) {
    EXPECT_TRUE(stopped.unsupported);
  }
}

TEST(GemmSm90aLaunch, ImagesAreForHopperOnly) {
  unsigned seen = 0;
  for (const KernelImage& it : kernel_images()) {
    if (it.blob != "gemm_sm90a") continue;
    ++seen;
    EXPECT_EQ(it.sm, 90u) << it.kind;
    EXPECT_TRUE(it.exact) << it.kind;
  }
  EXPECT_EQ(seen, 2u);
}

} // namespace
} // namespace gpuvet
