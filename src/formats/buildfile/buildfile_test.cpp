#include "formats/buildfile/buildfile.hpp"
#include "formats/buildfile/readers.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

// "name=value@line:column", with what the setting's flags say.
std::vector<std::string> shown(BuildFileKind kind, std::string_view text) {
  std::vector<std::string> made;
  for (const BuildSetting& setting : read_build_file(kind, text).settings) {
    std::string one = setting.name + "=" + setting.value + "@" + std::to_string(setting.at.line) +
                      ":" + std::to_string(setting.at.column);
    if (!setting.known) one += " unknown";
    if (setting.fallback) one += " default";
    if (!setting.after.empty()) one += " cut" + setting.after;
    if (setting.literal && setting.known) {
      std::string in_file(text.substr(setting.at.begin, setting.at.end - setting.at.begin));
      if (!setting.blank_list) {
        EXPECT_EQ(in_file, setting.value);
      }
    }
    made.push_back(std::move(one));
  }
  return made;
}

using Lines = std::vector<std::string>;

TEST(BuildFile, KindsByPath) {
  EXPECT_EQ(build_file_kind("a/Dockerfile"), BuildFileKind::dockerfile);
  EXPECT_EQ(build_file_kind("docker/cuda.Dockerfile"), BuildFileKind::dockerfile);
  EXPECT_EQ(build_file_kind("/home/x/.bashrc"), BuildFileKind::shell_profile);
  EXPECT_EQ(build_file_kind(".github/workflows/a.yml"), BuildFileKind::github_workflow);
  EXPECT_EQ(build_file_kind("a.yml"), std::nullopt);
  EXPECT_EQ(build_file_kind("Dockerfile.md.txt.cu"), BuildFileKind::dockerfile);
  EXPECT_EQ(build_file_kind("notes.txt"), std::nullopt);
}

TEST(BuildFile, ShellTellsSettingsFromText) {
  EXPECT_EQ(shown(BuildFileKind::shell, "# CUDAARCHS=1\n"
                                        "echo CUDAARCHS=2 '&&' CUDAARCHS=3\n"
                                        "export CUDAARCHS=\"80;90\" # CUDAARCHS=4\n"
                                        "cat <<X >f\nCUDAARCHS=5\nX\n"
                                        "if a; then CUDAARCHS='75' make; fi\n"),
            (Lines{"CUDAARCHS=80;90@3:19", "CUDAARCHS=75@7:23"}));
}

TEST(BuildFile, ShellCutsAtSemicolons) {
  EXPECT_EQ(shown(BuildFileKind::shell, "cmake -DCMAKE_CUDA_ARCHITECTURES=75;80;86 -DX=1\n"),
            (Lines{"CMAKE_CUDA_ARCHITECTURES=75@1:34 cut;80;86"}));
  // A command that ends there is no list.
  EXPECT_EQ(shown(BuildFileKind::shell, "cmake -DCMAKE_CUDA_ARCHITECTURES=75; ls\n"),
            (Lines{"CMAKE_CUDA_ARCHITECTURES=75@1:34"}));
  EXPECT_EQ(shown(BuildFileKind::shell, "CUDAARCHS=75 86 make\n"),
            (Lines{"CUDAARCHS=75@1:11 cut 86"}));
}

TEST(BuildFile, ReferencesAreResolvedInTheFileOnly) {
  EXPECT_EQ(
      shown(BuildFileKind::shell, "A='8.0'\nTORCH_CUDA_ARCH_LIST=$A x\n"
                                  "TORCH_CUDA_ARCH_LIST=$OUTSIDE x\n"
                                  "TORCH_CUDA_ARCH_LIST=\"$A;9.0\" x\n"
                                  "TORCH_CUDA_ARCH_LIST=${OUTSIDE:-8.6} x\n"),
      (Lines{"TORCH_CUDA_ARCH_LIST=8.0@1:4", "TORCH_CUDA_ARCH_LIST=$OUTSIDE@3:22 unknown",
             "TORCH_CUDA_ARCH_LIST=$A;9.0@4:23 unknown", "TORCH_CUDA_ARCH_LIST=8.6@5:33 default"}));
  // Round and round.
  EXPECT_EQ(shown(BuildFileKind::shell, "A=$B\nB=$A\nCUDAARCHS=$A\n").size(), 1u);
}

