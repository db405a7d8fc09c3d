// Rows and functions of the checks belong together, and rows refer to what exists.
#include "judge/checks/subjects.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

namespace gpuvet {
namespace {

const CheckTables& tables() {
  static const Facts facts;
  static const auto found = facts.checks();
  if (!found) throw std::runtime_error(found.error().where + ": " + found.error().what);
  return **found;
}

TEST(Checks, EachRowHasAFunctionOrALogPattern) {
  std::set<std::string_view> code;
  for (const CheckCode& check : check_functions())
    EXPECT_TRUE(code.insert(check.id).second) << check.id << " has two functions";
  std::set<std::string_view> rows;
  for (const CheckRow& row : tables().checks) {
    EXPECT_TRUE(rows.insert(row.id).second) << row.id << " has two rows";
    bool by_row = !row.log.empty() || row.area == "xid";
    EXPECT_NE(by_row, code.count(row.id) > 0) << row.id << " needs a function or a log pattern";
  }
  for (std::string_view id : code)
    EXPECT_TRUE(rows.count(id)) << id << " has no row";
}

TEST(Checks, RowsReferToWhatExists) {
  std::set<std::string> ids, symptoms, blames{"node", "user", "provider", "application"};
  for (const CheckRow& row : tables().checks)
    ids.insert(row.id);
  for (const Symptom& symptom : tables().symptoms)
    EXPECT_TRUE(symptoms.insert(symptom.id).second) << symptom.id;
  for (const CheckRow& row : tables().checks) {
    for (const std::string& hidden : row.hides) {
      EXPECT_TRUE(ids.count(hidden)) << row.id << " hides " << hidden;
      EXPECT_NE(hidden, row.id);
    }
    for (const std::string& symptom : row.symptoms)
      EXPECT_TRUE(symptoms.count(symptom)) << row.id << " explains " << symptom;
    EXPECT_TRUE(blames.count(row.blame)) << row.id << ": " << row.blame;
    EXPECT_EQ(row.asks.back(), '?') << row.id;
    EXPECT_NE(row.title.back(), '.') << row.id << ": a title has no full stop";
    if (row.severity >= Severity::warning) {
      EXPECT_FALSE(row.fixes.empty()) << row.id << " says no way out";
    }
  }
}

} // namespace
} // namespace gpuvet
