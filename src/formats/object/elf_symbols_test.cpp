#include "formats/object/elf_symbols.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace gpuvet {
namespace {

TEST(GpuSymbols, KnowTheirNames) {
  for (const char* name : {"cuInit", "cudaMalloc", "cudnnCreate", "ncclAllReduce",
                           "__nvJitLinkComplete_12_4", "cublasLtMatmul", "nvrtcCompileProgram"})
    EXPECT_TRUE(is_gpu_symbol(name)) << name;
  for (const char* name : {"cut", "cusp", "malloc", "_ZN4cuda3fooEv", "cu", "ncurses"})
    EXPECT_FALSE(is_gpu_symbol(name)) << name;
}

TEST(GpuSymbols, AreReadFromTheDynamicTable) {
  std::ifstream stream(std::string(GPUVET_SOURCE_DIR) + "/tests/corpus/elf_dynamic/calls.so",
                       std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  std::string file = text.str();
  auto symbols = parse_gpu_symbols(Bytes(file));
  ASSERT_TRUE(symbols) << symbols.error().what;
  EXPECT_EQ(symbols->imports, (std::vector<std::string>{"__nvJitLinkComplete_12_4", "cudaMalloc"}));
  EXPECT_EQ(symbols->exports, (std::vector<std::string>{"cusparseCreate"}));
  EXPECT_TRUE(*imports(Bytes(file), "cudaMalloc"));
  for (const char* name : {"cudaMallo", "cudaMallocManaged", "cusparseCreate"})
    EXPECT_FALSE(*imports(Bytes(file), name)) << name;
  EXPECT_FALSE(imports(Bytes(std::string_view("text")), "cudaMalloc"));
  for (size_t size = 0; size < file.size(); size += 5)
    (void)parse_gpu_symbols(Bytes(std::string_view(file).substr(0, size)));
  EXPECT_FALSE(parse_gpu_symbols(Bytes(std::string_view("text"))));
}

} // namespace
} // namespace gpuvet
