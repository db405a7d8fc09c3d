#include "judge/load/testing/build.hpp"
#include "judge/policy/check.hpp"
#include "judge/policy/check_report.hpp"
#include "judge/policy/policy.hpp"
#include "judge/policy/propose.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using testing::rules;

const Facts& facts() {
  static const Facts tables;
  return tables;
}

Policy policy(const std::string& text) {
  auto read = read_policy(text, "gpuvet.toml", facts());
  EXPECT_TRUE(read) << read.error().where << ": " << read.error().what;
  return read.value_or(Policy{});
}

// "LINE: sentence" of a policy that is refused.
std::string refused(const std::string& text) {
  auto read = read_policy(text, "p.toml", facts());
  EXPECT_FALSE(read) << text;
  if (read) return {};
  EXPECT_EQ(read.error().where.substr(0, 7), "p.toml:");
  return read.error().where.substr(7) + ": " + read.error().what;
}

Container part(const std::string& words, std::vector<std::string> kernels = {"k"}) {
  Container container = testing::container(words);
  container.kernels = std::move(kernels);
  container.kernels_read = true;
  container.size = 1000;
  return container;
}

Artefact artefact(std::vector<Container> containers, uint64_t bytes = 5000) {
  Artefact made;
  made.path = "dist/a.whl";
  made.bytes = bytes;
  Binary binary;
  binary.path = "dist/a.whl!x.so";
  binary.containers = std::move(containers);
  made.binaries.push_back(std::move(binary));
  return made;
}

PolicyCheck check(const std::string& text, std::vector<Artefact> artefacts) {
  return check_artefacts(policy(text), artefacts, rules());
}

bool met(const std::string& text, const std::string& words) {
  return check(text, {artefact({part(words)})}).met();
}

TEST(Policy, ReadsEverything) {
  Policy read = policy("[run]\nnative = [\n  \"T4\",\n  \"A100 1g.5gb\",\n]\njit = \"RTX 5090\"\n"
                       "driver = \"525.60.13\"\nfuture-gpus = true\n"
                       "[size]\ngpu-code = \"300 MB\"\nfile = \"1.5 GiB\"\ntotal = 4096\n"
                       "[artefacts]\ngpu-code-optional = true\n");
  ASSERT_EQ(read.gpus.size(), 3u);
  EXPECT_EQ(read.gpus[0].name, "T4");
  EXPECT_EQ(read.gpus[0].line, 3u);
  EXPECT_TRUE(read.gpus[0].native);
  EXPECT_EQ(read.gpus[1].device.sm, 80u);
  EXPECT_EQ(read.gpus[1].line, 4u);
  EXPECT_FALSE(read.gpus[2].native);
  EXPECT_EQ(read.driver->text, "525.60.13");
  EXPECT_EQ(read.future_line, 8u);
  EXPECT_EQ(read.gpu_code->bytes, 300000000u);
  EXPECT_EQ(read.file_size->bytes, 1610612736u);
  EXPECT_EQ(read.total->bytes, 4096u);
  EXPECT_TRUE(read.code_optional);
}

TEST(Policy, MisspeltKeysAreErrorsWithTheLineAndASuggestion) {
  EXPECT_EQ(refused("[run]\nnative = [\"T4\"]\nfuture-gpu = true\n"),
            "3: no key of [run] is called 'future-gpu': did you mean future-gpus?");
  EXPECT_EQ(refused("[run]\nnativ = [\"T4\"]\n"),
            "2: no key of [run] is called 'nativ': did you mean native?");
  EXPECT_EQ(refused("[runs]\nnative = [\"T4\"]\n"),
            "2: no section is called [runs]: did you mean run?");
  EXPECT_EQ(refused("[run]\nnative = [\"T4\"]\n[sizes]\n"),
            "1: no section is called [sizes]: did you mean size?");
  EXPECT_EQ(refused("native = [\"T4\"]\n"), "1: 'native' belongs in section [run]");
  EXPECT_EQ(refused("x = 1\n"), "1: no key is called 'x' outside of the sections");
  EXPECT_EQ(refused("[run]\nunheard-of = []\n").substr(0, 45),
            "2: no key of [run] is called 'unheard-of': th");
}

