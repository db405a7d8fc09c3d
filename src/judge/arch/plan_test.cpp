#include "judge/arch/plan_report.hpp"
#include "judge/arch/testing/arch_facts.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using testing::capability;
using testing::plan_facts;
using testing::system_named;

PlanRequest request_for(const std::vector<uint32_t>& capabilities, const std::string& toolkit = {},
                        const std::vector<std::string>& systems = {}) {
  PlanRequest request;
  for (uint32_t sm : capabilities)
    request.devices.push_back(capability(sm));
  if (!toolkit.empty()) request.toolkit = &testing::toolkit(toolkit);
  for (const std::string& id : systems)
    request.systems.push_back({&system_named(id), std::nullopt});
  return request;
}

std::string list_of(const Plan& plan) {
  return codes_text(plan.codes);
}

TEST(Plan, OneEntryForEachCapabilityAndPtxOfTheLast) {
  Plan plan = make_plan(request_for({90, 75, 89, 75}), plan_facts());
  EXPECT_EQ(list_of(plan), "sm_75, sm_89, sm_90, PTX of compute_90");
  EXPECT_TRUE(stands(plan));
  EXPECT_EQ(plan.first_toolkit, "11.8");
  EXPECT_EQ(plan.last_toolkit, "");
}

TEST(Plan, MinSizeUsesTheLowestOfEachMajor) {
  PlanRequest request = request_for({75, 86, 89, 80, 90, 121, 120});
  request.min_size = true;
  Plan plan = make_plan(request, plan_facts());
  EXPECT_EQ(list_of(plan), "sm_75, sm_80, sm_90, sm_120, PTX of compute_120");
  EXPECT_EQ(run_text(plan.runs[1]), "compat");
}

TEST(Plan, TegraTakesNoCodeButItsOwn) {
  PlanRequest request = request_for({86, 87});
  request.min_size = true;
  EXPECT_EQ(list_of(make_plan(request, plan_facts())), "sm_86, sm_87, PTX of compute_87");
}

TEST(Plan, AnOlderToolkitServesByALowerMinor) {
  Plan plan = make_plan(request_for({89}, "11.1"), plan_facts());
  EXPECT_EQ(list_of(plan), "sm_86, PTX of compute_86");
  EXPECT_EQ(run_text(plan.runs[0]), "compat");
  EXPECT_EQ(list_of(make_plan(request_for({86}, "11.0"), plan_facts())),
            "sm_80, PTX of compute_80");
}

TEST(Plan, RefusesWhatTheToolkitCannotDo) {
  Plan newer = make_plan(request_for({120}, "12.4"), plan_facts());
  ASSERT_EQ(newer.shortcomings.size(), 1U);
  EXPECT_EQ(newer.shortcomings[0].what,
            "CUDA 12.4 does not know 12.0: CUDA 12.8 is the first that compiles for it");
  EXPECT_EQ(newer.shortcomings[0].fixes[0], "build with CUDA 12.8 or newer");
  EXPECT_EQ(newer.shortcomings[0].fixes[1],
            "or give it PTX of 9.0, the newest of CUDA 12.4, which a driver that knows the GPU "
            "compiles at the first start: -gencode arch=compute_90,code=compute_90");
  Plan dropped = make_plan(request_for({70, 120}, "13.0"), plan_facts());
  ASSERT_EQ(dropped.shortcomings.size(), 1U);
  EXPECT_EQ(dropped.shortcomings[0].what,
            "CUDA 13.0 has dropped 7.0: CUDA 12.9 is the last that compiles for it");
  EXPECT_EQ(dropped.shortcomings[0].fixes[0],
            "build with CUDA 12.8 to 12.9, which serves them all");
  EXPECT_FALSE(stands(dropped));
}

TEST(Plan, ChoosesAToolkitThatServesAll) {
  EXPECT_EQ(make_plan(request_for({70, 120}), plan_facts()).toolkit->version, "12.9");
  Plan none = make_plan(request_for({70, 110}), plan_facts());
  ASSERT_EQ(none.shortcomings.size(), 1U);
  EXPECT_EQ(none.shortcomings[0].what, "no toolkit compiles for all of them: 7.0 takes CUDA 9.0 to "
                                       "12.9, 11.0 takes CUDA 13.0 or newer");
  PlanRequest named = request_for({70, 110}, "13.0");
  EXPECT_EQ(make_plan(named, plan_facts()).shortcomings[0].fixes[0],
            "no toolkit serves them all: build a second time with CUDA 9.0 to 12.9, for 7.0");
}

