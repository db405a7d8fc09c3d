#include "gpu/testing/fakes.hpp"
#include "gpu/work/survey.hpp"
#include "gpu/work/survey/users.hpp"
#include "os/child.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace gpuvet {
namespace {

SurveyOptions fake_survey(double deadline_s = 5) {
  SurveyOptions options;
  options.cuda_library = fake("current", "libcuda.so.1");
  options.nvml_library = fake("current", "libnvidia-ml.so.1");
  options.deadline_s = deadline_s;
  return options;
}

Survey survey(const std::string& cuda, const std::string& nvml,
              const SurveyOptions& options = fake_survey()) {
  Steered steered_cuda("GPUVET_FAKE_CUDA", cuda);
  Steered steered_nvml("GPUVET_FAKE_NVML", nvml);
  return survey_gpus(options);
}

TEST(Survey, TellsOfAHealthyMachine) {
  Survey found = survey("gpus=2", "gpus=2");
  EXPECT_EQ(found.no_gpu_why, "");
  EXPECT_EQ(found.driver, "580.65.06");
  EXPECT_EQ(found.cuda, "13.0");
  EXPECT_EQ(found.nvml_problem, "");
  ASSERT_EQ(found.gpus.size(), 2u);
  for (size_t at = 0; at < 2; ++at) {
    VerifiedGpu& gpu = found.gpus[at];
    EXPECT_EQ(gpu.ordinal, static_cast<int>(at));
    EXPECT_EQ(gpu.uuid, "GPU-0000000" + std::to_string(at) + "-0001-0203-0405-060708090a0b");
    EXPECT_EQ(gpu.nvml_index, at);
    EXPECT_EQ(gpu.sm, 90u);
    EXPECT_EQ(gpu.why_unusable, "");
    EXPECT_EQ(gpu.busy, "");
    EXPECT_EQ(gpu.numbers.at("power_limit_w"), 700);
    EXPECT_EQ(gpu.numbers.at("sm_clock_max_mhz"), 1980);
    EXPECT_EQ(gpu.numbers.at("link_generation_max"), 5);
    EXPECT_EQ(gpu.numbers.at("nvlinks_active"), 18);
    EXPECT_EQ(gpu.numbers.at("capability_major"), 9);
    EXPECT_EQ(gpu.numbers.count("multiprocessors"), 1u);
    EXPECT_EQ(gpu.words.at("compute_mode"), "default");
    EXPECT_EQ(gpu.words.at("mig"), "off");
    EXPECT_EQ(gpu.before.replays, 0u);
    EXPECT_EQ(gpu.before.ecc_uncorrected, 0u);
    EXPECT_EQ(gpu.before.remap_pending, false);
  }
}

TEST(Survey, JoinsByUuidNotByIndex) { // the driver offers the first GPU of NVML's two, or fewer
  Survey found = survey("gpus=1", "gpus=4");
  ASSERT_EQ(found.gpus.size(), 4u); // those that CUDA does not have are missed aloud
  EXPECT_EQ(found.gpus[0].nvml_index, 0u);
  EXPECT_EQ(found.gpus[0].why_unusable, "");
  EXPECT_EQ(found.gpus[3].ordinal, -1);
  EXPECT_EQ(found.gpus[3].why_unusable, "NVML lists this GPU and the CUDA driver does not");
  setenv("CUDA_VISIBLE_DEVICES", "0", 1); // somebody hides them on purpose
  EXPECT_EQ(survey("gpus=1", "gpus=4").gpus.size(), 1u);
  unsetenv("CUDA_VISIBLE_DEVICES");
  Survey other = survey("gpus=3", "gpus=1");
  ASSERT_EQ(other.gpus.size(), 3u);
  EXPECT_EQ(other.gpus[2].nvml_index, std::nullopt);
  EXPECT_EQ(other.gpus[2].numbers.count("power_limit_w"), 0u);
  EXPECT_EQ(other.gpus[2].before.replays, std::nullopt);
}

TEST(Survey, OddValuesComeThrough) {
  Survey found = survey("", "odd=1");
  ASSERT_EQ(found.gpus.size(), 1u);
  VerifiedGpu& gpu = found.gpus[0];
  EXPECT_EQ(gpu.numbers.at("link_width"), 8);
  EXPECT_EQ(gpu.numbers.at("nvlinks_active"), 17);
  EXPECT_EQ(gpu.words.at("compute_mode"), "exclusive process");
  EXPECT_EQ(gpu.before.replays, 11u);
  EXPECT_EQ(gpu.before.ecc_corrected, 10u);
  EXPECT_EQ(gpu.before.remapped_rows, 3u);
  EXPECT_EQ(gpu.before.remap_pending, true);
  std::vector<VerifiedGpu> gpus = found.gpus;
  Steered steered("GPUVET_FAKE_NVML", "");
  gpus[0].after.xids = 2;
  read_counters_after(gpus, fake_survey());
  EXPECT_EQ(gpus[0].after.replays, 0u);
  EXPECT_EQ(gpus[0].after.xids, 2u);
  EXPECT_EQ(gpus[0].before.replays, 11u);
}

TEST(Survey, SaysWhoUsesAGpu) {
  Survey found = survey("", "processes=2,busy=42");
  EXPECT_NE(found.gpus.at(0).busy.find("process 1000"), std::string::npos) << found.gpus[0].busy;
  EXPECT_NE(found.gpus.at(0).busy.find("busy 42 %"), std::string::npos) << found.gpus[0].busy;
}

TEST(Survey, WithoutADriverItSaysSoAtOnce) {
  SurveyOptions options = fake_survey();
  options.cuda_library = "/nowhere/libcuda.so.1";
  auto began = std::chrono::steady_clock::now();
  Survey found = survey("", "hang=nvmlDeviceGetUtilizationRates", options);
  EXPECT_NE(found.no_gpu_why.find("no driver: "), std::string::npos) << found.no_gpu_why;
  EXPECT_TRUE(found.gpus.empty());
  EXPECT_LT(seconds_since(began), 10);
}

TEST(Survey, SaysWhyTheDriverDoesNotStart) {
  EXPECT_EQ(survey("init=802", "").no_gpu_why,
            "the CUDA driver does not start: cuInit gave CUDA_ERROR_SYSTEM_NOT_READY (802)");
  EXPECT_EQ(survey("gpus=0", "").no_gpu_why, "the CUDA driver offers no GPU to this process");
  Survey hung = survey("hang=cuInit", "", fake_survey(0.5));
  EXPECT_NE(hung.no_gpu_why.find("no answer in cuInit"), std::string::npos) << hung.no_gpu_why;
}

TEST(Survey, AHangingNvmlDoesNotHideTheGpus) {
  Survey found = survey("gpus=2", "gpus=2,hang=nvmlInit_v2", fake_survey(0.5));
  ASSERT_EQ(found.gpus.size(), 2u);
  EXPECT_EQ(found.gpus[1].numbers.at("capability_major"), 9);
  EXPECT_EQ(found.gpus[1].nvml_index, std::nullopt);
  EXPECT_NE(found.nvml_problem.find("no answer in nvmlInit_v2"), std::string::npos)
      << found.nvml_problem;
}

TEST(Survey, AGpuThatTheDriverLostIsUnusable) {
  Survey found = survey("gpus=2,hang=1:cuDeviceGetName", "gpus=2", fake_survey(1));
  ASSERT_EQ(found.gpus.size(), 2u);
  EXPECT_EQ(found.gpus[0].why_unusable, "");
  EXPECT_NE(found.gpus[1].why_unusable.find("cuDeviceGetName"), std::string::npos);
}

TEST(Survey, APartOfAGpuIsNamedSo) {
  Survey found = survey("mig=1", "mig=2");
  ASSERT_EQ(found.gpus.size(), 1u);
  EXPECT_TRUE(found.gpus[0].uuid.starts_with("MIG-"));
  EXPECT_EQ(found.gpus[0].words.at("mig"), "part");
  EXPECT_EQ(found.gpus[0].nvml_index, 0u); // by its PCI address
}

class Users : public testing::Test {
 protected:
  Users() { std::filesystem::create_directories(folder_); }
  ~Users() override { std::filesystem::remove_all(folder_); }

