#include "base/regex.hpp"
#include "judge/texts/facts_in_text.hpp"
#include "judge/texts/forms.hpp"
#include "judge/texts/testing/texts.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gpuvet {
namespace {

using testing::facts_of;
using testing::text_tables;
using testing::values;
using Texts = std::vector<std::string>;

const TextSection& section(std::string_view id) {
  for (const TextSection& row : text_tables().sections)
    if (row.id == id) return row;
  throw std::runtime_error("no such section");
}

// A log that has the words of a fact in every line is not read to its end.
TEST(FactsInText, WhatTellsNothingNewAnyMoreIsLeftUnread) {
  constexpr uint64_t kLines = 20000;
  const std::string line = "-- Found Python: /usr/bin/python3.10 (found version \"3.10.12\")";
  const std::string newer = "-- Found Python: /usr/bin/python3.11 (found version \"3.11.2\")";
  FactsInText reader(text_tables());
  uint64_t number = 0;
  while (number < kLines)
    reader.line(line, ++number);
  EXPECT_TRUE(reader.idle_literals().empty()) << "the first line told something";
  reader.line(newer, ++number);
  EXPECT_EQ(reader.facts().size(), 2U);
  while (number < 2 * kLines)
    reader.line(line, ++number);
  EXPECT_TRUE(reader.idle_literals().empty()) << "there was news in between";
  reader.line(line, ++number);
  EXPECT_FALSE(reader.idle_literals().empty());
  EXPECT_GT(reader.changes(), 0U);
  const std::string last = "-- Found Python: /usr/bin/python3.12 (found version \"3.12.1\")";
  reader.line(last, ++number);
  EXPECT_EQ(reader.facts().size(), 2U);
  reader.look_again(); // at the end of the log
  reader.line(last, ++number);
  EXPECT_EQ(reader.facts().size(), 3U);
}

// --- the table itself ---------------------------------------------------------------------------

TEST(TextTable, EveryPatternIsOne) {
  auto is_one = [](const std::string& pattern) {
    auto made = Regex::compile(pattern);
    EXPECT_TRUE(made) << pattern << ": " << (made ? "" : made.error().what);
  };
  for (const TextRow& row : text_tables().rows)
    is_one(row.pattern);
  for (const TextVeto& row : text_tables().vetoes)
    is_one(row.pattern);
  for (const TextSection& row : text_tables().sections) {
    is_one(row.begins);
    if (!row.ends.empty()) is_one(row.ends);
  }
}

TEST(TextTable, EveryExampleGivesWhatItsRowSays) {
  EXPECT_GE(text_tables().rows.size(), 180U);
  for (const TextRow& row : text_tables().rows) {
    std::vector<std::string> places = row.in.empty() ? std::vector<std::string>{""} : row.in;
    for (const std::string& place : places) {
      FactsInText reader(text_tables());
      if (!place.empty()) reader.line(section(place).example, 1);
      reader.line(row.example, 2);
      std::vector<std::string> given;
      for (const KnownFact& fact : reader.facts())
        if (fact.where.starts_with("line 2")) given.push_back(fact.name + "=" + fact.value);
      std::vector<std::string> expected = row.expect;
      std::sort(expected.begin(), expected.end());
      std::sort(given.begin(), given.end());
      EXPECT_EQ(given, expected) << row.example;
      bool all_said = std::all_of(reader.facts().begin(), reader.facts().end(), only_said);
      EXPECT_TRUE(!row.said || all_said) << row.example;
    }
  }
}

TEST(TextTable, EverySectionBeginsWithItsExample) {
  for (const TextSection& row : text_tables().sections) {
    auto begins = Regex::compile(row.begins);
    ASSERT_TRUE(begins) << row.id;
    EXPECT_TRUE(begins->found_in(row.example)) << row.id;
    bool literal = false;
    for (const std::string& text : row.literals)
      literal |= row.example.find(text) != std::string::npos;
    EXPECT_TRUE(literal) << row.id;
  }
}

TEST(TextTable, EveryVetoHoldsItsExampleBack) {
  for (const TextVeto& row : text_tables().vetoes) {
    auto regex = Regex::compile(row.pattern);
    ASSERT_TRUE(regex) << row.pattern;
    EXPECT_TRUE(regex->found_in(row.example)) << row.example;
    EXPECT_EQ(facts_of(row.example), Texts()) << row.example;
  }
}

TEST(TextTable, FarLiteralsAreRareWords) {
  std::vector<std::string> literals = fact_literals(text_tables());
  EXPECT_GE(literals.size(), 100U);
  for (const char* common : {"torch", "Python ", "CUDA ", "GCC ", "name", "echo ", "g++-", " => "})
    EXPECT_EQ(std::count(literals.begin(), literals.end(), common), 0) << common;
}

// --- forms --------------------------------------------------------------------------------------

TEST(TextForms, Numbers) {
  auto form = [](const char* value, const char* name) {
    return in_form(value, name, text_tables()).value_or("none");
  };
  EXPECT_EQ(form("118", "tag"), "11.8");
  EXPECT_EQ(form("92", "tag"), "9.2");
  EXPECT_EQ(form("12", "tag"), "12");
  EXPECT_EQ(form("130", "tag"), "13.0");
  EXPECT_EQ(form("x", "tag"), "none");
  EXPECT_EQ(form("11040", "cuda"), "11.4");
  EXPECT_EQ(form("9020", "cuda"), "9.2");
  EXPECT_EQ(form("12", "cuda"), "none");
  EXPECT_EQ(form("1201", "hundreds"), "12.1");
  EXPECT_EQ(form("8902", "cudnn"), "8.9.2");
  EXPECT_EQ(form("91002", "cudnn"), "9.10.2");
  EXPECT_EQ(form("90", "cc"), "9.0");
  EXPECT_EQ(form("120", "cc"), "12.0");
  EXPECT_EQ(form("311", "py"), "3.11");
  EXPECT_EQ(form("38", "py"), "3.8");
  EXPECT_EQ(form("NVIDIA GeForce ...", "gpu"), "none");
  EXPECT_EQ(form("40960", "MiB"), "42949672960");
  EXPECT_EQ(form("40960 MiB", "MiB"), "42949672960");
  EXPECT_EQ(form("99999999999999999999", "MiB"), "none");
  EXPECT_EQ(form("CentOS Linux", "os"), "centos");
  EXPECT_EQ(form("1", "no-such-form"), "none");
}

TEST(TextForms, Sizes) {
  EXPECT_EQ(size_in_bytes("64M", 0), 64ULL << 20);
  EXPECT_EQ(size_in_bytes("1.5G", 0), 3ULL << 29);
  EXPECT_EQ(size_in_bytes("251Gi", 0), 251ULL << 30);
  EXPECT_EQ(size_in_bytes("8 GB", 0), 8ULL << 30);
  EXPECT_EQ(size_in_bytes("65536", 1024), 64ULL << 20);
  EXPECT_FALSE(size_in_bytes("65536", 0));
  EXPECT_FALSE(size_in_bytes("many", 1));
  EXPECT_FALSE(size_in_bytes("5 lines", 1));
  EXPECT_FALSE(size_in_bytes("99999999999999P", 1));
}

// --- what is no fact ----------------------------------------------------------------------------

TEST(FactsInText, DemandsAreNoFacts) {
  for (const char* line : {
           "Collecting torch==2.1.0",
           "Collecting torch>=2.0 (from -r requirements.txt (line 3))",
           "  Downloading torch-2.1.0-cp310-cp310-manylinux1_x86_64.whl (670.2 MB)",
           "  Using cached nvidia_cudnn_cu12-8.9.2.26-py3-none-manylinux1_x86_64.whl (731.7 MB)",
           "INFO: pip is looking at multiple versions of torch to determine which version",
           "torchvision 0.15.1 requires torch 2.0.0",
           "Found existing installation: torch 2.0.1",
           "    Uninstalling torch-2.0.1:",
           "ERROR: No matching distribution found for torch==2.1.0",
           "pip install torch==2.1.0 --index-url https://download.pytorch.org/whl/cu118",
           "This needs driver 535.104.05 or newer",
           "please upgrade to CUDA 12.4",
           "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.2",
           "You need Python 3.10 or newer",
           "supports CUDA 11.8 and 12.1",
           "it worked on an RTX 4090 with torch 2.2.0 before",
           "PyTorch version: N/A",
           "[GCC 9.4.0] on linux",
           "ROCM used to build PyTorch: 6.2.41133-dd7f95766",
           "PyTorch 7.5 is how it spells the capability",
           "The fix was released in vllm 0.4.1.",
           "After upgrading from torch 2.0.1 to torch 2.1.0 the error appears.",
           "tensor on device cuda:8 and model on CUDA:10",
           "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; "
           "23.65 "
           "GiB total capacity; 21.00 GiB already allocated)",
           "Nvidia driver version: Could not collect",
           "CUDA runtime version: Could not collect",
           "cuDNN version: Could not collect",
           "GCC version:  gcc version 12.3.0 (Ubuntu 12.3.0-1ubuntu1~22.04)",
           "[12/340] Building CUDA object CMakeFiles/x.dir/torch_2.1.cu.o",
           "nvcc fatal   : Unsupported gpu architecture 'compute_89'",
           "error: CUDA 12.1 is what this error mentions",
           "-- Found CUDA: /usr/local/cuda (Required is at least version \"10.2\")",
           "GPU 0 has a total capacity of 23.65 GiB of which 12.50 MiB is free.",
           "deprecated since CUDA 11.0",
           "in torch-2.1.0/setup.py line 12",
           "driver 5 of 8 finished",
           "Name: resnet50",
           "a100.example.org is up",
           "python 3.10.py",
       })
    EXPECT_EQ(facts_of(line), Texts()) << line;
}

TEST(FactsInText, TheCeilingOfTheDriverIsNoToolkit) {
  const char* text =
      "| NVIDIA-SMI 535.104.05   Driver Version: 535.104.05   CUDA Version: 12.2     |";
  EXPECT_EQ(facts_of(text), Texts({"driver.cuda=12.2", "driver.version=535.104.05"}));
}

TEST(FactsInText, RowsOfAListOnlyCountInsideTheList) {
  EXPECT_EQ(facts_of("numpy      1.26.4"), Texts());
  EXPECT_EQ(facts_of("Package    Version\n---------- -------\nnumpy      1.26.4\n"),
            Texts({"package.numpy=1.26.4"}));
  EXPECT_EQ(facts_of("Package    Version\n---------- -------\n\nnumpy      1.26.4\n"), Texts());
  EXPECT_EQ(facts_of("version:        550.107.02"), Texts());
  EXPECT_EQ(facts_of("11.8"), Texts());
  EXPECT_EQ(facts_of("True"), Texts());
}

TEST(FactsInText, AnAnswerBelongsToTheQuestionAboveIt) {
  EXPECT_EQ(facts_of(">>> torch.version.cuda\n'11.8'\n"), Texts({"torch.cuda=11.8"}));
  EXPECT_EQ(facts_of(">>> torch.version.cuda\n>>> x = 1\n'11.8'\n"), Texts());
  EXPECT_EQ(facts_of("$ echo $CUDA_VISIBLE_DEVICES\n2\n"), Texts({"env.CUDA_VISIBLE_DEVICES=2"}));
  EXPECT_EQ(facts_of("$ echo $CUDA_HOME\n\n/usr/local\n"), Texts());
}

// --- several values -----------------------------------------------------------------------------

TEST(FactsInText, ContradictionsAreKept) {
  const char* text = "PyTorch version: 2.1.0+cu118\n...\nPyTorch version: 2.2.0+cu121\n";
  EXPECT_EQ(values(text, "torch.version"), Texts({"2.1.0+cu118", "2.2.0+cu121"}));
  EXPECT_TRUE(testing::read_lines(text).machine().pythons.empty());
}

TEST(FactsInText, TheLessExactIsNoNews) {
  const char* text = "PyTorch version: 2.1.0+cu118\n[pip3] torch==2.1.0\nPython 3.10.12\n"
                     "  File \"/x/lib/python3.10/site-packages/a.py\", line 1, in f\n";
  EXPECT_EQ(values(text, "torch.version"), Texts({"2.1.0+cu118"}));
  EXPECT_EQ(values(text, "python.version"), Texts({"3.10.12"}));
}

TEST(FactsInText, WhatAProgramPrintsOutranksWhatAPersonSays) {
  auto reader =
      testing::read_lines("my driver 535.104.05 is fine\nNvidia driver version: 535.104.05\n");
  ASSERT_EQ(reader.facts().size(), 1U);
  EXPECT_EQ(reader.facts()[0].where, "line 2");
  auto said = testing::read_lines("my driver 535.104.05 is fine\n");
  ASSERT_EQ(said.facts().size(), 1U);
  EXPECT_EQ(said.facts()[0].where, "line 1 (said)");
}

TEST(FactsInText, EachPartOfASentenceIsLookedAtByItself) {
  EXPECT_EQ(facts_of("RTX 3050 Laptop, driver 470.86, torch built for CUDA 12.1"),
            Texts({"driver.version=470.86 (said)", "gpu.name=RTX 3050 Laptop (said)"}));
  EXPECT_EQ(facts_of("vllm 0.3.2 (built against torch 2.1.2), torch 2.2.1 installed"),
            Texts({"package.vllm=0.3.2 (said)", "torch.version=2.2.1 (said)"}));
  EXPECT_EQ(
      facts_of("3x RTX 2080, torch 1.8 cu10.1 docker"),
      Texts({"gpu.name=RTX 2080 (said)", "torch.cuda=10.1 (said)", "torch.version=1.8 (said)"}));
  EXPECT_EQ(facts_of("A100/H100/H200 instances; torch wheel of CUDA 12.6 or earlier"), Texts());
  EXPECT_EQ(
      facts_of("torch 2.6.0+cu124, torch._C._GLIBCXX_USE_CXX11_ABI -> False"),
      Texts({"torch.cuda=12.4 (said)", "torch.cxx11_abi=no", "torch.version=2.6.0+cu124 (said)"}));
  EXPECT_EQ(facts_of("upgraded onnxruntime-gpu 1.18.1 -> 1.19.0"), Texts());
  EXPECT_EQ(facts_of("the kernel 2.5 ms later"), Texts());
}

TEST(FactsInText, MemoryIsBounded) {
  FactsInText reader(text_tables());
  reader.line("Package    Version", 1);
  for (uint64_t i = 0; i < 2900; ++i)
    reader.line("package" + std::to_string(i) + "    1.0." + std::to_string(i), i + 2);
  for (uint64_t i = 0; i < 20000; ++i)
    reader.line("NVRM: Xid (PCI:0000:01:00): " + std::to_string(i) + ", pid=1", i);
  for (uint64_t i = 0; i < 200; ++i)
    reader.line("[pip3] torch==2." + std::to_string(i), i);
  EXPECT_LE(reader.facts().size(), FactsInText::kMostFacts);
  EXPECT_LE(reader.machine().kernel.xids.size(), 500U);
  EXPECT_LE(reader.machine().kernel.log.lines->size(), 500U);
}

TEST(FactsInText, AnyBytesAreAText) {
  EXPECT_EQ(facts_of(std::string("\0\xff\xfe{}|||\n\n{value|x}\n", 18)), Texts());
  EXPECT_EQ(facts_of(std::string(100000, '|')), Texts());
}

} // namespace
} // namespace gpuvet
