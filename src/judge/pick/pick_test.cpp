#include "judge/load/driver_needs.hpp"
#include "judge/load/testing/build.hpp"
#include "judge/pick/pick.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace gpuvet {
namespace {

using testing::device;
using testing::driver;
using testing::rules;

const Facts& facts() {
  static const Facts tables;
  return tables;
}

const std::vector<FrameworkBuild>& builds() {
  return **facts().frameworks();
}

const PickTables& tables() {
  return **facts().pick();
}

PickQuery query(uint32_t sm, const std::string& version = {}) {
  PickQuery asked;
  asked.devices = {device(sm)};
  if (!version.empty()) asked.driver = PickDriver{driver(version), "named", false};
  asked.platforms = tables().platforms[0].builds;
  asked.tables = &tables();
  return asked;
}

Pick picked(const std::string& framework, const PickQuery& asked) {
  auto pick = pick_framework(facts(), *find_framework(tables(), framework), asked);
  EXPECT_TRUE(pick) << pick.error().what;
  return *pick;
}

const BuildFit& best(const Pick& pick) {
  EXPECT_GE(pick.best, 0);
  return pick.builds[static_cast<size_t>(pick.best)];
}

FrameworkBuild build(const std::string& version, const std::string& cuda, const std::string& sass,
                     const std::string& ptx) {
  FrameworkBuild row;
  row.framework = "torch";
  row.version = version;
  row.variant = "cu";
  row.platform = "pip";
  row.cuda = cuda;
  row.sass_known = row.ptx_known = true;
  for (const std::string& word : testing::split(sass, ' '))
    row.sass.push_back(*parse_target(word));
  for (const std::string& word : testing::split(ptx, ' '))
    row.ptx.push_back(*parse_target(word));
  return row;
}

TEST(Pick, VoltaGetsTheLastBuildsWithItsCode) {
  Pick pick = picked("torch", query(70, "580.95.05"));
  EXPECT_EQ(best(pick).release, "2.14");
  EXPECT_EQ(best(pick).build->variant, "cu126");
  EXPECT_EQ(pick.install.command,
            "pip install \"torch==2.14.*\" --index-url https://download.pytorch.org/whl/cu126");
  bool says_why = false, says_driver = false;
  for (const NewerBuilds& newer : pick.newer) {
    says_why = says_why || newer.text.find("no code for 7.0") != std::string::npos;
    says_driver = says_driver || newer.text.find("branch 580 is the last") != std::string::npos;
  }
  EXPECT_TRUE(says_why);
  EXPECT_TRUE(says_driver);
}

TEST(Pick, DriverThatDropsTheGpuHelpsNoBuild) {
  Pick pick = picked("torch", query(70, "590.44.01"));
  EXPECT_EQ(pick.best, -1);
  for (const BuildFit& fit : pick.builds)
    EXPECT_EQ(fit.obstacle, Obstacle::drops_gpu) << fit.release;
  EXPECT_FALSE(pick.any_unknown);
}

TEST(Pick, DriverBelowTheFloorOfCuda13TakesCuda12) {
  Pick pick = picked("torch", query(90, "535.104.05"));
  EXPECT_EQ(best(pick).build->cuda.substr(0, 2), "12");
  for (int i = 0; i < pick.best; ++i)
    EXPECT_EQ(pick.builds[static_cast<size_t>(i)].obstacle, Obstacle::toolkit_new);
}

TEST(Pick, BuildThatTheDriverServesInFullComesFirst) {
  std::vector<FrameworkBuild> rows = {build("2.0", "13.2", "9.0", ""),
                                      build("2.0", "13.0", "9.0", ""),
                                      build("2.0", "12.8", "9.0", "")};
  PickQuery asked = query(90, "580.65.06"); // CUDA 13.0
  asked.platforms = {"pip"};
  std::vector<BuildFit> fits = judge_builds(rows, "torch", asked, rules());
  EXPECT_EQ(fits[0].build->cuda, "13.0");
  EXPECT_EQ(fits[1].build->cuda, "12.8");
  EXPECT_TRUE(fits[2].minor_compatibility);
  EXPECT_EQ(fits[2].fit, Fit::fits);
}

TEST(Pick, PtxThatTheDriverCannotReadIsNoBuild) {
  // 8.0 has no machine code in it, and PTX of CUDA 12.8 (8.7) needs branch 570.
  FrameworkBuild row = build("2.0", "12.8", "7.0", "8.0");
  EXPECT_EQ(judge_build(row, query(80, "570.26"), rules()).fit, Fit::fits);
  EXPECT_TRUE(judge_build(row, query(80, "570.26"), rules()).jit);
  BuildFit old = judge_build(row, query(80, "550.54.14"), rules());
  EXPECT_EQ(old.fit, Fit::no);
  EXPECT_EQ(old.obstacle, Obstacle::ptx_too_new);
}

TEST(Pick, PtxOfUnknownVersionIsNotKnownOnDriversInBetween) {
  FrameworkBuild row = build("2.0", "12.x", "7.0", "8.0");
  EXPECT_EQ(judge_build(row, query(80, "580.65.06"), rules()).fit, Fit::fits);
  EXPECT_EQ(judge_build(row, query(80, "550.54.14"), rules()).obstacle, Obstacle::ptx_unknown);
  // Not even PTX 8.0 of CUDA 12.0.
  EXPECT_EQ(judge_build(row, query(80, "520.61.05"), rules()).fit, Fit::no);
}

TEST(Pick, PtxThatIsNotEstablishedIsNotKnown) {
  FrameworkBuild row = build("2.0", "12.8", "7.0", "");
  row.ptx_known = false;
  EXPECT_EQ(judge_build(row, query(70), rules()).fit, Fit::fits);
  BuildFit open = judge_build(row, query(80), rules());
  EXPECT_EQ(open.fit, Fit::unknown);
  EXPECT_EQ(open.obstacle, Obstacle::ptx_unknown);
  row.ptx_known = true;
  EXPECT_EQ(judge_build(row, query(80), rules()).fit, Fit::no);
}

TEST(Pick, PlansAndMissingListsAreNotKnown) {
  FrameworkBuild row = build("2.0", "12.8", "8.0", "");
  row.confidence = "low";
  EXPECT_EQ(judge_build(row, query(80), rules()).obstacle, Obstacle::planned);
  row.confidence = "high";
  row.sass_known = false;
  EXPECT_EQ(judge_build(row, query(80), rules()).obstacle, Obstacle::code_unknown);
}

TEST(Pick, DesktopCodeOnJetsonIsNeverACertainYes) {
  FrameworkBuild row = build("2.0", "12.8", "8.0", "");
  EXPECT_EQ(judge_build(row, query(87), rules()).obstacle, Obstacle::may_fail);
  EXPECT_EQ(judge_build(row, query(87), rules()).fit, Fit::unknown);
}

TEST(Pick, PtxCarriesNoLibrariesToANewerGpu) {
  FrameworkBuild row = build("2.0", "12.5", "9.0", "9.0");
  EXPECT_EQ(judge_build(row, query(120, "580.65.06"), rules()).obstacle, Obstacle::older_than_gpu);
  row.cuda = "12.8"; // the first that knows 12.0
  EXPECT_EQ(judge_build(row, query(120, "580.65.06"), rules()).fit, Fit::fits);
  row.cuda = "12.5";
  row.sass.push_back({120});
  EXPECT_EQ(judge_build(row, query(120, "580.65.06"), rules()).fit, Fit::fits);
}

TEST(Pick, SeveralGpusAreToldWhatEachGetsAlone) {
  PickQuery two = query(60);
  two.devices.push_back(device(120));
  Pick pick = picked("torch", two);
  ASSERT_EQ(pick.alone.size(), 2u);
  EXPECT_NE(pick.alone[0].find("2.14 (cu126)"), std::string::npos);
}

TEST(Pick, EveryGpuHasToBeServed) {
  FrameworkBuild row = build("2.0", "12.8", "8.0", "");
  PickQuery two = query(80);
  two.devices.push_back(device(70));
  EXPECT_EQ(judge_build(row, two, rules()).fit, Fit::no);
  two.devices[1] = device(86);
  EXPECT_EQ(judge_build(row, two, rules()).fit, Fit::fits);
}

TEST(Pick, PythonRanges) {
  auto answer = [](const char* range, const char* python) {
    return python_in(range, *parse_version(python));
  };
  EXPECT_EQ(answer("3.10-3.14", "3.12"), PythonAnswer::yes);
  EXPECT_EQ(answer("3.10-3.14", "3.12.7"), PythonAnswer::yes);
  EXPECT_EQ(answer("3.10-3.14", "3.9"), PythonAnswer::no);
  EXPECT_EQ(answer("3.10-3.14 (3.15 exp.)", "3.15"), PythonAnswer::experimental);
  EXPECT_EQ(answer("2.7, 3.5-3.7", "2.7"), PythonAnswer::yes);
  EXPECT_EQ(answer("2.7, 3.5-3.7", "3.4"), PythonAnswer::no);
  EXPECT_EQ(answer("3.9, 3.11, 3.12", "3.10"), PythonAnswer::no);
  EXPECT_EQ(answer("3.7-3.10 (3.11 Linux exp.)", "3.11"), PythonAnswer::experimental);
  EXPECT_EQ(answer("3.6-3.8 (1.7.1: 3.9)", "3.9"), PythonAnswer::experimental);
  EXPECT_EQ(answer("", "3.9"), PythonAnswer::unknown);
}

TEST(Pick, CudaOfABuild) {
  auto cuda = [](const char* text) {
    FrameworkBuild row;
    row.cuda = text;
    return cuda_of(row);
  };
  EXPECT_TRUE(cuda("12.6").exact);
  EXPECT_TRUE(cuda("11.0.3").exact);
  EXPECT_FALSE(cuda("12").exact);
  EXPECT_EQ(cuda("13.x").version->major(), 13u);
  EXPECT_FALSE(cuda("11.8 or 12.x").version);
  EXPECT_FALSE(cuda(">=12.8").version);
  EXPECT_FALSE(cuda("").version);
}

TEST(Pick, EveryCommandIsCompleteOrSaidToBeUnknown) {
  std::set<std::string> without;
  for (const FrameworkBuild& row : builds()) {
    InstallLine line = install_line(row, tables());
    EXPECT_EQ(line.command.find('{'), std::string::npos) << line.command;
    if (line.command.empty() && row.platform.starts_with("pip") && row.framework == "torch")
      without.insert(row.version);
    EXPECT_EQ(line.command.empty(), line.source.empty());
  }
  // Wheels of 1.0 and 1.1 had to be downloaded by hand; the last patch of 1.3 is not on the page.
  EXPECT_EQ(without, (std::set<std::string>{"1.0", "1.1", "1.3"}));
}

TEST(Pick, OldWheelsNameTheirVariant) {
  std::map<std::string, std::string> seen;
  for (const FrameworkBuild& row : builds()) {
    if (row.framework != "torch" || row.platform != "pip linux x86_64") continue;
    std::string command = install_line(row, tables()).command;
    seen[row.version + " " + row.variant] = command;
  }
  EXPECT_EQ(seen["1.12 cu116"], "pip install torch==1.12.1+cu116 --extra-index-url "
                                "https://download.pytorch.org/whl/cu116");
  EXPECT_EQ(seen["1.7 cu110"], "pip install torch==1.7.1+cu110 -f "
                               "https://download.pytorch.org/whl/torch_stable.html");
  EXPECT_EQ(seen["1.7 cu102"],
            "pip install torch==1.7.1 -f https://download.pytorch.org/whl/torch_stable.html");
}

// The container of a row, built here once more so that a mistake there does not hide itself.
Container code_of(const FrameworkBuild& row, const Version& isa) {
  Container code;
  auto add = [&](ImageKind kind, Target target) {
    Image& image = code.images.emplace_back();
    image.kind = kind;
    image.target = target;
    image.version_major = static_cast<uint16_t>(isa.major());
    image.version_minor = static_cast<uint16_t>(isa.minor());
  };
  for (Target target : row.sass)
    add(ImageKind::cubin, target);
  for (Target target : row.ptx)
    add(ImageKind::ptx, target);
  return code;
}

// What the loader and the driver rules say of a build: certainly yes, certainly no, or neither.
Fit verdict_of(const BuildFit& fit, const LoadDevice& gpu, const LoadDriver& driver) {
  const FrameworkBuild& row = *fit.build;
  if (!driver_refuses(gpu, driver, rules()).reason.empty()) return Fit::no;
  BuildCuda cuda = cuda_of(row);
  if (cuda.version && !cuda_refuses(rules(), driver, *cuda.version).reason.empty()) return Fit::no;
  if (!row.sass_known) return Fit::unknown;
  // Without a driver every PTX compiles: what does not load even so, never does.
  LoadVerdict at_all =
      load_container(code_of(row, rules().ptx_isas.back().isa), gpu, nullptr, {}, rules());
  if (at_all.outcome == LoadOutcome::none && row.ptx_known) return Fit::no;
  std::optional<IsaRange> isas = isa_range(row, &tables(), rules());
  if (row.confidence == "low" || !isas) return Fit::unknown;
  LoadVerdict high = load_container(code_of(row, isas->high), gpu, &driver, {}, rules());
  LoadVerdict low = isas->low == isas->high
                        ? high
                        : load_container(code_of(row, isas->low), gpu, &driver, {}, rules());
  // What only PTX carries to a GPU that is newer than the build's CUDA leaves the libraries open.
  for (const SassRange& range : rules().sass_ranges)
    if (range.target == Target{gpu.sm, 0} && high.outcome == LoadOutcome::jit &&
        (cuda.exact ? *cuda.version < *parse_version(range.first_cuda)
                    : cuda.version->major() < parse_version(range.first_cuda)->major()))
      return Fit::unknown;
  if (loads(high)) return Fit::fits;
  if (loads(low) || high.outcome == LoadOutcome::may_fail || !row.ptx_known) return Fit::unknown;
  return Fit::no;
}

// Every capability, driver branch and framework: the pick loads, and nothing newer does.
TEST(Pick, NewestFitsAndNothingNewerDoes) {
  size_t asked = 0, found = 0;
  std::set<uint32_t> capabilities;
  for (const Capability& capability : **facts().capabilities())
    capabilities.insert(capability.sm);
  for (uint32_t sm : capabilities)
    for (const DriverBranch& branch : rules().branches)
      for (const FrameworkName& name : tables().frameworks)
        for (const PickPlatform& platform : tables().platforms) {
          if (platform.name == "windows") continue; // its drivers are not judged
          bool few = platform.name.starts_with("conda") && branch.branch % 100 != 80;
          if (few) continue; // many rows, and the same rules
          PickQuery now = query(sm, std::to_string(branch.branch));
          now.platforms = platform.builds;
          std::vector<BuildFit> fits = judge_builds(builds(), name.framework, now, rules());
          int newest = newest_fitting(fits);
          ++asked;
          for (const BuildFit& fit : fits) {
            Fit truth = verdict_of(fit, now.devices[0], now.driver->driver);
            ASSERT_EQ(fit.fit, truth)
                << name.framework << " " << fit.build->version << " " << fit.build->variant
                << " on " << cc_name(sm) << " with " << branch.branch << ": " << fit.why;
            bool newer = newest < 0 || fit.version > fits[static_cast<size_t>(newest)].version;
            ASSERT_FALSE(newer && truth == Fit::fits);
            ASSERT_TRUE(truth == Fit::fits || !fit.why.empty());
          }
          if (newest < 0) continue;
          ++found;
          ASSERT_EQ(
              verdict_of(fits[static_cast<size_t>(newest)], now.devices[0], now.driver->driver),
              Fit::fits);
        }
  EXPECT_GT(asked, 5000u);
  EXPECT_GT(found, 1000u);
}

// A row that is taken away must not be picked, and one that is newer must be: the test above is no
// tautology.
TEST(Pick, FollowsTheRows) {
  std::vector<FrameworkBuild> rows = {build("2.0", "12.1", "8.0", ""),
                                      build("2.1", "12.1", "9.0", "")};
  PickQuery asked = query(80, "580.65.06");
  asked.platforms = {"pip"};
  std::vector<BuildFit> fits = judge_builds(rows, "torch", asked, rules());
  EXPECT_EQ(fits[static_cast<size_t>(newest_fitting(fits))].release, "2.0");
  rows.push_back(build("2.2", "12.1", "8.0", ""));
  fits = judge_builds(rows, "torch", asked, rules());
  EXPECT_EQ(fits[static_cast<size_t>(newest_fitting(fits))].release, "2.2");
  EXPECT_EQ(fits[static_cast<size_t>(newest_fitting(fits, "2.0"))].release, "2.0");
  EXPECT_EQ(fits[static_cast<size_t>(newest_fitting(fits, "2.1"))].release, "2.2");
}

TEST(Pick, CudaAskedFor) {
  PickQuery asked = query(90, "580.65.06");
  asked.cuda = parse_version("12");
  EXPECT_EQ(best(picked("torch", asked)).cuda.major(), 12u);
  asked.cuda = parse_version("12.8");
  EXPECT_EQ(best(picked("torch", asked)).build->variant, "cu128");
  asked.cuda = parse_version("9.9");
  EXPECT_TRUE(picked("torch", asked).builds.empty());
}

TEST(Releases, RangesOfRows) {
  EXPECT_EQ(newest_release("13.6, 14"), "14");
  EXPECT_EQ(newest_release("1.5-1.7"), "1.7");
  EXPECT_EQ(newest_release("0.10.2+"), "0.10.2");
  EXPECT_EQ(newest_release("0.1.71, 0.2.19-0.3.0"), "0.3.0");
  EXPECT_EQ(newest_release("x"), "");
  EXPECT_TRUE(holds_release(release_ranges("1.15-1.17"), *parse_version("1.16.3")));
  EXPECT_TRUE(holds_release(release_ranges("1.19+"), *parse_version("1.31")));
  EXPECT_FALSE(holds_release(release_ranges("1.15-1.17"), *parse_version("1.18")));
}

TEST(Frameworks, Names) {
  EXPECT_EQ(find_framework(tables(), "PyTorch")->framework, "torch");
  EXPECT_EQ(find_framework(tables(), "jax")->framework, "jaxlib");
  EXPECT_EQ(find_framework(tables(), "ONNX Runtime")->framework, "onnxruntime");
  EXPECT_EQ(find_framework(tables(), "torchvision"), nullptr);
}

} // namespace
} // namespace gpuvet