TEST(Policy, WrongValuesAreErrors) {
  EXPECT_EQ(refused("[run]\nnative = [\n\"T4\",\n\"T44\"]\n").substr(0, 28),
            "4: no GPU is called \"T44\"; c");
  EXPECT_EQ(refused("[run]\ndriver = \"new\"\n"),
            "2: \"new\" is not a driver version such as 535 or 580.65.06");
  EXPECT_EQ(refused("[run]\ndriver = [\"535\"]\n"), "2: 'driver' takes one value, not a list");
  EXPECT_EQ(refused("[run]\nfuture-gpus = \"yes\"\n"), "2: 'future-gpus' must be true or false");
  EXPECT_EQ(refused("[run]\nnative = [70]\n"), "2: 'native' must be text in quotes");
  EXPECT_EQ(refused("[size]\nfile = \"big\"\n"),
            "2: \"big\" is not a size such as \"300 MB\" or \"1.5 GiB\"");
  EXPECT_EQ(refused("[run]\nnative = [\"T4\", \"T4\"]\n"), "2: \"T4\" is named already in line 2");
  EXPECT_EQ(refused("[run]\nnative = [\"T4 1g.5gb\"]\n"),
            "2: T4 (compute capability 7.5) has no MIG, so no profile 1g.5gb");
  EXPECT_EQ(refused("[run\n").substr(0, 3), "1: ");
  EXPECT_EQ(refused("[run]\n[run]\n").substr(0, 3), "2: ");
  EXPECT_EQ(refused("[[run]]\nnative = [\"T4\"]\n").substr(0, 3), "1: ");
  EXPECT_EQ(refused("[run]\nnative = {a = 1}\n").substr(0, 3), "2: ");
}

TEST(Policy, OneThatRequiresNothingIsAnError) {
  EXPECT_EQ(refused("").substr(0, 31), "1: the policy requires nothing:");
  EXPECT_EQ(refused("[run]\nnative = []\n").substr(0, 31), "1: the policy requires nothing:");
  EXPECT_EQ(refused("[run]\nfuture-gpus = false\n").substr(0, 31),
            "1: the policy requires nothing:");
}

TEST(Policy, DriverThatNoLongerDrivesAGpuIsAnError) {
  EXPECT_EQ(refused("[run]\nnative = [\"V100\"]\ndriver = \"590\"\n").substr(0, 41),
            "3: this cannot be met on V100 (line 2): d");
}

TEST(Policy, GpuNewerThanTheOldestDriverIsJudgedForItsFirst) {
  Policy read = policy("[run]\nnative = [\"T4\", \"RTX 5090\"]\ndriver = \"535\"\n");
  EXPECT_EQ(read.gpus[0].driver->text, "535");
  EXPECT_EQ(read.gpus[1].driver->text, "570");
  ASSERT_EQ(read.notes.size(), 1u);
}

TEST(Policy, Sizes) {
  EXPECT_EQ(size_in_bytes("300 MB"), 300000000u);
  EXPECT_EQ(size_in_bytes("300MB"), 300000000u);
  EXPECT_EQ(size_in_bytes("1.5 GiB"), 1610612736u);
  EXPECT_EQ(size_in_bytes("0.5 kb"), 500u);
  EXPECT_EQ(size_in_bytes("4096"), 4096u);
  for (const char* wrong : {"", "MB", "-1 MB", "1e9", "1.2.3 MB", ".5 MB", "5. MB", "0", "1 MO",
                            "99999999999999999999", "999999999999999 GB"})
    EXPECT_FALSE(size_in_bytes(wrong)) << wrong;
}

