// Every row's example gives the numbers that the row states; and numbers that nobody should print.
#include "judge/oom/amount.hpp"
#include "judge/oom/balance.hpp"
#include "judge/oom/testing/logs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace gpuvet {
namespace {

using testing::oom_evidence;
using testing::oom_tables;

const OomMessage* message_of(const OomEvidence& evidence, const std::string& id) {
  for (const OomMessage& message : evidence.messages)
    if (message.template_id == id) return &message;
  return nullptr;
}

std::string read_back(const OomMessage& message, const std::string& what) {
  const size_t colon = what.find(':'), equals = what.find('=');
  if (colon < equals) return message.word(what.substr(0, colon));
  const std::string name = what.substr(0, equals);
  OomAmount amount = message.amount(name);
  if (name == "other" && !message.others.empty()) amount = message.others.front().held;
  if (name != "other" && !message.amounts.count(name)) return "absent";
  return amount ? std::to_string(*amount) : "?";
}

TEST(OomGrammar, ExamplesGiveTheStatedNumbers) {
  for (const OomTemplate& row : oom_tables().templates) {
    SCOPED_TRACE(row.id);
    const OomEvidence evidence = oom_evidence(joined(row.example, "\n"));
    const OomMessage* message = message_of(evidence, row.id);
    ASSERT_NE(message, nullptr);
    EXPECT_EQ(evidence.messages.size(), 1U);
    for (const std::string& what : row.reads) {
      SCOPED_TRACE(what);
      EXPECT_EQ(read_back(*message, what),
                what.substr(std::min(what.find(':'), what.find('=')) + 1));
    }
  }
}

TEST(OomGrammar, EveryLineOfAnExampleMayBeBrokenAnywhereAtABlank) {
  for (const OomTemplate& row : oom_tables().templates) {
    if (row.framework != "pytorch" || row.id == "torch-async" || row.id == "torch-main") continue;
    SCOPED_TRACE(row.id);
    const std::string text = joined(row.example, "\n");
    for (size_t at = text.find(". "); at != std::string::npos; at = text.find(' ', at + 1)) {
      if (at + 1 >= text.size() || text[at] != ' ') continue;
      std::string broken = text;
      broken[at] = '\n';
      const OomEvidence evidence = oom_evidence(broken);
      if (at <= text.find("Tried to allocate") + 17) continue; // the opening itself is in pieces
      const OomMessage* message = message_of(evidence, row.id);
      ASSERT_NE(message, nullptr) << broken;
      for (const std::string& what : row.reads)
        EXPECT_EQ(read_back(*message, what),
                  what.substr(std::min(what.find(':'), what.find('=')) + 1))
            << broken;
    }
  }
}

// A terminal that breaks in the middle of a word or a number.
TEST(OomGrammar, HardBreaksAreClosed) {
  const OomEvidence evidence = oom_evidence(
      "CUDA out of memory. Tried to allocate 1.95 GiB. GPU 0 has a total capac\n"
      "ity of 14.57 GiB of which 1.5\n8 GiB is free. Process 2493055 has 12.02 GiB mem\n"
      "ory in use. Of the allocated memory 734.07 MiB is allocated by PyTorch");
  ASSERT_EQ(evidence.messages.size(), 1U);
  const OomMessage& message = evidence.messages.front();
  EXPECT_EQ(*message.amount("total"), 15644418376U);
  EXPECT_EQ(*message.amount("free"), 1696512082U);
  ASSERT_EQ(message.others.size(), 1U);
  EXPECT_EQ(message.others.front().pid, 2493055U);
}

TEST(OomGrammar, EachNumberHasItsLine) {
  const OomEvidence evidence =
      oom_evidence("start\n\nCUDA out of memory. Tried to allocate 672.00 MiB.\n\n"
                   "GPU 0 has a total capacity of 140.06 GiB of which 200.75 MiB is free.\n"
                   "Process 7 has 139.86 GiB memory in use.\n");
  ASSERT_EQ(evidence.messages.size(), 1U);
  const OomMessage& message = evidence.messages.front();
  EXPECT_EQ(message.amount("requested").line, 3U);
  EXPECT_EQ(message.amount("free").line, 5U);
  ASSERT_EQ(message.others.size(), 1U);
  EXPECT_EQ(message.others.front().held.line, 6U);
}

TEST(OomGrammar, AMessageThatIsPrintedAgainCountsOnce) {
  const std::string line =
      "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 4.00 GiB total capacity; 3.00 GiB "
      "already allocated; 0 bytes free; 3.10 GiB reserved in total by PyTorch)\n";
  const OomEvidence evidence =
      oom_evidence(line + "Traceback (most recent call last):\n" + line + line);
  ASSERT_EQ(evidence.messages.size(), 1U);
  EXPECT_EQ(evidence.messages.front().times, 3U);
}

// What LogText gives without a literal can only go on with what began before.
TEST(OomGrammar, LinesWithoutALiteralGoOn) {
  OomReader reader(testing::oom_grammar());
  reader.take("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of", 1);
  reader.take("79.11 GiB", 2, false);
  reader.take("memory.used, memory.total", 3);
  reader.take("512, 1024", 4, false);
  reader.take("CUDA out of memory. Tried to allocate 3.00 GiB", 5, false); // not looked at
  const OomEvidence evidence = reader.end();
  ASSERT_EQ(evidence.messages.size(), 1U);
  EXPECT_TRUE(evidence.messages.front().amount("total"));
  ASSERT_EQ(evidence.series.size(), 1U);
  EXPECT_EQ(evidence.series.front().samples.front().bytes, 512U);
}

TEST(OomGrammar, OnlySoManyMessagesAreKept) {
  std::string text;
  for (int i = 0; i < 300; ++i)
    text += "CUDA out of memory. Tried to allocate " + std::to_string(i + 1) + ".00 MiB\n";
  const OomEvidence evidence = oom_evidence(text);
  EXPECT_EQ(evidence.messages.size(), 256U);
  EXPECT_EQ(evidence.messages_left, 44U);
}

TEST(OomGrammar, ManyProcessesAreAllRead) {
  std::string text = "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity "
                     "of 79.11 GiB of which "
                     "1.00 GiB is free. ";
  for (int i = 0; i < 24; ++i)
    text += "Process " + std::to_string(1000 + i) + " has 520.00 MiB memory in use. ";
  const OomEvidence evidence =
      oom_evidence(text + "Of the allocated memory 60.00 GiB is allocated by PyTorch, and "
                          "100.00 MiB is reserved by PyTorch but unallocated.");
  ASSERT_EQ(evidence.messages.size(), 1U);
  EXPECT_EQ(evidence.messages.front().others.size(), 24U);
}

TEST(OomGrammar, SeriesExamplesAreRead) {
  for (const OomSeriesRow& row : oom_tables().series) {
    SCOPED_TRACE(row.id);
    const OomEvidence evidence = oom_evidence(joined(row.example, "\n"));
    auto is = [&](const OomSeries& series) { return series.id == row.id; };
    auto at = std::find_if(evidence.series.begin(), evidence.series.end(), is);
    ASSERT_NE(at, evidence.series.end());
    ASSERT_EQ(at->samples.size(), 1U);
    for (const std::string& what : row.reads) {
      if (what.starts_with("value=")) {
        EXPECT_EQ(std::to_string(at->samples.front().bytes), what.substr(6));
      }
      if (what.starts_with("total=")) {
        EXPECT_EQ(std::to_string(at->total.value_or(0)), what.substr(6));
      }
      if (what.starts_with("step:")) {
        EXPECT_EQ(at->axis, OomAxis::step);
        EXPECT_EQ(at->samples.front().at, std::stod(what.substr(5)));
      }
    }
  }
}

TEST(OomGrammar, LinesThatAreNoneAreToldApart) {
  for (const OomNot& row : oom_tables().nots) {
    SCOPED_TRACE(row.id);
    const OomEvidence evidence = oom_evidence(joined(row.example, "\n"));
    EXPECT_TRUE(evidence.messages.empty());
    ASSERT_EQ(evidence.asides.size(), 1U);
    EXPECT_EQ(evidence.asides.front().row, row.id);
  }
}

// --- numbers ------------------------------------------------------------------------------------

OomAmount amount(std::string_view text, std::string_view unit = "") {
  return parse_amount(text, unit, oom_tables().units);
}

TEST(OomAmountText, UnitsAndSeparators) {
  EXPECT_EQ(*amount("2.56 GiB"), 2748779069U);
  EXPECT_EQ(*amount("1,234 bytes"), 1234U);
  EXPECT_EQ(*amount("1_000"), 1000U);
  EXPECT_EQ(*amount("468.75MiB"), 491520000U);
  EXPECT_EQ(*amount("12.18", "GiB"), 13078175416U);
  EXPECT_EQ(*amount("0 bytes"), 0U);
  EXPECT_EQ(*amount("42.0MB"), 44040192U);
  EXPECT_EQ(*amount("18446744073709551"), 18446744073709551U); // exact, past 2^53
}

TEST(OomAmountText, RoundingIsHalfOfTheLastDigit) {
  EXPECT_EQ(amount("2.56 GiB").rounding, 5368709U);
  EXPECT_EQ(amount("512 bytes").rounding, 0U);
  EXPECT_EQ(amount("5624 MiB").rounding, 524288U);
}

TEST(OomAmountText, WhatStandsForNothingIsUnknown) {
  for (const char* text : {"17179869184.00 GiB", "18446744073709551615 bytes",
                           "18,446,744,073,709,551,615 bytes", "18446744073709551615"}) {
    SCOPED_TRACE(text);
    EXPECT_FALSE(amount(text));
    EXPECT_NE(amount(text).why_unknown.find("not available"), std::string::npos);
  }
  EXPECT_FALSE(amount("-1"));
  EXPECT_FALSE(amount("-1 MiB"));
  EXPECT_FALSE(amount("nan GiB"));
  EXPECT_FALSE(amount("[N/A]"));
  EXPECT_FALSE(amount(""));
  EXPECT_FALSE(amount("."));
  EXPECT_FALSE(amount("GiB"));
  EXPECT_FALSE(amount("12 parsecs"));
}

TEST(OomAmountText, NumbersOfHundredsOfDigits) {
  const std::string nines(400, '9');
  EXPECT_FALSE(amount(nines));
  EXPECT_FALSE(amount(nines + " GiB"));
  EXPECT_NE(amount(nines).why_unknown.find("larger than 2^64"), std::string::npos);
  EXPECT_EQ(*amount("0." + std::string(400, '0') + "1 GiB"), 0U);
  EXPECT_EQ(*amount(std::string(400, '0') + "7 MiB"), 7340032U);
  EXPECT_FALSE(amount("36893488147419103232")); // 2^65
}

TEST(OomAmountText, NoGpuHasThatMuch) {
  const OomEvidence evidence =
      oom_evidence("Out of memory error on GPU 7. Cannot allocate 39.250000kB memory on GPU 7, "
                   "85.412131TB memory has "
                   "been allocated and available memory is only 0.000000B.");
  ASSERT_EQ(evidence.messages.size(), 1U);
  EXPECT_FALSE(evidence.messages.front().amount("used"));
  EXPECT_EQ(*evidence.messages.front().amount("requested"), 40192U);
}

TEST(OomAmountText, ShapesThatOverflow) {
  const std::string head =
      "OOM when allocating tensor with shape[4294967296,4294967296,4294967296] and type float on "
      "/device:GPU:0 by allocator GPU_0_bfc";
  const OomEvidence evidence = oom_evidence(head);
  ASSERT_EQ(evidence.messages.size(), 1U);
  EXPECT_FALSE(evidence.messages.front().amount("requested"));
  EXPECT_FALSE(
      oom_evidence(
          "OOM when allocating tensor with shape[2] and type variant by allocator GPU_0_bfc")
          .messages.front()
          .amount("requested"));
}

// --- tables -------------------------------------------------------------------------------------

TEST(OomTables, MemorySummary) {
  const OomEvidence evidence = oom_evidence(
      "|                  PyTorch CUDA memory summary, device ID 1                 |\n"
      "|            CUDA OOMs: 2            |        cudaMalloc retries: 5         |\n"
      "|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |\n"
      "| Allocated memory      |  146836 KB |    4261 MB |     847 GB |     847 GB |\n"
      "|       from large pool |  107268 KB |    4228 MB |     843 GB |     843 GB |\n"
      "| GPU reserved memory   |    5148 MB |    5148 MB |    5148 MB |       0 B  |\n"
      "| Non-releasable memory |  1024 MiB |    5148 MB |    5148 MB |       0 B  |\n");
  ASSERT_EQ(evidence.tables.size(), 1U);
  const OomTable& table = evidence.tables.front();
  EXPECT_EQ(table.device, "1");
  EXPECT_EQ(table.failures, 2U);
  EXPECT_EQ(table.retries, 5U);
  EXPECT_EQ(*table.now.at("allocated"), 146836U * 1024);
  EXPECT_EQ(*table.peak.at("allocated"), uint64_t{4261} << 20U);
  EXPECT_EQ(*table.now.at("reserved"), uint64_t{5148} << 20U);
  EXPECT_EQ(table.now.at("reserved").line, 6U);
}

// --- the rows themselves ------------------------------------------------------------------------

TEST(OomRows, NamesAreUniqueAndResolve) {
  std::set<std::string> ids;
  for (const OomTemplate& row : oom_tables().templates) {
    EXPECT_TRUE(ids.insert(row.id).second) << row.id;
    for (const std::string& cause : row.causes)
      EXPECT_NE(find_oom_cause(oom_tables(), cause), nullptr) << row.id << ": " << cause;
    if (row.kind == OomKind::bare || row.kind == OomKind::disguised) {
      EXPECT_FALSE(row.causes.empty()) << row.id;
    }
  }
  for (const OomCause& cause : oom_tables().causes) {
    EXPECT_TRUE(ids.insert(cause.id).second) << cause.id;
    EXPECT_FALSE(cause.fixes.empty()) << cause.id;
    EXPECT_TRUE(cause.blame == "application" || cause.blame == "user" || cause.blame == "node")
        << cause.id;
  }
}

TEST(OomRows, LiteralsStandInTheExamplesAndAreLongEnough) {
  for (const std::string& literal : oom_literals(oom_tables()))
    EXPECT_GE(literal.size(), 4U) << literal;
  for (const OomTemplate& row : oom_tables().templates)
    EXPECT_NE(joined(row.example, "\n").find(row.literal), std::string::npos) << row.id;
}

// Settings are written under today's names; a name of yesterday is reached through its variable.
TEST(OomRows, FixesNameTodaysVariables) {
  for (const OomCause& cause : oom_tables().causes)
    for (const CheckFix& fix : cause.fixes)
      for (const OomVariable& variable : oom_tables().variables)
        if (!variable.formerly.empty()) {
          EXPECT_EQ(fix.command.find(variable.formerly), std::string::npos)
              << cause.id << ": " << fix.command;
        }
}

} // namespace
} // namespace gpuvet