  void process(unsigned pid, const std::string& name, unsigned parent) {
    std::string of = folder_ + "/" + std::to_string(pid);
    std::filesystem::create_directories(of);
    std::ofstream(of + "/comm") << name << "\n";
    std::ofstream(of + "/stat") << pid << " (" << name << ") S " << parent << " 1 1 0\n";
  }
  std::string who(const std::vector<NvmlProcess>& processes, std::optional<double> busy) {
    NvmlEntry entry;
    entry.processes = processes;
    entry.busy_percent = busy;
    return who_uses(entry, folder_);
  }

  std::string folder_ = testing::TempDir() + "gpuvet-users-" + std::to_string(getpid());
};

TEST_F(Users, NobodyIsNobody) {
  EXPECT_EQ(who({}, 3), "");
  EXPECT_EQ(who({}, std::nullopt), "");
}

TEST_F(Users, OthersAreNamed) {
  process(4711, "python3 :)", 1);
  EXPECT_EQ(who({{4711, {}, false}}, 0), "process 4711 (python3 :))");
  EXPECT_EQ(who({{4711, {}, false}, {5, {}, false}}, 57),
            "process 4711 (python3 :)), process 5 (of another container, or ended); busy 57 %");
  EXPECT_TRUE(who({{5, {}, false}, {6, {}, false}, {7, {}, false}, {8, {}, false}}, 0)
                  .ends_with(", process 7 (of another container, or ended) and 1 more"));
}

TEST_F(Users, OurselvesAndOurChildrenDoNotCount) {
  auto self = static_cast<unsigned>(getpid());
  process(self, "gpuvet", 1);
  process(self + 1, "gpuvet", self);
  process(self + 2, "helper", self + 1);
  EXPECT_EQ(who({{self, {}, false}, {self + 1, {}, false}, {self + 2, {}, false}}, 0), "");
}

TEST_F(Users, ADesktopCountsOnlyWhenItWorks) {
  process(900, "Xorg", 1);
  EXPECT_EQ(who({{900, {}, true}}, 2), "");
  EXPECT_EQ(who({{900, {}, true}}, 40), "process 900 (Xorg); busy 40 %");
}

TEST_F(Users, LoadWithoutAProcessIsToldToo) {
  EXPECT_EQ(who({}, 57), "something that cannot be seen from here keeps it busy (57 %)");
}

} // namespace
} // namespace gpuvet
