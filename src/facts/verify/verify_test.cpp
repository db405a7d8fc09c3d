// The rows of verify.toml against each other and against the GPUs that they name.
#include "facts/facts.hpp"
#include "facts/verify/verify.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace gpuvet {
namespace {

const Facts& facts() {
  static const Facts all;
  return all;
}

const VerifyTables& tables() {
  static const VerifyTables* read = [] {
    auto made = facts().verify();
    if (!made) ADD_FAILURE() << made.error().where << ": " << made.error().what;
    return made ? *made : nullptr;
  }();
  static const VerifyTables none;
  return read ? *read : none;
}

void expect_rows(const std::vector<std::string>& ids) {
  EXPECT_FALSE(ids.empty());
  for (const std::string& id : ids)
    EXPECT_NE(find_verify_row(tables(), id), nullptr) << id;
}

void expect_gpus(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const GpuMatch match = find_gpu(**facts().gpus(), name);
    ASSERT_NE(match.gpu, nullptr) << name;
    EXPECT_EQ(match.gpu->name, name);
  }
}

TEST(VerifyTable, RowsAreUniqueAndNameEachOther) {
  ASSERT_GT(tables().rows.size(), 30U);
  std::set<std::string> seen;
  for (const VerifyRow& row : tables().rows) {
    EXPECT_TRUE(seen.insert(row.id).second) << row.id;
    for (const std::string& id : row.of)
      expect_rows({id});
    for (const std::string& id : row.causes_of)
      expect_rows({id});
    if (!row.library.empty()) expect_rows({row.library});
    if (!row.own.empty()) expect_rows({row.own});
  }
}

TEST(VerifyTable, LayersAreInOrder) {
  const std::vector<std::string> order = {"self-test", "device", "bandwidth",
                                          "framework", "stress", "run"};
  size_t at = 0;
  for (const VerifyRow& row : tables().rows) {
    while (at < order.size() && order[at] != row.layer)
      ++at;
    ASSERT_LT(at, order.size()) << row.id << ": layer " << row.layer;
  }
}

TEST(VerifyTable, ActionsAreKnown) {
  const std::set<std::string> known = {"none", "monitor", "reset", "isolate", "fix-software"};
  for (const VerifyRow& row : tables().rows)
    EXPECT_TRUE(known.count(row.action)) << row.id;
  for (const VerifyReason& row : tables().reasons)
    EXPECT_TRUE(known.count(row.action)) << row.id;
  for (const VerifyCounter& row : tables().counters)
    EXPECT_TRUE(known.count(row.action)) << row.name;
}

TEST(VerifyTable, JudgedRowsHaveReadingsAndBands) {
  for (const VerifyRow& row : tables().rows) {
    const bool banded = row.rule == VerifyRule::rate || row.rule == VerifyRule::of_step ||
                        row.rule == VerifyRule::latency || row.rule == VerifyRule::delivered ||
                        row.rule == VerifyRule::deviation;
    if (!banded) continue;
    EXPECT_FALSE(row.readings.empty()) << row.id;
    EXPECT_TRUE(std::any_of(tables().bands.begin(), tables().bands.end(), [&](const auto& band) {
      return std::find(band.rows.begin(), band.rows.end(), row.id) != band.rows.end();
    })) << row.id;
  }
}

// A step without a layer would never run, one without a time would not be planned.
TEST(VerifyTable, EveryMeasuredStepHasATimeAndALayer) {
  std::set<std::string> seen;
  double grows = 0;
  for (const VerifyTime& time : tables().times) {
    EXPECT_TRUE(seen.insert(time.step).second) << time.step;
    EXPECT_NE(layer_of_step(tables(), time.step), "") << time.step;
    EXPECT_GT(time.seconds, 0) << time.step;
    EXPECT_LE(time.quick, time.seconds) << time.step;
    grows += time.grows;
  }
  EXPECT_DOUBLE_EQ(grows, 100);
  for (const VerifyRow& row : tables().rows) {
    const bool timed = !row.step.empty() && row.layer != "self-test" &&
                       !row.step.starts_with("framework-"); // those have deadlines of their own
    EXPECT_TRUE(!timed || find_time(tables(), row.step)) << row.step;
  }
}

