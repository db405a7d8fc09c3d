// What conditions answer: every comparison, several values, what is missing, what a person said.
#include "judge/explain/conditions.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace gpuvet {
namespace {

const Facts& facts() {
  static const Facts embedded;
  return embedded;
}

ConditionAnswer answer(std::string_view text, const std::vector<KnownFact>& known = {},
                       std::map<std::string, std::string> fields = {},
                       const Diagnosis* doctor = nullptr) {
  auto condition = parse_condition(text);
  if (!condition) throw std::runtime_error(condition.error().what);
  FactView view(known, {}, facts());
  auto tables = facts().signatures();
  if (!tables) throw std::runtime_error(tables.error().what);
  MessageFinder finder(**tables);
  finder.line("nvcc fatal   : Unsupported gpu architecture 'compute_120'", 7);
  return judge_condition(*condition, {&fields, &view, &finder, doctor, "a line of Windows"});
}

Truth truth(std::string_view text, const std::vector<KnownFact>& known = {},
            std::map<std::string, std::string> fields = {}) {
  return answer(text, known, std::move(fields)).truth;
}

TEST(Conditions, VersionsAndNumbers) {
  std::vector<KnownFact> known{{"nvcc.version", "12.4.131", "line 1"},
                               {"gpu.count", "8", "line 2"}};
  EXPECT_EQ(truth("fact nvcc.version = 12.4", known), Truth::yes); // in the parts that are named
  EXPECT_EQ(truth("fact nvcc.version = 12", known), Truth::yes);
  EXPECT_EQ(truth("fact nvcc.version != 12.4", known), Truth::no);
  EXPECT_EQ(truth("fact nvcc.version < 12.4", known), Truth::no);
  EXPECT_EQ(truth("fact nvcc.version >= 12.4", known), Truth::yes);
  EXPECT_EQ(truth("fact nvcc.version > 12.10", known), Truth::no); // not as text
  EXPECT_EQ(truth("fact gpu.count > 10", known), Truth::no);
  EXPECT_EQ(truth("not fact gpu.count > 10", known), Truth::yes);
}

TEST(Conditions, WordsAndRegexes) {
  std::vector<KnownFact> known{{"container", "Docker", "line 1"}};
  EXPECT_EQ(truth("fact container = docker", known), Truth::yes);
  EXPECT_EQ(truth("fact container matches ^(?i)pod", known), Truth::no);
  EXPECT_EQ(truth("fact container < docker", known), Truth::unknown); // words have no order
  EXPECT_EQ(truth("line matches (?i)windows"), Truth::yes);
  EXPECT_EQ(truth("field arch matches ^compute_$", {}, {{"arch", "compute_"}}), Truth::yes);
}

TEST(Conditions, Capabilities) {
  std::map<std::string, std::string> fields{{"arch", "compute_90a"}, {"odd", "compute_"}};
  EXPECT_EQ(truth("field arch sm> 8.9", {}, fields), Truth::yes);
  EXPECT_EQ(truth("field arch sm= sm_90", {}, fields), Truth::yes);
  EXPECT_EQ(truth("field arch sm< 12.0", {}, fields), Truth::yes);
  EXPECT_EQ(truth("field odd sm> 8.9", {}, fields), Truth::unknown);
}

TEST(Conditions, WhatIsMissingIsUnknownAndNamed) {
  ConditionAnswer missing = answer("fact nvcc.version < 12");
  EXPECT_EQ(missing.truth, Truth::unknown);
  EXPECT_EQ(missing.missing_fact, "nvcc.version");
  EXPECT_EQ(truth("not fact nvcc.version < 12"), Truth::unknown);
  EXPECT_EQ(truth("fact nvcc.version known"), Truth::no);
  EXPECT_EQ(truth("not fact nvcc.version known"), Truth::yes);
  EXPECT_EQ(truth("field none = 1"), Truth::unknown);
}

TEST(Conditions, SeveralValuesMustAgreeOnAnOrder) {
  std::vector<KnownFact> two{{"nvcc.version", "11.8", "line 1"},
                             {"nvcc.version", "12.8", "line 2"}};
  EXPECT_EQ(truth("fact nvcc.version < 12.0", two), Truth::unknown);
  EXPECT_EQ(truth("fact nvcc.version < 13.0", two), Truth::yes);
  EXPECT_EQ(truth("fact nvcc.version = 12.8", two), Truth::yes); // one is enough
  EXPECT_EQ(truth("fact nvcc.version = 10.2", two), Truth::no);
}

TEST(Conditions, EvidenceNamesTheFactAndItsPlace) {
  ConditionAnswer said =
      answer("fact gcc.version = 13", {{"gcc.version", "13.2", "line 4 (said)"}});
  EXPECT_EQ(said.truth, Truth::yes);
  EXPECT_TRUE(said.hearsay);
  EXPECT_EQ(said.shown, "gcc.version 13.2 (line 4 (said))");
  ConditionAnswer seen = answer("seen nvcc-unsupported-arch");
  EXPECT_EQ(seen.truth, Truth::yes);
  EXPECT_EQ(seen.shown.substr(0, 7), "line 7:");
  EXPECT_EQ(truth("seen torch-driver-too-old"), Truth::no);
}

TEST(Conditions, ChecksOfTheDoctor) {
  CheckRow row;
  row.id = "some-check";
  Diagnosis doctor;
  doctor.checks.emplace_back();
  doctor.checks[0].row = &row;
  doctor.checks[0].outcome = fires({"/proc: bad"});
  EXPECT_EQ(answer("check some-check fires", {}, {}, &doctor).truth, Truth::yes);
  EXPECT_EQ(answer("check some-check is ok", {}, {}, &doctor).truth, Truth::no);
  doctor.checks[0].outcome = ok("fine");
  EXPECT_EQ(answer("check some-check fires", {}, {}, &doctor).truth, Truth::no);
  doctor.checks[0].outcome = not_known("no access");
  EXPECT_EQ(answer("check some-check fires", {}, {}, &doctor).truth, Truth::unknown);
  EXPECT_EQ(answer("check some-check fires").truth, Truth::unknown); // the doctor was not asked
}

} // namespace
} // namespace gpuvet