TEST(BuildFile, Dockerfile) {
  EXPECT_EQ(shown(BuildFileKind::dockerfile, "FROM x\nARG A=80\nENV B=1 \\\n # no\n CUDAARCHS=90\n"
                                             "RUN --mount=type=cache cmake \\\n  -DCMAKE_CUDA_"
                                             "ARCHITECTURES=$A\n"),
            (Lines{"CUDAARCHS=90@5:12", "CMAKE_CUDA_ARCHITECTURES=80@2:7 default"}));
  BuildFile file = read_build_file(BuildFileKind::dockerfile,
                                   "ARG V=12.4.1\nFROM nvidia/cuda:${V}-devel\nRUN apt-get install "
                                   "cuda-nvcc-12-6\n");
  ASSERT_EQ(file.toolkits.size(), 2u);
  EXPECT_EQ(to_string(file.toolkits[0].version), "12.4.1");
  EXPECT_EQ(file.toolkits[0].at.line, 2u);
  EXPECT_EQ(to_string(file.toolkits[1].version), "12.6");
}

TEST(BuildFile, CMake) {
  EXPECT_EQ(
      shown(BuildFileKind::cmake, "#[[ set(CMAKE_CUDA_ARCHITECTURES 1) ]]\n"
                                  "set(CMAKE_CUDA_ARCHITECTURES 75 86 CACHE STRING \"x\")\n"
                                  "set_target_properties(a PROPERTIES X 1 CUDA_ARCHITECTURES "
                                  "\"80;90\" Y 2)\n"
                                  "message(\"-gencode arch=compute_1,code=sm_1\")\n"),
      (Lines{"CMAKE_CUDA_ARCHITECTURES=75;86@2:30 default", "CUDA_ARCHITECTURES=80;90@3:60"}));
  EXPECT_TRUE(read_build_file(BuildFileKind::cmake, "if(CMAKE_VERSION VERSION_LESS 3.24)\nendif()")
                  .asks_cmake_version);
}

TEST(BuildFile, Presets) {
  EXPECT_EQ(shown(BuildFileKind::cmake_presets,
                  R"({"a":[{"cacheVariables":{"CMAKE_CUDA_ARCHITECTURES":"75","CUDA_ARCH_BIN":
                  {"type":"STRING","value":"8.6"}},"description":"CUDAARCHS=1"}]})"),
            (Lines{"CMAKE_CUDA_ARCHITECTURES=75@1:54", "CUDA_ARCH_BIN=8.6@2:45"}));
}

TEST(BuildFile, PythonIgnoresDocumentation) {
  EXPECT_EQ(shown(BuildFileKind::python, "'''os.environ[\"CUDAARCHS\"] = \"1\"'''\n"
                                         "os.environ['CUDAARCHS'] = '80'\n"
                                         "x = ['-gencode', 'arch=compute_80,code=sm_80']\n"
                                         "y = '-gencode=arch=compute_{},code=sm_{}'.format(a, a)\n"
                                         "z = f'-arch=sm_{a}'\n"
                                         "raise E('use -gencode arch=compute_1,code=sm_1')\n"),
            (Lines{"CUDAARCHS=80@2:28", "-gencode=arch=compute_80,code=sm_80@3:19",
                   "-arch=sm_$a}@5:13 unknown"}));
}

TEST(BuildFile, YamlScalarsWithTheirPaths) {
  std::vector<std::string> made;
  for (const YamlScalar& one : yaml_scalars("a:\n  b: 1 # no\n  c:\n  - x\n  - y: \"2\"\n    z: |\n"
                                            "      p\n      q\nd: [e, {f: 'g'}]\n"))
    made.push_back(one.path + "=" + one.value.text.text);
  EXPECT_EQ(made, (Lines{"a/b=1", "a/c/-=x", "a/c/-/y=2", "a/c/-/z=p\nq\n", "d/-=e", "d/f=g"}));
}

TEST(BuildFile, GithubMatrix) {
  EXPECT_EQ(
      shown(BuildFileKind::github_workflow,
            "jobs:\n  a:\n    strategy:\n      matrix:\n        arch: [\"8.0\", '86']\n    steps:\n"
            "    - run: echo\n      env:\n        TORCH_CUDA_ARCH_LIST: ${{ matrix.arch }}\n"),
      (Lines{"TORCH_CUDA_ARCH_LIST=8.0@5:17", "TORCH_CUDA_ARCH_LIST=86@5:24"}));
}

TEST(BuildFile, DeepNestingEnds) {
  std::string deep;
  for (int i = 0; i < 3000; ++i)
    deep += "[{\"a\": ";
  EXPECT_TRUE(read_build_file(BuildFileKind::cmake_presets, deep).settings.empty());
  EXPECT_TRUE(read_build_file(BuildFileKind::github_workflow, deep).settings.empty());
  std::string nested = "CUDAARCHS=1";
  for (int i = 0; i < 20; ++i)
    nested = "bash -c '" + nested + "'";
  read_build_file(BuildFileKind::shell, nested);
}

} // namespace
} // namespace gpuvet