TEST(Policy, MigNames) {
  EXPECT_EQ(split_mig("A100 1g.5gb").profile, "1g.5gb");
  EXPECT_EQ(split_mig("A100 1g.5gb").gpu, "A100");
  EXPECT_EQ(split_mig("H100 PCIe MIG 3g.40gb+me").gpu, "H100 PCIe");
  EXPECT_EQ(split_mig("H100 PCIe MIG 3g.40gb+me").profile, "3g.40gb+me");
  EXPECT_EQ(split_mig("A100").profile, "");
  EXPECT_EQ(split_mig("GeForce RTX 4090").profile, "");
  EXPECT_EQ(split_mig("A100 9g.5gb").profile, ""); // no such slice: an unknown name
}

TEST(Check, NativeMeansNoPtx) {
  const std::string native = "[run]\nnative = [\"H100\"]\n", jit = "[run]\njit = [\"H100\"]\n";
  EXPECT_TRUE(met(native, "sm_90"));
  EXPECT_TRUE(met(native, "sm_90 compute_80"));
  EXPECT_FALSE(met(native, "sm_80 compute_80"));
  EXPECT_TRUE(met(jit, "sm_80 compute_80"));
  EXPECT_FALSE(met(jit, "sm_80"));
  EXPECT_TRUE(met("[run]\nnative = [\"A10\"]\n", "sm_80")); // the same major version
}

TEST(Check, SaysWhatIsMissing) {
  PolicyCheck result = check("[run]\nnative = [\"H100\"]\n",
                             {artefact({part("sm_90"), part("sm_80 compute_80", {"lonely"})})});
  ASSERT_FALSE(result.met());
  const CheckedRequirement& found = result.artefacts[0].requirements[0];
  ASSERT_EQ(found.files.size(), 1u);
  EXPECT_EQ(found.files[0].verdict.coverage, Coverage::partial);
  ASSERT_FALSE(found.files[0].verdict.shortfalls.empty());
  EXPECT_EQ(found.files[0].verdict.shortfalls[0].kernels, (std::vector<std::string>{"lonely"}));
  EXPECT_NE(found.why.find("the driver has to compile it"), std::string::npos);
  EXPECT_NE(found.fix.find("code=sm_90"), std::string::npos);
  EXPECT_EQ(found.why.find("switched off"), std::string::npos);
}

TEST(Check, PtxForCardsToCome) {
  const std::string text = "[run]\nfuture-gpus = true\n";
  EXPECT_TRUE(met(text, "sm_80 compute_80"));
  EXPECT_FALSE(met(text, "sm_80 sm_90 sm_120"));
  EXPECT_FALSE(met(text, "sm_90a compute_90a")); // architecture-specific PTX stays behind
  EXPECT_FALSE(met(text, "sm_100f compute_100f"));
  EXPECT_FALSE(check(text, {artefact({part("sm_80 compute_80"), part("sm_80")})}).met());
}

TEST(Check, OldestDriver) {
  // PTX 9.0 needs branch 580.
  EXPECT_FALSE(met("[run]\njit = [\"H100\"]\ndriver = \"535\"\n", "compute_80"));
  EXPECT_TRUE(met("[run]\njit = [\"H100\"]\ndriver = \"580\"\n", "compute_80"));
  // Machine code of CUDA 13 does not start below it either.
  Artefact made = artefact({part("sm_90")});
  made.binaries[0].toolkit = known(*parse_version("13.0"), "test");
  PolicyCheck old = check("[run]\nnative = [\"H100\"]\ndriver = \"535\"\n", {made});
  EXPECT_FALSE(old.met());
  EXPECT_EQ(old.artefacts[0].requirements[0].met, Met::yes); // the code itself is there
  EXPECT_EQ(old.artefacts[0].requirements[1].met, Met::no);
  EXPECT_TRUE(check("[run]\nnative = [\"H100\"]\ndriver = \"580.65.06\"\n", {made}).met());
}

TEST(Check, DesktopCodeIsNoYesForJetson) {
  EXPECT_FALSE(met("[run]\njit = [\"Jetson AGX Orin\"]\n", "sm_80"));
  EXPECT_TRUE(met("[run]\njit = [\"Jetson AGX Orin\"]\n", "sm_87"));
}