TEST(Plan, WithoutPtx) {
  PlanRequest request = request_for({75, 86});
  request.ptx = false;
  EXPECT_EQ(list_of(make_plan(request, plan_facts())), "sm_75, sm_86");
}

std::string value_for(const std::string& system, const std::vector<uint32_t>& capabilities,
                      const std::string& toolkit = {}) {
  Plan plan = make_plan(request_for(capabilities, toolkit, {system}), plan_facts());
  if (plan.systems.empty()) return "no plan";
  const SystemPlan& made = plan.systems[0];
  return made.shortcomings.empty() ? made.value : "short: " + made.shortcomings[0].what;
}

TEST(Plan, EachSystemGetsItsOwnWords) {
  EXPECT_EQ(value_for("cmake", {75, 86}), "75-real;86");
  EXPECT_EQ(value_for("pytorch", {75, 86}), "7.5;8.6+PTX");
  EXPECT_EQ(value_for("tensorflow", {75, 86}), "sm_75,compute_86");
  EXPECT_EQ(value_for("tensorflow", {90, 100, 120}), "sm_90,sm_100,compute_120");
  EXPECT_EQ(value_for("opencv", {75, 86}), "-DCUDA_ARCH_BIN=\"7.5;8.6\" -DCUDA_ARCH_PTX=\"8.6\"");
  EXPECT_EQ(value_for("kokkos", {90}), "-DKokkos_ARCH_HOPPER90=ON");
  EXPECT_EQ(value_for("kokkos", {86, 90}),
            "short: Kokkos takes one target: build once for each GPU");
  EXPECT_EQ(value_for("nvcc-arch", {90}), "-arch=sm_90");
  EXPECT_EQ(value_for("numba", {90}), "9.0");
}

TEST(Plan, KnowsWhatSystemsMakeOfTheirEntries) {
  // 120 becomes 120a, which 12.1 does not run: it needs an entry of its own.
  PlanRequest request = request_for({120, 121}, "12.9", {"llama.cpp", "cmake"});
  request.min_size = true;
  Plan plan = make_plan(request, plan_facts());
  EXPECT_EQ(plan.systems[0].value, "120-real;121");
  EXPECT_EQ(plan.systems[1].value, "120");
  // FlashAttention has nothing for 8.6 and 8.9, which run its code for 8.0.
  EXPECT_EQ(value_for("flash-attention", {86, 89, 90}), "80;90");
  EXPECT_EQ(value_for("flash-attention", {75, 90}),
            "short: FlashAttention makes no machine code for 7.5");
  EXPECT_EQ(value_for("vllm", {70}, "12.8"), "7.0+PTX");
  EXPECT_EQ(value_for("vllm", {103}, "13.0"), "10.0+PTX");
}

TEST(Plan, AReleaseOfAFrameworkMayNotTakeATarget) {
  PlanRequest request = request_for({120});
  request.systems.push_back({&system_named("pytorch"), parse_version("2.6")});
  Plan plan = make_plan(request, plan_facts());
  ASSERT_EQ(plan.systems.size(), 1U);
  ASSERT_EQ(plan.systems[0].shortcomings.size(), 1U);
  EXPECT_EQ(plan.systems[0].shortcomings[0].what,
            "PyTorch (and extensions) 2.6 makes no machine code for 12.0");
  EXPECT_EQ(plan.systems[0].shortcomings[0].fixes[0], "torch 2.7 and newer take 12.0");
  request.systems[0].release = std::nullopt;
  Plan any = make_plan(request, plan_facts());
  ASSERT_FALSE(any.systems[0].notes.empty());
  EXPECT_EQ(any.systems[0].notes.back(), "for torch 2.7 and newer");
}

TEST(Plan, TargetsWithASuffix) {
  PlanRequest request = request_for({86, 90, 100, 103}, "13.0", {"cmake", "pytorch", "nvcc"});
  request.suffix = 'a';
  Plan own = make_plan(request, plan_facts());
  EXPECT_EQ(list_of(own), "sm_86, sm_90a, sm_100a, sm_103a, PTX of compute_103");
  EXPECT_EQ(own.systems[0].value, "86-real;90a-real;100a-real;103a-real;103-virtual");
  EXPECT_EQ(own.systems[1].value, "8.6;9.0a;10.0a;10.3a;10.3+PTX");
  EXPECT_TRUE(stands(own));
  request.suffix = 'f';
  request.min_size = true;
  Plan family = make_plan(request, plan_facts());
  EXPECT_EQ(list_of(family), "sm_86, sm_90, sm_100f, PTX of compute_100");
  EXPECT_EQ(family.systems[0].value, "86-real;90-real;100f-real;100-virtual");
  EXPECT_EQ(run_text(family.runs[3]), "compat");
  // CMake 4.0.0 refuses the suffix f; 12.8 has none.
  request.cmake = parse_version("4.0.0");
  EXPECT_FALSE(stands(make_plan(request, plan_facts())));
  request.toolkit = &testing::toolkit("12.8");
  request.devices.pop_back();
  EXPECT_EQ(list_of(make_plan(request, plan_facts())), "sm_86, sm_90, sm_100, PTX of compute_100");
}

