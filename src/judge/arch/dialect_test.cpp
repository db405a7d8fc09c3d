// Values as the build systems' own code reads them.
#include "judge/arch/convert.hpp"
#include "judge/arch/testing/arch_facts.hpp"

#include <gtest/gtest.h>

#include <set>

namespace gpuvet {
namespace {

using testing::plan_facts;
using testing::reading;
using testing::system_named;
using testing::with;

struct Reading {
  const char *system, *value, *toolkit, *builds;
};

TEST(Dialect, ValuesBuildWhatTheSystemsOwnCodeMakesOfThem) {
  const Reading rows[] = {
      {"cmake", "75-real;86-real;90", "", "sm_75, sm_86, sm_90, PTX of compute_90"},
      {"cmake", "90a-virtual", "", "PTX of compute_90a"},
      {"cmake", "-DCMAKE_CUDA_ARCHITECTURES=\"86\"", "", "sm_86, PTX of compute_86"},
      {"cudaarchs", "80-real;90", "", "sm_80, sm_90, PTX of compute_90"},
      {"pytorch", "8.0;8.6;9.0+PTX", "", "sm_80, sm_86, sm_90, PTX of compute_90"},
      {"pytorch", "8.0 9.0a", "", "sm_80, sm_90a"},
      {"pytorch", "Ampere", "", "sm_80, sm_86, PTX of compute_86"},
      {"pytorch", "Ampere+Tegra", "", "sm_87"},
      {"pytorch", "export TORCH_CUDA_ARCH_LIST='7.5+PTX'", "", "sm_75, PTX of compute_75"},
      {"tensorflow", "sm_80,sm_86,compute_90", "", "sm_80, sm_86, sm_90, PTX of compute_90"},
      {"tensorflow", "7.5,8.6", "", "sm_75, sm_86, PTX of compute_86"},
      {"tensorflow", "9.0,10.0,12.0", "", "sm_90, sm_100, sm_120, PTX of compute_90"},
      {"tensorflow", "8.0,sm_90", "", "sm_80, sm_90, PTX of compute_80"},
      {"jax", "sm_80,sm_90,compute_90", "", "sm_80, sm_90, PTX of compute_90"},
      {"xla", "9.0", "", "sm_90, PTX of compute_90"},
      {"bazel", "compute_80:compute_80,sm_80,sm_86;sm_90", "",
       "sm_80, sm_86 from compute_80, sm_90, PTX of compute_80"},
      {"bazel", "sm_80,sm_86", "", "sm_80, sm_86 from compute_80"},
      {"bitsandbytes", "90;89", "", "sm_89, sm_90, PTX of compute_90"},
      {"caffe", "-DCUDA_ARCH_NAME=Manual -DCUDA_ARCH_BIN=\"6.1 75\" -DCUDA_ARCH_PTX=\"75\"", "",
       "sm_61, sm_75, PTX of compute_75"},
      {"caffe-make",
       "CUDA_ARCH := -gencode arch=compute_61,code=sm_61 -gencode arch=compute_61,code=compute_61",
       "", "sm_61, PTX of compute_61"},
      {"caffe2", "6.1 7.0+PTX", "", "sm_61, sm_70, PTX of compute_70"},
      {"findcuda", "7.5 8.6+PTX", "", "sm_75, sm_86, PTX of compute_86"},
      {"findcuda", "5.2(5.0)", "", "sm_52 from compute_50"},
      {"findcuda", "5.2(5.0)+PTX", "",
       "sm_52 from compute_50, PTX of compute_50, PTX of compute_52"},
      {"findcuda", "Pascal+PTX", "", "sm_60, sm_61, PTX of compute_61"},
      {"cupy", "arch=compute_80,code=sm_80;arch=compute_90,code=sm_90", "", "sm_80, sm_90"},
      {"deepspeed", "8.0;9.0", "", "sm_80, sm_90"},
      {"flash-attention", "80;90", "", "sm_80, sm_90, PTX of compute_90"},
      {"flash-attention", "80;100", "12.9", "sm_80, sm_100f, PTX of compute_100"},
      {"flash-attention", "80;100", "12.8", "sm_80, sm_100, PTX of compute_100"},
      {"kokkos", "-DKokkos_ENABLE_CUDA=ON", "",
       "error: Kokkos has no option Kokkos_ARCH_Kokkos_ENABLE_CUDA"},
      {"kokkos", "-DKokkos_ARCH_HOPPER90=ON", "", "sm_90, PTX of compute_90"},
      {"llama.cpp", "86;120", "", "sm_86, sm_120a, PTX of compute_86, PTX of compute_120a"},
      {"llama.cpp", "120-real", "", "sm_120a"},
      {"meson", "7.5, 8.6+PTX", "", "sm_75, sm_86, PTX of compute_86"},
      {"mxnet", "7.0;8.0+PTX", "", "sm_70, sm_80, PTX of compute_80"},
      {"numba", "8.0", "", "sm_80"},
      {"nvcc-env", "NVCC_APPEND_FLAGS=\"-gencode arch=compute_120,code=sm_120\"", "", "sm_120"},
      {"nvcc-arch", "-arch=sm_90", "", "sm_90, PTX of compute_90"},
      {"nvcc-arch", "-arch=sm_90a", "", "sm_90a, PTX of compute_90, PTX of compute_90a"},
      {"nvcc-arch", "-arch=compute_80 -code=sm_80,sm_86", "", "sm_80, sm_86 from compute_80"},
      {"nvcc-arch", "-arch compute_80 -code sm_80 -code compute_80", "",
       "sm_80, PTX of compute_80"},
      {"nvcc",
       "-gencode arch=compute_80,code=sm_80 -gencode \"arch=compute_90,code=[sm_90,compute_90]\"",
       "", "sm_80, sm_90, PTX of compute_90"},
      {"nvcc", "--generate-code=arch=compute_100f,code=sm_103", "", "sm_103f from compute_100f"},
      {"nvcc", "-arch=all-major", "13.0",
       "sm_75, sm_80, sm_90, sm_100, sm_110, sm_120, PTX of compute_120"},
      {"nvcc", "-arch=all", "13.0",
       "sm_75, sm_80, sm_86, sm_87, sm_88, sm_89, sm_90, sm_100, sm_103, sm_110, sm_120, sm_121, "
       "PTX "
       "of compute_120"},
      {"cmake", "all", "13.0",
       "sm_75, sm_80, sm_86, sm_87, sm_88, sm_89, sm_90, sm_100, sm_103, sm_110, sm_120, sm_121, "
       "PTX "
       "of compute_121"},
      {"cmake", "all-major", "12.9",
       "sm_50, sm_60, sm_70, sm_80, sm_90, sm_100, sm_120, PTX of compute_120"},
      {"cmake", "all-major", "11.8", "sm_35, sm_50, sm_60, sm_70, sm_80, sm_90, PTX of compute_90"},
      {"onnxruntime", "80-real;90", "", "sm_80, sm_90, PTX of compute_90"},
      {"opencv", "-DCUDA_ARCH_BIN=\"7.5;8.6\" -DCUDA_ARCH_PTX=8.6", "",
       "sm_75, sm_86, PTX of compute_86"},
      {"opencv", "7.5,8.6", "", "sm_75, sm_86"},
      {"paddle", "-DCUDA_ARCH_NAME=Manual -DCUDA_ARCH_BIN=\"80 86\"", "", "sm_80, sm_86"},
      {"rapids", "RAPIDS", "13.0",
       "sm_75, sm_80, sm_86, sm_90a, sm_100f, sm_120, sm_120a, PTX of compute_120"},
      {"spack", "cuda_arch=80,90", "", "sm_80, sm_90, PTX of compute_80, PTX of compute_90"},
      {"vllm", "8.6 9.0 12.0", "12.8", "sm_86, sm_90, sm_120"},
      {"xformers", "8.0;9.0a", "", "sm_80, sm_90a"},
      {"xmake", "add_cugencodes(\"sm_86\", \"compute_90,sm_90\")", "", "sm_86, sm_90"},
      {"xmake", "\"sm_80,sm_86\", \"compute_90\"", "",
       "sm_80, sm_86 from compute_80, PTX of compute_90"},
  };
  std::set<std::string> read;
  for (const Reading& row : rows) {
    EXPECT_EQ(reading(row.system, row.value, row.toolkit), row.builds)
        << row.system << " " << row.value;
    read.insert(row.system);
  }
  for (const ArchSystem& system : plan_facts().tables->systems)
    EXPECT_TRUE(system.form == "none" || read.count(system.id)) << system.id << " has no row here";
}

TEST(Dialect, MistakesAreNamed) {
  const Reading rows[] = {
      {"cmake", "8.6", "", "error: \"8.6\": CMake (CUDA language) writes 86, without the dot"},
      {"cmake", "86,89", "",
       "error: \"86,89\": CMake (CUDA language) separates entries with ';', not ','"},
      {"cmake", "", "", "error: the list is empty: it names no target"},
      {"cmake", ";", "", "error: the list is empty: it names no target"},
      {"cmake", "native", "",
       "error: native: the GPUs of the machine that builds, which the value does not name: "
       "give them to gpuvet arch plan --gpu"},
      {"cmake", "OFF", "", "error: OFF: chooses no targets; other flags do"},
      {"cmake", "all", "", "error: all: its targets depend on the toolkit: name it with --toolkit"},
      {"cmake", "80;all", "13.0", "error: all stands alone, not in a list"},
      {"cmake", "all-major", "10.2",
       "error: all-major: known for CUDA 11.0 and newer, not for CUDA 10.2"},
      {"cmake", "sm_86", "", "error: \"sm_86\": CMake (CUDA language) writes 86"},
      {"cmake", "86-reel", "", "error: \"86-reel\": is not a GPU target"},
      {"cmake", "90A", "", "error: \"90A\": CMake (CUDA language) writes 90a"},
      {"cmake", "086", "", "error: \"086\": CMake (CUDA language) writes 86"},
      {"tensorflow", "sm90", "", "error: \"sm90\": sm_XY or compute_XY is wanted"},
      {"nvcc", "-arch=sm90", "", "error: \"sm90\": sm_XY or compute_XY is wanted"},
      {"pytorch", "86", "", "error: \"86\": PyTorch (and extensions) writes 8.6, with the dot"},
      {"pytorch", "8.6,9.0", "",
       "error: \"8.6,9.0\": PyTorch (and extensions) separates entries with ';' or ' ', not ','"},
      {"pytorch", "12.0f", "",
       "error: \"12.0f\": PyTorch (and extensions) does not take the suffix f"},
      {"pytorch", "Ampere+PTX", "", "error: \"8.6+PTX+PTX\": \"8.6+PTX\": is not a GPU target"},
      {"pytorch", "Blackwell", "",
       "error: Blackwell: a list that differs between releases of PyTorch (and extensions): name "
       "the targets"},
      {"tensorflow", "sm_120f", "", "error: \"sm_120f\": TensorFlow does not take the suffix f"},
      {"tensorflow", "86", "", "error: \"86\": sm_XY or compute_XY is wanted"},
      {"findcuda", "12.0", "",
       "error: \"12.0\": CMake (FindCUDA, legacy) does not take it: it takes one digit before the "
       "dot; "
       "enable_language(CUDA) with CMAKE_CUDA_ARCHITECTURES takes any target"},
      {"flash-attention", "86", "",
       "error: \"86\": FlashAttention does not take it: FlashAttention 2 has code for 8.0 and "
       "newer; "
       "1.x served Turing"},
      {"flash-attention", "120", "",
       "error: what FlashAttention makes of 120 depends on the toolkit: name it with --toolkit"},
      {"kokkos", "HOPPER90 ADA89", "", "error: Kokkos takes one target"},
      {"nvcc", "-gencode arch=compute_80,code=compute_86", "",
       "error: \"compute_86\": PTX is that of arch=compute_80"},
      {"nvcc", "-gencode arch=compute_90,code=sm_80", "",
       "error: \"sm_80\": is older than arch=compute_90"},
      {"nvcc", "-gencode arch=compute_90a,code=sm_100", "",
       "error: \"sm_100\": compute_90a makes sm_90a only"},
      {"nvcc", "-gencode arch=compute_100f,code=sm_110f", "",
       "error: \"sm_110f\": is not of the family of compute_100f"},
      {"nvcc", "-gencode arch=compute_90,code=lto_90", "",
       "error: \"lto_90\": LTO IR is for a later link, not for a GPU"},
      {"nvcc", "-gencode", "", "error: \"-gencode\": its value is missing"},
      {"nvcc", "-O3", "", "error: \"-O3\": is not a flag that chooses targets"},
      {"nvcc-arch", "-arch=sm_80 -code=sm_80", "",
       "error: \"sm_80\": -arch=sm_XY together with -code is refused"},
      {"nvcc-arch", "-arch=sm_80,sm_90", "", "error: \"sm_80,sm_90\": sm_XY is wanted"},
      {"nvcc-arch", "-code=sm_80", "", "error: -code without -arch"},
      {"caffe", "-DCUDA_ARCH_NAME=Auto -DCUDA_ARCH_BIN=\"61\"", "",
       "error: CUDA_ARCH_NAME=Auto: CUDA_ARCH_BIN and CUDA_ARCH_PTX count only with "
       "CUDA_ARCH_NAME=Manual"},
      {"conda", "12.4", "",
       "error: CONDA_OVERRIDE_CUDA is the CUDA version of the driver, by which conda chooses a "
       "build; it names no GPU "
       "targets"},
      {"cupy", "current", "",
       "error: current: the GPUs of the machine that builds, which the value does not name: "
       "give them to gpuvet arch plan --gpu"},
  };
  for (const Reading& row : rows)
    EXPECT_EQ(reading(row.system, row.value, row.toolkit), row.builds)
        << row.system << " " << row.value;
}

std::string converted(const std::string& from, const std::string& to, const std::string& value,
                      const std::string& toolkit = {}) {
  auto made = convert_value(system_named(from), system_named(to), value, with(toolkit));
  return made ? made->value : "error: " + made.error().what;
}

TEST(Convert, TheSameTargetsInOtherWords) {
  EXPECT_EQ(converted("cmake", "pytorch", "75-real;86-real;90"), "7.5;8.6;9.0+PTX");
  EXPECT_EQ(converted("pytorch", "nvcc", "8.0;9.0+PTX"),
            "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -gencode "
            "arch=compute_90,code=compute_90");
  EXPECT_EQ(converted("nvcc", "nvcc-arch", "-gencode arch=compute_80,code=[sm_80,compute_80]"),
            "-arch=sm_80");
  EXPECT_EQ(converted("pytorch", "tensorflow", "8.0;9.0+PTX"), "sm_80,compute_90");
  EXPECT_EQ(converted("pytorch", "opencv", "8.0;9.0+PTX"),
            "-DCUDA_ARCH_BIN=\"8.0;9.0\" -DCUDA_ARCH_PTX=\"9.0\"");
  EXPECT_EQ(converted("pytorch", "caffe", "6.1;7.5"),
            "-DCUDA_ARCH_NAME=Manual -DCUDA_ARCH_BIN=\"61 75\" -DCUDA_ARCH_PTX=\"\"");
  EXPECT_EQ(converted("cmake", "kokkos", "90"), "-DKokkos_ARCH_HOPPER90=ON");
  EXPECT_EQ(converted("cmake", "xmake", "80-real;90"), "\"sm_80\", \"sm_90\", \"compute_90\"");
  EXPECT_EQ(converted("cmake", "bazel", "80-real;90"), "sm_80;compute_90:sm_90,compute_90");
  EXPECT_EQ(converted("cmake", "spack", "80;90"), "80,90");
  EXPECT_EQ(converted("cmake", "nvcc", "all-major", "12.0"),
            "-gencode arch=compute_50,code=sm_50 -gencode arch=compute_60,code=sm_60 -gencode "
            "arch=compute_70,code=sm_70 -gencode arch=compute_80,code=sm_80 -gencode "
            "arch=compute_90,code=sm_90 -gencode arch=compute_90,code=compute_90");
  EXPECT_EQ(converted("bazel", "findcuda", "compute_50:sm_52"), "5.2(5.0)");
  EXPECT_EQ(converted("cmake", "llama.cpp", "120a-real"), "120a-real");
}

TEST(Convert, SaysWhatCannotBeExpressed) {
  EXPECT_EQ(converted("cmake", "pytorch", "90-virtual"),
            "error: PyTorch (and extensions) cannot say PTX without machine code (9.0)");
  EXPECT_EQ(converted("cmake", "pytorch", "120f-real"),
            "error: PyTorch (and extensions) cannot say sm_120f: it does not take the suffix f");
  EXPECT_EQ(converted("cmake", "spack", "80-real;90"),
            "error: Spack always adds PTX: machine code alone cannot be said (80)");
  EXPECT_EQ(converted("cmake", "nvcc-arch", "80-real;90"),
            "error: nvcc -arch, -code takes one virtual target, these need compute_80 and "
            "compute_90: use -gencode");
  EXPECT_EQ(converted("cmake", "kokkos", "80;90"),
            "error: Kokkos takes one target: build once for each");
  EXPECT_EQ(converted("cmake", "llama.cpp", "120-real"),
            "error: llama.cpp (ggml) builds 120 as sm_120a: sm_120 alone cannot be said");
  EXPECT_EQ(converted("bazel", "cmake", "compute_80:sm_86"),
            "error: CMake (CUDA language) cannot say sm_86 from compute_80");
  EXPECT_EQ(
      converted("cmake", "bitsandbytes", "80;90-real"),
      "error: bitsandbytes cannot say sm_80, sm_90, PTX of compute_80: 80;90 would build sm_80, "
      "sm_90, PTX of compute_90");
  EXPECT_EQ(converted("cmake", "numba", "80"), "error: Numba cannot say PTX (8.0)");
  EXPECT_EQ(converted("cmake", "conda", "80").substr(0, 30), "error: CONDA_OVERRIDE_CUDA is ");
  EXPECT_EQ(converted("cmake", "nvcc", "85"), "error: no toolkit has a target sm_85");
  EXPECT_EQ(converted("cmake", "nvcc", "70", "13.0"),
            "error: CUDA 13.0 does not know sm_70: CUDA 9.0 to 12.9 do");
}

TEST(Dialect, ReleasesOfAProductTakeTheirOwnTargets) {
  ArchContext context = with();
  auto takes = [&](const char* release, Target target) {
    context.release = parse_version(release);
    return accepts(system_named("pytorch"), target, context);
  };
  EXPECT_FALSE(takes("1.13", {90, 0}));
  EXPECT_TRUE(takes("2.0.1", {90, 0}));
  EXPECT_FALSE(takes("2.1", {90, 'a'}));
  EXPECT_TRUE(takes("2.2.2", {90, 'a'}));
  EXPECT_FALSE(takes("2.6.0", {120, 0}));
  EXPECT_TRUE(takes("2.7.1", {120, 0}));
  EXPECT_TRUE(takes("2.8.0", {101, 0}));
  EXPECT_FALSE(takes("2.9.0", {101, 0}));
  EXPECT_TRUE(takes("2.11", {110, 0}));
}

TEST(Dialect, EveryWordRewriteAndAcceptBelongsToASystem) {
  const ArchTables& tables = *plan_facts().tables;
  std::set<std::string> sets, products, ids;
  for (const ArchSystem& system : tables.systems) {
    EXPECT_TRUE(ids.insert(system.id).second) << system.id;
    sets.insert(system.words);
    products.insert(system.product);
    bool has_hole = system.line.find("{}") != std::string::npos;
    EXPECT_EQ(system.set_by == "file", has_hole) << system.id;
  }
  for (const ArchWord& word : tables.words)
    EXPECT_TRUE(sets.count(word.set)) << word.word;
  for (const ArchRewrite& rewrite : tables.rewrites)
    EXPECT_TRUE(ids.count(rewrite.system)) << rewrite.system;
  for (const ArchAccept& accept : tables.accepts)
    EXPECT_TRUE(products.count(accept.product)) << accept.product;
}

TEST(Dialect, ThereIsOneSystemForEachToolOfTheBuildVariables) {
  auto tools = testing::facts().buildvars();
  ASSERT_TRUE(tools);
  std::set<std::string> known;
  for (const ArchSystem& system : plan_facts().tables->systems)
    EXPECT_TRUE(known.insert(system.tool).second) << system.tool;
  for (const BuildVariable& tool : **tools)
    EXPECT_EQ(known.erase(tool.tool), 1U) << tool.tool;
  EXPECT_TRUE(known.empty());
}

} // namespace
} // namespace gpuvet
