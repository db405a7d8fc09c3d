// What a log may do to the finder: near matches, repetitions, lines that are given twice.
#include "facts/facts.hpp"
#include "judge/explain/messages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace gpuvet {
namespace {

const SignatureTables& tables() {
  static const Facts facts;
  auto found = facts.signatures();
  if (!found) throw std::runtime_error(found.error().where + ": " + found.error().what);
  return **found;
}

bool looks_for(const MessageFinder& finder, const std::string& literal) {
  std::vector<std::string> literals = finder.prefilter();
  return std::find(literals.begin(), literals.end(), literal) != literals.end();
}

TEST(MessageFinder, ALiteralInEveryLineIsNoLongerLookedFor) {
  MessageFinder finder(tables());
  const std::string literal = "Unsupported gpu architecture";
  ASSERT_TRUE(looks_for(finder, literal));
  for (uint64_t i = 1; i <= MessageFinder::kMostTries; ++i)
    finder.line("a near match of Unsupported gpu architecture", i);
  EXPECT_FALSE(looks_for(finder, literal));
  EXPECT_GT(finder.changes(), 0U);
  EXPECT_TRUE(finder.messages().empty());
  EXPECT_TRUE(looks_for(finder, "The NVIDIA driver on your system is too old"));
}

TEST(MessageFinder, CluesDoNotSlowTheReaderDown) {
  MessageFinder finder(tables());
  for (const Signature& row : tables().signatures) {
    if (row.kind != MessageKind::clue) continue;
    for (const std::string& literal : row.literal) {
      bool of_error =
          std::any_of(tables().signatures.begin(), tables().signatures.end(), [&](const auto& s) {
            return s.kind != MessageKind::clue &&
                   std::find(s.literal.begin(), s.literal.end(), literal) != s.literal.end();
          });
      EXPECT_EQ(looks_for(finder, literal),
                of_error && literal.size() >= MessageFinder::kPrefilterLeast)
          << literal;
    }
  }
}

// Lines of ordinary builds: none may need a regular expression.
TEST(MessageFinder, OrdinaryLinesHoldNoLiteral) {
  LiteralSet set(MessageFinder(tables()).prefilter());
  for (std::string_view line :
       {"[12/4000] Building CXX object CMakeFiles/torch_cpu.dir/aten/src/ATen/native/Foo.cpp.o",
        "[13/4000] Building CUDA object CMakeFiles/torch_cuda.dir/aten/src/ATen/native/cuda/A.cu.o",
        "/usr/bin/c++ -DNDEBUG -I/usr/local/cuda/include -Wall -Werror=return-type -O3 -c a.cpp",
        "/usr/local/cuda/bin/nvcc -gencode arch=compute_80,code=sm_80 -Xcompiler -fPIC -c a.cu",
        "/usr/local/cuda-12.4/bin/nvcc -forward-unknown-to-host-compiler -std=c++17 -x cu -c a.cu",
        "ptxas info    : Used 40 registers, 388 bytes cmem[0]",
        "a.cpp:123:45: warning: unused parameter 'x' [-Wunused-parameter]",
        "-- Found CUDAToolkit: /usr/local/cuda/include (found version \"12.4.131\")",
        "-- Performing Test HAVE_FLAG_SEARCH_PATHS_FIRST - Success",
        "Collecting nvidia-cudnn-cu12==9.1.0.70 (from torch)",
        "  Downloading nvidia_cublas_cu12-12.4.5.8-py3-none-manylinux2014_x86_64.whl (363.4 MB)",
        "Requirement already satisfied: numpy in /usr/lib/python3/dist-packages (1.26.4)",
        "make[2]: Entering directory '/build/llama.cpp'",
        "ar: creating libfoo.a",
        "Linking CXX shared library lib/libtorch_cuda.so",
        "copying torch/version.py -> build/lib",
        "INFO: From Compiling external/com_google_absl/absl/strings/str_cat.cc:",
        "Step 5/12 : RUN pip install -r requirements.txt",
        "Epoch 3: loss=0.345, 12.3 it/s",
        "Get:5 http://archive.ubuntu.com/ubuntu jammy/main amd64 libstdc++6 amd64 12.3.0 [699 kB]"})
    EXPECT_EQ(set.find(line), std::string_view::npos)
        << line << ": " << line.substr(set.find(line));
}

TEST(MessageFinder, ALineThatIsGivenTwiceCountsOnce) {
  MessageFinder finder(tables());
  const std::string line = "nvcc fatal   : Unsupported gpu architecture 'compute_120'";
  finder.line(line, 3);
  finder.line(line, 9);
  finder.line(line, 9); // the end of a long text is read again
  finder.line(line, 3);
  ASSERT_EQ(finder.messages().size(), 1U);
  EXPECT_EQ(finder.messages()[0].count, 2U);
  EXPECT_EQ(finder.messages()[0].lines[0].number, 3U);
}

} // namespace
} // namespace gpuvet