TEST(Plan, FutureIsRefusedWhereNoPtxCanBeHad) {
  PlanRequest request = request_for({90}, "", {"numba"});
  EXPECT_TRUE(stands(make_plan(request, plan_facts())));
  request.ptx_wanted = true;
  EXPECT_FALSE(stands(make_plan(request, plan_facts())));
}

TEST(Plan, CMakeVersionsAndTheSuffixes) {
  const std::vector<CMakeFeature>& features = *plan_facts().cmake;
  const std::string plain = "75-real;90", own = "80-real;90a-real", family = "120f-real";
  auto complains = [&](const char* version, const std::string& value, const char* system) {
    return !cmake_complaint(system_named(system), value, *parse_version(version), features).empty();
  };
  EXPECT_TRUE(complains("3.17", plain, "cmake"));
  EXPECT_FALSE(complains("3.18", plain, "cmake"));
  EXPECT_TRUE(complains("3.19", plain, "cudaarchs"));
  EXPECT_FALSE(complains("3.20", plain, "cudaarchs"));
  EXPECT_FALSE(complains("3.23", own, "cmake"));
  EXPECT_TRUE(complains("3.24.3", own, "cmake"));
  EXPECT_FALSE(complains("3.25", own, "cmake"));
  EXPECT_FALSE(complains("3.23", family, "cmake"));
  EXPECT_TRUE(complains("3.24", family, "cmake"));
  EXPECT_TRUE(complains("3.31.7", family, "cmake"));
  EXPECT_FALSE(complains("3.31.8", family, "cmake"));
  EXPECT_TRUE(complains("4.0.1", family, "cmake"));
  EXPECT_FALSE(complains("4.0.2", family, "cmake"));
  EXPECT_FALSE(complains("4.2", family, "cmake"));
}

TEST(PlanSizes, MeasuredWhereTheEarlierBuildHasTheTarget) {
  ScanResult earlier;
  ScannedFile file;
  for (const char* word : {"sm_80", "sm_90", "compute_90"}) {
    Image image;
    image.kind = word[0] == 's' ? ImageKind::cubin : ImageKind::ptx;
    image.target = *parse_target(word);
    image.header_size = 64;
    image.payload_size = image.kind == ImageKind::ptx ? 936 : 1936;
    Container container;
    container.images.push_back(image);
    file.binary.containers.push_back(container);
  }
  earlier.files.push_back(file);
  CodeSet codes = normalised({sass_code({80, 0}), sass_code({89, 0}), ptx_code({120, 0})});
  PlannedSizes sizes = planned_sizes(codes, earlier);
  ASSERT_EQ(sizes.entries.size(), 3U);
  EXPECT_EQ(sizes.entries[0].bytes, 2000U);
  EXPECT_EQ(sizes.entries[0].like, "");
  EXPECT_EQ(sizes.entries[1].like, "sm_90");
  EXPECT_EQ(sizes.entries[2].bytes, 1000U);
  EXPECT_EQ(sizes.entries[2].like, "compute_90");
  EXPECT_EQ(sizes.total, 5000U);
  EXPECT_EQ(sizes.now, 5000U);
  EXPECT_TRUE(sizes.whole);
}

std::string line_for(const std::string& system, const std::string& value, Shell shell) {
  auto lines = value_lines(system_named(system), value, shell);
  return lines ? (*lines)[0] : "error: " + lines.error().what;
}