TEST(VerifyTable, NumbersThatAreAskedForAreThere) {
  for (const char* id : {"busy-margin", "explained", "drift", "drift-seconds", "drift-warmer",
                         "memory-clock", "fewest-moments", "noise", "least-change", "many",
                         "most-in-turn", "most-in-turn-quick", "shortest", "starts"})
    EXPECT_GT(verify_number(tables(), id), 0) << id;
  EXPECT_EQ(tables().numbers.size(), 14U); // none is left that nobody asks for
}

TEST(VerifyTable, BandsGoDownwards) {
  for (const VerifyBand& band : tables().bands) {
    expect_rows(band.rows);
    if (!band.ok) continue;
    if (band.unit == "share")
      EXPECT_GT(*band.ok, *band.warn) << band.rows.front();
    else
      EXPECT_LT(*band.ok, *band.warn) << band.rows.front();
  }
  for (const VerifySiblings& row : tables().siblings) {
    expect_rows(row.rows);
    EXPECT_LT(row.warn, row.fail);
  }
}

TEST(VerifyTable, NamesAreThoseOfTheGpuTable) {
  for (const VerifyTensor& row : tables().tensor)
    expect_gpus(row.names);
  for (const VerifyPublished& row : tables().published) {
    expect_rows(row.rows);
    expect_gpus(row.names);
    EXPECT_FALSE(row.names.empty());
    EXPECT_GT(row.least, 0);
    EXPECT_LE(row.least, row.most);
  }
}

// What the vendor prints: x16 of each generation, one way.
TEST(VerifyTable, LanesCarryWhatIsPrinted) {
  const std::vector<std::pair<uint32_t, double>> printed = {{1, 4.0},  {2, 8.0},  {3, 15.75},
                                                            {4, 31.5}, {5, 63.0}, {6, 121.0}};
  ASSERT_EQ(tables().pcie.size(), printed.size());
  for (size_t i = 0; i < printed.size(); ++i) {
    const VerifyPcie& row = tables().pcie[i];
    EXPECT_EQ(row.generation, printed[i].first);
    EXPECT_NEAR(16 * row.gt_s / 8 * row.payload_bits / row.line_bits, printed[i].second, 0.05);
  }
}

TEST(VerifyTable, NothingIsProvedOfAnUnknownKernel) {
  EXPECT_FALSE(is_proved(tables(), "no such kernel", 90));
  VerifyTables own;
  own.proved.push_back({"core", {80, 90}, "test"});
  EXPECT_TRUE(is_proved(own, "core", 90));
  EXPECT_FALSE(is_proved(own, "core", 75));
  EXPECT_FALSE(is_proved(own, "gemm_sm90a", 90));
}

// A key that nobody reads, and one that is missing, are errors with their line.
TEST(VerifyTable, RefusesWhatItDoesNotKnow) {
  const std::string source = "source = [{key = \"S\", text = \"t\"}]\n";
  auto reading = [&](const std::string& rows) {
    return Facts([=](const std::string&) -> Result<std::string> { return source + rows; });
  };
  Facts misspelt =
      reading("pcie = [{generation = 3, gt_s = 8, payload_bits = 128, line_bits = 130, "
              "lanes = 4, source = [\"S\"]}]\n");
  auto read = misspelt.verify();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().what, "no key is called 'lanes'");
  EXPECT_EQ(read.error().where, "verify.toml:2");
  Facts half = reading("band = [{rows = [\"x\"], unit = \"share\", ok = 0.5, source = [\"S\"]}]\n");
  ASSERT_FALSE(half.verify());
  Facts sourceless = reading("nvlink = [{generation = 4, sm = [90], link_gb_s = 25}]\n");
  ASSERT_FALSE(sourceless.verify());
  Facts word = reading("row = [{id = \"a\", layer = \"l\", title = \"t\", scope = \"moon\", rule = "
                       "\"told\", pass = \"p\", next = \"n\", action = \"none\", source = "
                       "[\"S\"]}]\n");
  ASSERT_FALSE(word.verify());
}

} // namespace
} // namespace gpuvet
