// From a text to the cause, on rows of the embedded tables and on rows made here.
#include "judge/explain/explain.hpp"
#include "judge/explain/explain_report.hpp"
#include "judge/explain/fields.hpp"
#include "judge/oom/testing/logs.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <stdexcept>

namespace gpuvet {
namespace {

const Facts& facts() {
  static const Facts embedded;
  return embedded;
}

const SignatureTables& tables() {
  auto found = facts().signatures();
  if (!found) throw std::runtime_error(found.error().where + ": " + found.error().what);
  return **found;
}

struct Answered { // keeps what the explanation points to
  std::unique_ptr<MessageFinder> finder;
  Explanation explanation;

  const ExplainedMessage& root() const {
    if (!explanation.root) throw std::runtime_error("there is no root");
    return explanation.messages[*explanation.root];
  }
  std::string cause() const { return root().causes.empty() ? "" : root().causes[0].row->id; }
  Confidence confidence() const { return overall_confidence(explanation); }
};

Answered ask(const std::string& text, std::vector<KnownFact> known = {},
             const OomEvidence* memory = nullptr) {
  Answered answer;
  answer.finder = std::make_unique<MessageFinder>(tables());
  std::istringstream lines(text);
  uint64_t number = 0;
  for (std::string line; std::getline(lines, line);)
    answer.finder->line(line, ++number);
  answer.finder->end();
  ExplainInput input;
  input.found = answer.finder.get();
  input.text_facts = std::move(known);
  input.memory = memory;
  auto made = explain(input, facts());
  if (!made) throw std::runtime_error(made.error().what);
  answer.explanation = std::move(*made);
  return answer;
}

// No text of a row may be printed with holes in it.
void expect_no_holes(const Answered& answer, const Signature& row) {
  Report report = explanation_report(answer.explanation, {1, 1, {}}, true);
  EXPECT_EQ(report.verdict.find("(unknown"), std::string::npos) << row.id << report.verdict;
  for (const Finding& finding : report.findings) {
    EXPECT_EQ(finding.title.find("(unknown"), std::string::npos) << row.id << finding.title;
    for (const std::string& fix : finding.fixes)
      EXPECT_EQ(fix.find("(unknown"), std::string::npos) << row.id << fix;
  }
}

TEST(Explain, EveryExampleIsExplainedByItsSignatureFirst) {
  for (const Signature& row : tables().signatures)
    for (const std::string& line : row.example) {
      Answered answer = ask(line);
      expect_no_holes(answer, row);
      ASSERT_FALSE(answer.explanation.messages.empty()) << row.id << ": " << line;
      if (row.kind == MessageKind::clue) { // says nothing alone: another may count for the line
        EXPECT_NE(answer.finder->seen(row.id), nullptr) << row.id << ": " << line;
        continue;
      }
      EXPECT_EQ(answer.explanation.messages[0].message->signature->id, row.id) << line;
      bool leads = row.kind == MessageKind::error || row.kind == MessageKind::warning;
      EXPECT_EQ(answer.explanation.root.has_value(), leads) << row.id;
      if (leads && answer.explanation.root) {
        EXPECT_FALSE(answer.root().causes.empty()) << row.id << " has no cause for its example";
      }
    }
}

TEST(Explain, FactsDecideBetweenCauses) {
  const std::string line = "nvcc fatal   : Unsupported gpu architecture 'compute_120'";
  // Every newer toolkit compiles for 12.0: that it was dropped is out of the question.
  EXPECT_EQ(ask(line).confidence(), Confidence::likely);
  EXPECT_FALSE(ask(line).explanation.questions.empty());
  Answered old = ask(line, {{"nvcc.version", "11.8", "line 1"}});
  EXPECT_EQ(old.confidence(), Confidence::certain);
  EXPECT_EQ(old.cause(), "arch-newer-than-toolkit");
  EXPECT_TRUE(old.explanation.questions.empty());
  Answered dropped = ask("nvcc fatal   : Unsupported gpu architecture 'compute_35'",
                         {{"nvcc.version", "12.4", "line 1"}});
  EXPECT_EQ(dropped.cause(), "arch-dropped-by-toolkit");
  EXPECT_EQ(dropped.confidence(), Confidence::certain);
  Answered token = ask("nvcc fatal   : Unsupported gpu architecture 'compute_86+PTX'");
  EXPECT_EQ(token.cause(), "arch-token-not-a-number");
  EXPECT_EQ(token.confidence(), Confidence::certain);
}

TEST(Explain, WhatAPersonSaidMakesLikelyAndNotCertain) {
  Answered said = ask("nvcc fatal   : Unsupported gpu architecture 'compute_120'",
                      {{"nvcc.version", "11.8", "line 1 (said)"}});
  EXPECT_EQ(said.confidence(), Confidence::likely);
}

TEST(Explain, XidNamesTheCheckOfItsCode) {
  Answered answer = ask("NVRM: Xid (PCI:0000:17:00): 48, pid=1, DBE (double bit error)");
  EXPECT_EQ(answer.cause(), "xid-48");
  // Xid 45 comes along, whatever was logged first.
  Answered two = ask("NVRM: Xid (PCI:0000:17:00): 45, pid=1, Ch 00000008\n"
                     "NVRM: Xid (PCI:0000:17:00): 79, pid=1, GPU has fallen off the bus.");
  ASSERT_TRUE(two.explanation.root.has_value());
  EXPECT_EQ(two.root().message->lines.front().number, 2U);
  EXPECT_TRUE(two.explanation.messages[0].follows_from.has_value());
}

TEST(Explain, NumbersInMessagesAreWorkedOut) {
  Answered answer = ask("RuntimeError: The NVIDIA driver on your system is too old (found version "
                        "11040). Please update your GPU driver");
  EXPECT_NE(answer.root().says.find("CUDA 11.4"), std::string::npos) << answer.root().says;
  EXPECT_NE(answer.root().says.find("470"), std::string::npos) << answer.root().says;
}

TEST(Explain, OpenCausesComeWithAQuestion) {
  Answered answer = ask("RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling "
                        "`cublasCreate(handle)`");
  EXPECT_EQ(answer.confidence(), Confidence::one_of);
  EXPECT_GE(answer.root().causes.size(), 2U);
  EXPECT_FALSE(answer.explanation.questions.empty());
  EXPECT_FALSE(answer.explanation.questions.front().command.empty());
}

// What the doctor finds here confirms a cause, what he rules out excludes it; what changes from
// minute to minute excludes nothing.
TEST(Explain, TheDoctorDecidesWhereTheTextIsFromHere) {
  auto checks = facts().checks();
  ASSERT_TRUE(checks);
  Diagnosis doctor;
  for (const CheckRow& row : (*checks)->checks) {
    doctor.checks.emplace_back();
    doctor.checks.back().row = &row;
    doctor.checks.back().outcome = not_known("not asked");
    if (row.id == "libraries-cublas-shadowed") {
      doctor.checks.back().outcome = fires({"LD_LIBRARY_PATH: /usr/local/cuda/lib64"});
      doctor.checks.back().title = "cuBLAS of the system is loaded";
      doctor.checks.back().fixes = {{"unset LD_LIBRARY_PATH", false, Safety::safe}};
    }
    if (row.id == "torch-gpu-too-new") doctor.checks.back().outcome = ok("PyTorch has sm_90");
  }
  Answered answer = ask("RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling "
                        "`cublasCreate(handle)`");
  ExplainInput input;
  input.found = answer.finder.get();
  input.doctor = &doctor;
  auto made = explain(input, facts());
  ASSERT_TRUE(made && made->root);
  const ExplainedMessage& root = made->messages[*made->root];
  EXPECT_EQ(root.confidence, Confidence::certain);
  EXPECT_EQ(root.causes[0].row->id, "libraries-cublas-shadowed");
  ASSERT_FALSE(root.causes[0].fixes.empty());
  EXPECT_EQ(root.causes[0].fixes[0].text, "unset LD_LIBRARY_PATH");
  EXPECT_NE(root.causes[0].evidence[0].find("this machine"), std::string::npos);
  bool excluded = false;
  for (const PossibleCause& cause : root.excluded)
    excluded = excluded || cause.row->id == "torch-gpu-too-new";
  EXPECT_TRUE(excluded);
  EXPECT_TRUE(made->questions.empty());
}

TEST(Explain, UnknownTextHasNoCauseAndShowsWhatLooksLikeErrors) {
  Answered answer = ask("hello\nfoo.c:3:1: error: expected ';' before '}' token\nbye");
  EXPECT_FALSE(answer.explanation.root.has_value());
  EXPECT_EQ(answer.confidence(), Confidence::none);
  ASSERT_EQ(answer.explanation.unknown_errors.size(), 1U);
  EXPECT_EQ(answer.explanation.unknown_errors[0].number, 2U);
}

TEST(Explain, RepeatedMessagesAreCountedAndBounded) {
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += "nvcc fatal   : Unsupported gpu architecture 'compute_" + std::to_string(i) + "'\n" +
            "nvcc fatal   : Unsupported gpu architecture 'compute_120'\n";
  Answered answer = ask(text);
  EXPECT_EQ(answer.explanation.messages.size(), MessageFinder::kMostMessages);
  uint64_t most = 0;
  for (const ExplainedMessage& message : answer.explanation.messages)
    most = std::max(most, message.message->count);
  EXPECT_EQ(most, 1001U);
}

std::string fixes_of(const Answered& answer, const std::string& cause) {
  std::string all;
  for (const PossibleCause& one : answer.root().causes)
    if (one.row->id == cause)
      for (const Fix& fix : one.fixes)
        all += fix.text + "\n";
  return all;
}

// A cause of memory stands in oom.toml alone; its fixes are those for the framework and version
// that wrote the message.
TEST(Explain, CausesOfMemoryAreThoseOfOom) {
  const std::string old =
      "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 "
      "GiB total capacity; 6.00 GiB already allocated; 1.00 GiB free; 6.50 GiB "
      "reserved in total by PyTorch)";
  const std::string today =
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. "
      "GPU 0 has a total capacity of 8.00 GiB of which 1.00 GiB is free. "
      "try setting PYTORCH_ALLOC_CONF=expandable_segments:True";
  const OomEvidence before = testing::oom_evidence(old), now = testing::oom_evidence(today);
  ASSERT_EQ(before.messages.size(), 1U);
  const std::string split = fixes_of(ask(old, {}, &before), "pool-fragmentation");
  EXPECT_NE(split.find("PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb"), std::string::npos) << split;
  EXPECT_EQ(split.find("expandable_segments"), std::string::npos) << split;
  const std::string segments = fixes_of(ask(today, {}, &now), "pool-fragmentation");
  EXPECT_NE(segments.find("PYTORCH_ALLOC_CONF=expandable_segments"), std::string::npos) << segments;
  EXPECT_EQ(fixes_of(ask(today, {}, &now), "too-small").find("llama"), std::string::npos);
  EXPECT_NE(fixes_of(ask("torch.cuda.OutOfMemoryError"), "too-small").find("(for PyTorch)"),
            std::string::npos);
}

// A check's own fix, without the names that only the check sees on the machine.
TEST(Explain, ACauseThatIsACheckHasTheChecksFix) {
  const Answered answer = ask("CUDA error: out of memory");
  EXPECT_NE(fixes_of(answer, "gpu-memory-without-process").find("sudo fuser -v /dev/nvidia*"),
            std::string::npos);
  EXPECT_EQ(fixes_of(answer, "gpu-memory-without-process").find("gpuvet doctor"),
            std::string::npos);
}

TEST(Fields, ChoicesFallBackWhenSomethingIsNotKnown) {
  std::map<std::string, std::string> fields{{"a", "1"}, {"x.y", "2"}};
  EXPECT_EQ(fill_text("[?A {a}|B] {x.y}", fields), "A 1 2");
  EXPECT_EQ(fill_text("[?A {b}|B {a}].[?C {b}]", fields), "B 1.");
  EXPECT_EQ(fill_text("{\"json\": {a}} {}", fields), "{\"json\": 1} {}");
  EXPECT_EQ(first_choices("[?A {b}|B] {a}[? C]"), "A {b} {a} C");
  EXPECT_TRUE(can_fill("[?A {b}|B] {a}", fields));
  EXPECT_FALSE(can_fill("{b}", fields));
  EXPECT_EQ(fill_text("[?open {a}", fields), "[?open 1");
}

TEST(Fields, WhatFieldsStandFor) {
  std::map<std::string, std::string> fields{{"cuda_number", "11040"},
                                            {"arch", "compute_120"},
                                            {"cuda", "12.4"},
                                            {"library", "libcublas.so.12"},
                                            {"symbol", "ncclCommRegister"}};
  derive_fields(fields, facts());
  EXPECT_EQ(fields["cuda_number_cuda"], "11.4");
  EXPECT_EQ(fields["cuda_number_branch"], "470");
  EXPECT_EQ(fields["arch_capability"], "12.0");
  EXPECT_EQ(fields["arch_first"], "12.8");
  EXPECT_EQ(fields["cuda_branch"], "550");
  EXPECT_EQ(fields["cuda_driver"], "525.60.13");
  EXPECT_EQ(fields["library_cuda"], "12");
  EXPECT_EQ(fields["symbol_owner"], "nccl");
}

TEST(FactView, FollowsFromTheTables) {
  auto value = [](std::vector<KnownFact> known, const std::string& name) {
    FactView view(known, {}, facts());
    std::vector<KnownFact> found = view.of(name);
    return found.size() == 1 ? found[0].value : std::to_string(found.size()) + " values";
  };
  EXPECT_EQ(value({{"nvcc.version", "11.8.89", "x"}}, "nvcc.max_sm"), "sm_90");
  EXPECT_EQ(value({{"nvcc.version", "12.4", "x"}}, "nvcc.min_sm"), "sm_50");
  EXPECT_EQ(value({{"driver.version", "535.104.05", "x"}}, "driver.cuda"), "12.2");
  EXPECT_EQ(value({{"driver.version", "535.104.05", "x"}}, "driver.branch"), "535");
  EXPECT_EQ(value({{"gpu.name", "NVIDIA GeForce RTX 4090", "x"}}, "gpu.capability"), "8.9");
  EXPECT_EQ(value({{"gpu.name", "Tesla V100-SXM2-16GB", "x"}}, "gpu.last_branch"), "580");
  EXPECT_EQ(value({{"torch.version", "2.1.0+cu118", "x"}}, "torch.cuda"), "11.8");
  EXPECT_EQ(value({{"torch.version", "2.1.0+cpu", "x"}}, "torch.cuda"), "none");
  EXPECT_EQ(value({{"gpu.name", "NVIDIA GeForce RTX 5090", "x"},
                   {"torch.archs", "sm_50 sm_80 sm_86 sm_90", "y"}},
                  "torch.runs_on_gpu"),
            "no");
  EXPECT_EQ(value({{"gpu.capability", "8.9", "x"}, {"torch.archs", "sm_50 sm_80 sm_86", "y"}},
                  "torch.runs_on_gpu"),
            "yes");
  EXPECT_EQ(value({{"gpu.capability", "12.0", "x"}, {"torch.archs", "sm_90 compute_90", "y"}},
                  "torch.runs_on_gpu"),
            "yes");
  EXPECT_EQ(value({}, "torch.runs_on_gpu"), "0 values");
  EXPECT_EQ(value({{"torch.version", "2.7.0+cu128", "x"}}, "torch.cxx11_abi"), "yes");
  EXPECT_EQ(value({{"torch.version", "2.6.0+cu126", "x"}}, "torch.cxx11_abi"), "yes");
  EXPECT_EQ(value({{"torch.version", "2.6.0+cu124", "x"}}, "torch.cxx11_abi"), "no");
  EXPECT_EQ(value({{"torch.version", "2.2.0+cu118", "x"}}, "torch.cxx11_abi"), "no");
  EXPECT_EQ(value({{"torch.version", "2.7.0", "x"}}, "torch.cxx11_abi"), "0 values"); // conda?
}

TEST(FactView, AWheelThatFits) {
  FactView view({{"driver.cuda", "11.4", "line 1"}}, {}, facts());
  ASSERT_EQ(view.of("fit.torch_variant").size(), 1U);
  EXPECT_EQ(view.of("fit.torch_variant")[0].value.substr(0, 4), "cu11");
  FactView same({{"driver.version", "535.104.05", "x"}, {"torch.version", "2.1.0+cu130", "x"}}, {},
                facts());
  ASSERT_EQ(same.of("fit.torch").size(), 1U);
  EXPECT_EQ(same.of("fit.torch")[0].value, "2.1"); // the same release where there is one
  EXPECT_TRUE(FactView({}, {}, facts()).of("fit.torch").empty());
}

TEST(FactView, TheTextWinsOverTheMachine) {
  FactView view({{"nvcc.version", "11.8", "line 1"}},
                {{"nvcc.version", "12.8", "/usr/bin/nvcc"}, {"gcc.version", "13", "/usr/bin/gcc"}},
                facts());
  ASSERT_EQ(view.of("nvcc.version").size(), 1U);
  EXPECT_EQ(view.of("nvcc.version")[0].value, "11.8");
  EXPECT_EQ(view.of("gcc.version")[0].value, "13");
}

} // namespace
} // namespace gpuvet