TEST(Check, SizesAreInclusive) {
  EXPECT_TRUE(met("[size]\ngpu-code = 1000\n", "sm_80"));
  EXPECT_FALSE(met("[size]\ngpu-code = 999\n", "sm_80"));
  EXPECT_TRUE(met("[size]\nfile = 5000\n", "sm_80"));
  EXPECT_FALSE(met("[size]\nfile = 4999\n", "sm_80"));
  Artefact one = artefact({part("sm_80")});
  EXPECT_TRUE(check("[size]\ntotal = 10000\n", {one, one}).met());
  EXPECT_FALSE(check("[size]\ntotal = 9999\n", {one, one}).met());
}

TEST(Check, NoGpuCodeAtAllIsNotOk) {
  Artefact none;
  none.path = "dist/pure.whl";
  EXPECT_FALSE(check("[run]\nnative = [\"T4\"]\n", {none}).met());
  EXPECT_TRUE(
      check("[run]\nnative = [\"T4\"]\n[artefacts]\ngpu-code-optional = true\n", {none}).met());
  // Beside one that has some it is.
  PolicyCheck both = check("[run]\nnative = [\"T4\"]\n", {none, artefact({part("sm_75")})});
  EXPECT_TRUE(both.met());
  EXPECT_EQ(both.artefacts[0].requirements[0].met, Met::not_applicable);
}

TEST(Check, WhatCannotBeReadIsNotReadable) {
  Artefact broken = artefact({part("sm_75")});
  broken.errors.push_back({"cut short", "dist/a.whl"});
  PolicyCheck result = check("[run]\nnative = [\"T4\"]\n", {broken});
  EXPECT_TRUE(result.met());
  EXPECT_FALSE(result.readable);
  EXPECT_EQ(check_report(result, {}).state, State::unknown);
}

TEST(Check, NamesOfWhatFallsShort) {
  Policy read = policy("[run]\nnative = [\"H100\"]\nfuture-gpus = true\n");
  EXPECT_TRUE(names_would_help(part("sm_80 compute_80"), read, rules())); // not native
  EXPECT_TRUE(names_would_help(part("sm_90"), read, rules()));            // no PTX
  EXPECT_FALSE(names_would_help(part("sm_90 compute_90"), read, rules()));
}

FleetMachine machine(const std::string& name, const std::string& gpu, uint32_t sm,
                     const std::string& driver) {
  FleetMachine one;
  one.name = name;
  NvmlGpu seen;
  seen.name = gpu;
  seen.capability.value = sm;
  one.machine.nvml.gpus = {seen};
  one.machine.nvml.driver_version = driver;
  one.machine.nvml.asked.state = AskState::answered;
  return one;
}

TEST(Propose, ProposalIsAPolicyWithTheOldestDriver) {
  auto text = propose_policy({machine("a.json", "NVIDIA H200", 90, "580.65.06"),
                              machine("b.json", "Tesla T4", 75, "535.104.05"),
                              machine("c.json", "An Unheard-of Card", 120, "580.65.06")},
                             facts());
  ASSERT_TRUE(text) << text.error().what;
  Policy read = policy(*text);
  ASSERT_EQ(read.gpus.size(), 3u);
  std::vector<uint32_t> found;
  for (const PolicyGpu& gpu : read.gpus)
    found.push_back(gpu.device.sm);
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, (std::vector<uint32_t>{75, 90, 120}));
  EXPECT_EQ(read.driver->text, "535.104.05");
  EXPECT_TRUE(read.future_line);
}

TEST(Propose, WithoutAnyGpuThereIsNone) {
  EXPECT_FALSE(propose_policy({}, facts()));
  FleetMachine empty;
  empty.name = "a\nb";
  auto refused_text = propose_policy({empty}, facts());
  ASSERT_FALSE(refused_text);
}

TEST(Propose, HostileNamesStayInTheirComment) {
  auto text =
      propose_policy({machine("x\n[size]\nfile = 1", "NVIDIA H200", 90, "580.65.06")}, facts());
  ASSERT_TRUE(text);
  EXPECT_FALSE(policy(*text).file_size);
}

} // namespace
} // namespace gpuvet