TEST(Shell, EachOneQuotesInItsOwnWay) {
  EXPECT_EQ(line_for("cmake", "75-real;86", Shell::bash),
            "cmake -B build -DCMAKE_CUDA_ARCHITECTURES=\"75-real;86\"");
  EXPECT_EQ(line_for("cmake", "86", Shell::bash), "cmake -B build -DCMAKE_CUDA_ARCHITECTURES=86");
  EXPECT_EQ(line_for("cmake", "75-real;86", Shell::powershell),
            "cmake -B build \"-DCMAKE_CUDA_ARCHITECTURES=75-real;86\"");
  EXPECT_EQ(line_for("cmake", "75-real;86", Shell::cmd),
            "cmake -B build \"-DCMAKE_CUDA_ARCHITECTURES=75-real;86\"");
  EXPECT_EQ(line_for("cmake", "75-real;86", Shell::cmake_preset),
            "\"cacheVariables\": {\"CMAKE_CUDA_ARCHITECTURES\": \"75-real;86\"}");
  EXPECT_EQ(line_for("cmake", "75-real;86", Shell::dockerfile),
            "RUN cmake -B build -DCMAKE_CUDA_ARCHITECTURES=\"75-real;86\"");
  EXPECT_EQ(line_for("cmake", "75-real;86", Shell::yaml),
            "run: cmake -B build -DCMAKE_CUDA_ARCHITECTURES=\"75-real;86\"");
  EXPECT_EQ(line_for("pytorch", "7.5;8.6+PTX", Shell::bash),
            "export TORCH_CUDA_ARCH_LIST=\"7.5;8.6+PTX\"");
  EXPECT_EQ(line_for("pytorch", "7.5;8.6+PTX", Shell::fish),
            "set -gx TORCH_CUDA_ARCH_LIST \"7.5;8.6+PTX\"");
  EXPECT_EQ(line_for("pytorch", "7.5;8.6+PTX", Shell::powershell),
            "$env:TORCH_CUDA_ARCH_LIST = \"7.5;8.6+PTX\"");
  EXPECT_EQ(line_for("pytorch", "7.5;8.6+PTX", Shell::cmd),
            "set \"TORCH_CUDA_ARCH_LIST=7.5;8.6+PTX\"");
  EXPECT_EQ(line_for("pytorch", "7.5;8.6+PTX", Shell::dockerfile),
            "ENV TORCH_CUDA_ARCH_LIST=\"7.5;8.6+PTX\"");
  EXPECT_EQ(line_for("pytorch", "7.5;8.6+PTX", Shell::yaml),
            "TORCH_CUDA_ARCH_LIST: \"7.5;8.6+PTX\"");
  EXPECT_EQ(line_for("nvcc", "-gencode arch=compute_80,code=sm_80", Shell::bash),
            "nvcc -gencode arch=compute_80,code=sm_80");
  EXPECT_EQ(line_for("nvcc", "-gencode arch=compute_80,code=sm_80", Shell::powershell),
            "nvcc -gencode \"arch=compute_80,code=sm_80\"");
  EXPECT_EQ(line_for("opencv", "-DCUDA_ARCH_BIN=\"7.5;8.6\" -DCUDA_ARCH_PTX=\"\"", Shell::bash),
            "cmake -B build -DWITH_CUDA=ON -DCUDA_ARCH_BIN=\"7.5;8.6\" -DCUDA_ARCH_PTX=\"\"");
  EXPECT_EQ(line_for("opencv", "-DCUDA_ARCH_BIN=\"7.5;8.6\" -DCUDA_ARCH_PTX=\"8.6\"",
                     Shell::cmake_preset),
            "\"cacheVariables\": {\"CUDA_ARCH_BIN\": \"7.5;8.6\", \"CUDA_ARCH_PTX\": \"8.6\"}");
  EXPECT_EQ(line_for("kokkos", "-DKokkos_ARCH_HOPPER90=ON", Shell::bash),
            "cmake -B build -DKokkos_ENABLE_CUDA=ON -DKokkos_ARCH_HOPPER90=ON");
  EXPECT_EQ(line_for("spack", "80,90", Shell::bash), "spack install NAME +cuda cuda_arch=80,90");
  EXPECT_EQ(line_for("bazel", "sm_80;sm_90", Shell::bash),
            "bazel build --@rules_cuda//cuda:archs=\"sm_80;sm_90\" //...");
  EXPECT_EQ(line_for("spack", "80,90", Shell::cmake_preset),
            "error: a CMake preset cannot give Spack its targets");
  EXPECT_EQ(line_for("xmake", "\"sm_80\"", Shell::fish), "add_cugencodes(\"sm_80\")");
}

TEST(Shell, SpecialCharactersStayThemselves) {
  EXPECT_EQ(shell_word(Shell::bash, "a$b\"c`d\\"), "\"a\\$b\\\"c\\`d\\\\\"");
  EXPECT_EQ(shell_word(Shell::powershell, "a$b\"c"), "\"a`$b`\"c\"");
  EXPECT_EQ(shell_word(Shell::cmd, "100%"), "\"100%%\"");
  EXPECT_EQ(shell_word(Shell::bash, ""), "\"\"");
}

} // namespace
} // namespace gpuvet
