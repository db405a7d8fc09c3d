// The catalogue of Xids is complete and says what to do about each.
#include "facts/facts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace gpuvet {
namespace {

const CheckTables& tables() {
  static const Facts facts;
  static const auto found = facts.checks();
  if (!found) throw std::runtime_error(found.error().where + ": " + found.error().what);
  return **found;
}

const Xid& xid(uint32_t code) {
  const auto& all = tables().xids;
  auto at = std::find_if(all.begin(), all.end(), [&](const Xid& row) { return row.code == code; });
  if (at == all.end()) throw std::runtime_error("no such Xid");
  return *at;
}

const CheckRow& check(const std::string& id) {
  const auto& all = tables().checks;
  auto at = std::find_if(all.begin(), all.end(), [&](const CheckRow& row) { return row.id == id; });
  if (at == all.end()) throw std::runtime_error("no check " + id);
  return *at;
}

TEST(Xids, EveryCodeOfTheDriverIsThereOnceAndInOrder) {
  ASSERT_EQ(tables().xids.size(), 176U);
  for (size_t i = 0; i < tables().xids.size(); ++i)
    EXPECT_EQ(tables().xids[i].code, i + 1);
}

TEST(Xids, WhatAnApplicationDidNeverCondemnsTheGpu) {
  for (const Xid& row : tables().xids) {
    if (row.blame == "application") {
      EXPECT_LE(row.severity, Severity::warning) << row.code;
    }
  }
  for (uint32_t code : {13U, 31U, 43U, 45U, 69U})
    EXPECT_EQ(xid(code).blame, "application") << code;
  for (uint32_t code : {48U, 64U, 74U, 79U, 95U, 119U, 140U, 158U})
    EXPECT_GE(xid(code).severity, Severity::error) << code;
  EXPECT_EQ(xid(79).severity, Severity::blocker);
}

TEST(Xids, ConsequencesAreKnownCodesAndMilder) {
  for (const Xid& row : tables().xids)
    for (uint32_t other : row.with) {
      EXPECT_NE(other, row.code);
      EXPECT_LE(xid(other).severity, Severity::error) << row.code << " hides " << other;
    }
}

TEST(Xids, FixesComeFromTheAction) {
  const CheckRow& reset = check("xid-95");
  ASSERT_FALSE(reset.fixes.empty());
  EXPECT_EQ(reset.fixes[0].command, "sudo nvidia-smi --gpu-reset -i {pci}");
  EXPECT_EQ(reset.fixes[0].safety, Safety::restarts_service);
  const CheckRow& lost = check("xid-79");
  ASSERT_GE(lost.fixes.size(), 3U);
  EXPECT_EQ(lost.fixes[0].command, "sudo reboot");
  EXPECT_TRUE(lost.fixes[1].prose); // its own step comes before those of RESTART_BM
  EXPECT_NE(lost.fixes[1].command.find("AER"), std::string::npos);
}

} // namespace
} // namespace gpuvet
