#include "formats/buildlog/build_log_reader.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

BuildLog read(std::string_view text, size_t piece = 7) {
  BuildLogReader reader;
  while (!text.empty()) {
    reader.feed(text.substr(0, piece));
    text.remove_prefix(std::min(piece, text.size()));
  }
  return reader.finish();
}

// "nvcc sm_80 compute_80 x2"
std::string shown(const LoggedSet& set) {
  std::string made = set.compiler;
  for (const LoggedTarget& one : set.targets)
    made += " " + (one.ptx ? compute_name(one.target) : sm_name(one.target));
  if (!set.word.empty()) made += " " + set.word;
  return made + " x" + std::to_string(set.commands) + " @" + std::to_string(set.first_line);
}

std::vector<std::string> sets(std::string_view text) {
  std::vector<std::string> made;
  for (const LoggedSet& set : read(text).sets)
    made.push_back(shown(set));
  return made;
}

using Lines = std::vector<std::string>;

TEST(BuildLog, NvccCommands) {
  EXPECT_EQ(
      sets("x\n[1/3] /usr/local/cuda/bin/nvcc -Xcompiler -fPIC "
           "-gencode arch=compute_80,code=sm_80 "
           "\"--generate-code=arch=compute_90,code=[compute_90,sm_90]\" -x cu -c a.cu -o a.o\n"
           "[2/3] cd b && nvcc -arch=sm_86 -c b.cu\n[3/3] nvcc -arch sm_86 -c c.cu\n"),
      (Lines{"nvcc sm_80 sm_90 compute_90 x1 @2", "nvcc sm_86 compute_86 x2 @3"}));
  EXPECT_EQ(sets("nvcc -arch=compute_75 -code=sm_75,compute_75 a.cu\n"),
            (Lines{"nvcc sm_75 compute_75 x1 @1"}));
  EXPECT_EQ(sets("nvcc -arch=native -c a.cu\nnvcc -c a.cu\nnvcc a.o -o a\n"),
            (Lines{"nvcc native x1 @1", "nvcc x1 @2"}));
}

TEST(BuildLog, StepsOfAVerboseRun) {
  const char* steps =
      "#$ cicc --orig_src_file_name \"a.cu\" -arch compute_80 \"a.ii\" -o \"a.ptx\"\n"
      "#$ ptxas -arch=sm_80 -m64 \"a.ptx\" -o \"a.cubin\"\n"
      "#$ fatbinary -64 \"--image3=kind=elf,sm=80,file=a.cubin\" "
      "\"--image3=kind=ptx,sm=80,file=a.ptx\" --embedded-fatbin=\"a.c\"\n";
  EXPECT_EQ(sets(steps), (Lines{"fatbinary sm_80 compute_80 x1 @3"}));
  EXPECT_EQ(sets(std::string("nvcc -v -arch=sm_80 -c a.cu\n") + steps),
            (Lines{"nvcc sm_80 compute_80 x1 @1"}));
  EXPECT_EQ(sets("ptxas -arch=sm_90 a.ptx -o a.cubin\n"), (Lines{"ptxas sm_90 x1 @1"}));
}

TEST(BuildLog, Clang) {
  EXPECT_EQ(sets("clang++ --cuda-gpu-arch=sm_70 --offload-arch=sm_80 -c a.cu\n"
                 "clang++ --offload-arch=gfx90a -c a.hip\n"),
            (Lines{"clang sm_70 sm_80 x1 @1"}));
  EXPECT_EQ(
      sets("clang++ --cuda-gpu-arch=sm_70 --cuda-include-ptx=all -c a.cu\n"
           "clang++ --cuda-gpu-arch=sm_70 --cuda-gpu-arch=sm_80 --cuda-include-ptx=sm_80 b.cu\n"),
      (Lines{"clang sm_70 compute_70 x1 @1", "clang sm_70 sm_80 compute_80 x1 @2"}));
  // clang -v shows a step for each target.
  EXPECT_EQ(sets("\"/usr/bin/clang\" -cc1 -triple nvptx64-nvidia-cuda -target-cpu sm_70 a.cu\n"
                 "\"/usr/bin/clang\" -cc1 -triple nvptx64-nvidia-cuda -target-cpu sm_80 a.cu\n"
                 "\"/usr/bin/clang\" -cc1 -triple x86_64 -target-cpu x86-64 a.cu\n"),
            (Lines{"clang -cc1 sm_70 sm_80 x2 @1"}));
}

TEST(BuildLog, WhatCMakePrints) {
  BuildLog log = read("-- Automatic GPU detection failed. Building for common architectures.\n"
                      "-- Added CUDA NVCC flags for: -gencode;arch=compute_75,code=sm_75;-gencode;"
                      "arch=compute_86,code=compute_86\n"
                      "cmake -DCMAKE_CUDA_ARCHITECTURES=\"75;86\" -B b\n"
                      "[ 50%] Building CUDA object CMakeFiles/a.dir/a.cu.o\n"
                      "nvcc fatal   : Unsupported gpu architecture 'compute_35'\n");
  ASSERT_EQ(log.announced.size(), 1u);
  EXPECT_EQ(shown(log.announced[0]), "flags sm_75 compute_86 x1 @2");
  ASSERT_EQ(log.asked.size(), 1u);
  EXPECT_EQ(log.asked[0].text, "CMAKE_CUDA_ARCHITECTURES=75;86");
  EXPECT_EQ(log.detected.size(), 1u);
  EXPECT_EQ(log.silent_objects, 1u);
  ASSERT_EQ(log.refused.size(), 1u);
  EXPECT_EQ(log.refused[0].line, 5u);
}

TEST(BuildLog, OtherCompilersSayNothing) {
  BuildLog log = read("clang -arch arm64 -c a.c\ngcc -march=native -c b.c\n"
                      "-- Found CUDA: /usr/local/cuda (found version \"12.4\")\n");
  EXPECT_TRUE(log.sets.empty());
  EXPECT_TRUE(log.asked.empty());
  EXPECT_TRUE(log.announced.empty());
  EXPECT_EQ(log.lines, 3u);
}

TEST(BuildLog, EndlessLinesAreSkipped) {
  std::string text =
      "nvcc -arch=sm_80 -c a.cu\n" + std::string(3 << 20, 'a') + "\nnvcc -arch=sm_80 -c b.cu";
  BuildLog log = read(text, 1 << 16);
  ASSERT_EQ(log.sets.size(), 1u);
  EXPECT_EQ(log.sets[0].commands, 2u);
  EXPECT_EQ(log.lines, 3u);
}

} // namespace
} // namespace gpuvet
