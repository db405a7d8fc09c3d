#include "judge/checks/testing/machines.hpp"

#include <gtest/gtest.h>

namespace gpuvet::testing {
namespace {

Outcome ask_cuda(std::string_view id, const Machine& machine) {
  return ask(cuda_checks(), id, machine);
}

Machine with_visible(const std::string& value, uint32_t gpus = 2) {
  Machine machine = with_driver("580.65.06", gpus, "10de:2335", "NVIDIA H200", 90);
  machine.environment["CUDA_VISIBLE_DEVICES"] = value;
  return machine;
}

TEST(CudaVisibleDevices, NothingIsLeft) {
  for (const char* value : {"", "-1", "2", "NoDevFiles", "\"0\""}) {
    Outcome outcome = ask_cuda("cuda-visible-devices-none", with_visible(value));
    EXPECT_EQ(outcome.answer, Answer::fires) << value;
    EXPECT_EQ(outcome.fields["value"], value);
  }
  Outcome outcome = ask_cuda("cuda-visible-devices-none", with_visible("2"));
  EXPECT_EQ(outcome.fields["why"], "\"2\": the 2 GPUs have numbers 0 to 1");
  EXPECT_EQ(outcome.evidence[0], "environment: CUDA_VISIBLE_DEVICES=2");
  EXPECT_EQ(ask_cuda("cuda-visible-devices-none", with_visible("1")).answer, Answer::ok);
  EXPECT_EQ(ask_cuda("cuda-visible-devices-none", healthy_h100()).answer, Answer::not_applicable);
  Machine none = no_gpu();
  none.environment["CUDA_VISIBLE_DEVICES"] = "";
  EXPECT_EQ(ask_cuda("cuda-visible-devices-none", none).answer, Answer::not_applicable);
}

TEST(CudaVisibleDevices, UuidsNeedNvml) {
  Machine machine = with_visible("GPU-00000000-0000-0000-0000-000000000001");
  EXPECT_EQ(ask_cuda("cuda-visible-devices-none", machine).answer, Answer::ok);
  machine.nvml.asked.state = AskState::failed;
  EXPECT_EQ(ask_cuda("cuda-visible-devices-none", machine).answer, Answer::unknown);
}

TEST(CudaVisibleDevices, VllmReadsNumbersOnlyOrUuidsInFull) {
  const std::string full = "GPU-00000000-0000-0000-0000-000000000001";
  auto with_vllm = [](const std::string& value, const std::string& version) {
    Machine machine = with_visible(value);
    machine.nvml.gpus[0].mig.value = true;
    PythonEnv env;
    env.executable = "/venv/bin/python3";
    env.packages = known<std::vector<PythonPackage>>(
        {PythonPackage{.name = "vllm", .version = version, .folder = "/venv"}}, "/venv");
    machine.pythons = {env};
    return machine;
  };
  auto answer = [&](const std::string& value, const std::string& version) {
    return ask_cuda("cuda-visible-devices-vllm", with_vllm(value, version));
  };
  for (const char* version : {"0.5.2", "0.10.0", "0.23.0", "0.23.1+cu129"}) {
    Outcome outcome = answer(full, version);
    EXPECT_EQ(outcome.answer, Answer::fires) << version;
    EXPECT_EQ(outcome.fields["numbers"], "1");
    EXPECT_EQ(outcome.fields["newer"], "0.24");
    EXPECT_EQ(answer("0,1", version).answer, Answer::ok) << version;
  }
  EXPECT_EQ(answer(full, "0.5.0").answer, Answer::ok);
  EXPECT_EQ(answer(full, "0.24.0").answer, Answer::ok);
  Outcome abbreviated = answer("GPU-00000000-0000-0000-0000-00000000000", "0.33.0");
  EXPECT_EQ(abbreviated.answer, Answer::fires);
  EXPECT_EQ(abbreviated.fields.count("newer"), 0U);
  EXPECT_EQ(answer("GPU-0000", "0.40.0").answer, Answer::ok) << "not known to fail";
  Outcome mig = answer("MIG-2f6ab2ba-8f3a-5c2f-9b5b-6ef1a7cbd2b1", "0.20.1");
  EXPECT_EQ(mig.answer, Answer::fires);
  EXPECT_EQ(mig.fields.count("numbers"), 0U); // of MIG devices they are not known
  Machine without = with_visible(full);
  EXPECT_EQ(ask_cuda("cuda-visible-devices-vllm", without).answer, Answer::not_applicable);
}

TEST(CudaVisibleDevices, TheStartupFileIsNamed) {
  Machine machine = with_visible("");
  machine.toolkits.settings = {{"/etc/environment", 3, "CUDA_VISIBLE_DEVICES=", {}}};
  Outcome outcome = ask_cuda("cuda-visible-devices-none", machine);
  EXPECT_EQ(outcome.evidence.at(1), "/etc/environment:3: CUDA_VISIBLE_DEVICES=");
}

TEST(CudaVisibleDevices, CutTwiceSome) {
  Outcome cut = ask_cuda("cuda-visible-devices-cut", with_visible("0,7,1"));
  EXPECT_EQ(cut.answer, Answer::fires);
  EXPECT_EQ(cut.fields["shown"], "1");
  EXPECT_EQ(cut.fields["listed"], "3");
  EXPECT_EQ(ask_cuda("cuda-visible-devices-cut", with_visible("0,1")).answer, Answer::ok);
  EXPECT_EQ(ask_cuda("cuda-visible-devices-cut", with_visible("0,1,")).answer, Answer::ok);

  EXPECT_EQ(ask_cuda("cuda-visible-devices-twice", with_visible("0,0")).answer, Answer::fires);
  EXPECT_EQ(ask_cuda("cuda-visible-devices-twice", with_visible("0,1")).answer, Answer::ok);
  EXPECT_EQ(ask_cuda("cuda-visible-devices-cut", with_visible("0,0")).answer, Answer::ok);

  EXPECT_EQ(ask_cuda("cuda-visible-devices-some", with_visible("1")).answer, Answer::fires);
  EXPECT_EQ(ask_cuda("cuda-visible-devices-some", with_visible("1,0")).answer, Answer::ok);
  EXPECT_EQ(ask_cuda("cuda-visible-devices-some", with_visible("")).answer, Answer::not_applicable);
}

TEST(CudaVisibleDevices, SeveralMigDevices) {
  Machine machine = with_visible("MIG-a,MIG-b", 1);
  EXPECT_EQ(ask_cuda("cuda-visible-devices-none", machine).answer, Answer::fires);
  machine.nvml.gpus[0].mig.value = true;
  EXPECT_EQ(ask_cuda("cuda-visible-devices-none", machine).answer, Answer::ok);
  Outcome outcome = ask_cuda("cuda-visible-devices-mig", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_EQ(outcome.fields["count"], "2");
}

TEST(CudaDeviceOrder, OnlyTwoValuesAreKnown) {
  Machine machine = healthy_h100();
  EXPECT_EQ(ask_cuda("cuda-device-order-invalid", machine).answer, Answer::not_applicable);
  machine.environment["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
  EXPECT_EQ(ask_cuda("cuda-device-order-invalid", machine).answer, Answer::ok);
  machine.environment["CUDA_DEVICE_ORDER"] = "PCI";
  EXPECT_EQ(ask_cuda("cuda-device-order-invalid", machine).answer, Answer::fires);
}

TEST(CudaDeviceOrder, DiffersFromNvidiaSmi) {
  Machine machine = with_driver("580.65.06", 2, "10de:2335", "NVIDIA H200", 90);
  EXPECT_EQ(ask_cuda("cuda-device-order-differs", machine).answer, Answer::ok);
  std::swap(machine.cuda.devices[0].uuid, machine.cuda.devices[1].uuid);
  Outcome outcome = ask_cuda("cuda-device-order-differs", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_EQ(outcome.fields["cuda"], "0");
  EXPECT_EQ(outcome.fields["nvml"], "1");
  machine.cuda.asked.state = AskState::failed;
  EXPECT_EQ(ask_cuda("cuda-device-order-differs", machine).answer, Answer::unknown);
}

TEST(CudaComputeMode, ProhibitedOnAllOrSome) {
  Machine machine = with_driver("580.65.06", 2, "10de:2335", "NVIDIA H200", 90);
  EXPECT_EQ(ask_cuda("cuda-compute-prohibited", machine).answer, Answer::ok);
  machine.nvml.gpus[1].compute_mode.value = 2U;
  Outcome one = ask_cuda("cuda-compute-prohibited", machine);
  EXPECT_EQ(one.fields["gpus"], "GPU 1");
  EXPECT_EQ(one.severity, Severity::error);
  machine.nvml.gpus[0].compute_mode.value = 2U;
  Outcome both = ask_cuda("cuda-compute-prohibited", machine);
  EXPECT_EQ(both.fields["index"], "0,1");
  EXPECT_EQ(both.severity, std::nullopt);
  machine.nvml.asked.state = AskState::hung;
  EXPECT_EQ(ask_cuda("cuda-compute-prohibited", machine).answer, Answer::unknown);
}

TEST(CudaComputeMode, ExclusiveMattersWhenSomebodyHoldsIt) {
  Machine machine = with_driver("580.65.06", 1, "10de:2335", "NVIDIA H200", 90);
  machine.nvml.gpus[0].compute_mode.value = 3U;
  EXPECT_EQ(ask_cuda("cuda-compute-exclusive", machine).severity, Severity::info);
  machine.nvml.gpus[0].processes.value = {{4711, 1ULL << 30U, false}};
  Outcome held = ask_cuda("cuda-compute-exclusive", machine);
  EXPECT_EQ(held.severity, Severity::error);
  EXPECT_NE(held.evidence[0].find("held by process 4711"), std::string::npos);
  machine.surroundings.mps.control_socket = true;
  EXPECT_EQ(ask_cuda("cuda-compute-exclusive", machine).answer, Answer::ok);
}

TEST(CudaMig, EmptyAndPending) {
  Machine machine = with_driver("580.65.06", 1, "10de:2335", "NVIDIA H200", 90);
  machine.nvml.gpus[0].mig.value = true;
  machine.nvml.gpus[0].mig_pending.value = true;
  machine.nvml.gpus[0].mig_devices.value = 2U;
  EXPECT_EQ(ask_cuda("cuda-mig-empty", machine).answer, Answer::ok);
  EXPECT_EQ(ask_cuda("cuda-mig-pending", machine).answer, Answer::ok);
  machine.nvml.gpus[0].mig_devices.value = 0U;
  EXPECT_EQ(ask_cuda("cuda-mig-empty", machine).answer, Answer::fires);
  machine.nvml.gpus[0].mig_pending.value = false;
  EXPECT_EQ(ask_cuda("cuda-mig-pending", machine).answer, Answer::fires);
}

TEST(CudaDevices, FewerThanNvml) {
  Machine machine = with_driver("580.65.06", 2, "10de:2335", "NVIDIA H200", 90);
  EXPECT_EQ(ask_cuda("cuda-fewer-devices", machine).answer, Answer::ok);
  machine.cuda.devices.pop_back();
  Outcome outcome = ask_cuda("cuda-fewer-devices", machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_FALSE(outcome.missing.empty());
  machine.nvml.gpus[1].mig.value = true;
  outcome = ask_cuda("cuda-fewer-devices", machine);
  EXPECT_EQ(outcome.severity, Severity::info);
  EXPECT_TRUE(outcome.missing.empty());
  machine.environment["CUDA_VISIBLE_DEVICES"] = "0";
  EXPECT_EQ(ask_cuda("cuda-fewer-devices", machine).answer, Answer::not_applicable);
}

TEST(CudaDevices, SlowStart) {
  Machine machine = healthy_h100();
  machine.cuda.init_seconds = 0.4;
  EXPECT_EQ(ask_cuda("cuda-slow-start", machine).answer, Answer::ok);
  machine.cuda.init_seconds = 12;
  EXPECT_FALSE(ask_cuda("cuda-slow-start", machine).missing.empty());
  machine.nvml.gpus[3].persistence.value = false;
  EXPECT_TRUE(ask_cuda("cuda-slow-start", machine).missing.empty());
  machine.cuda.asked.state = AskState::skipped;
  EXPECT_EQ(ask_cuda("cuda-slow-start", machine).answer, Answer::unknown);
}

TEST(CudaMemory, TakenByOthers) {
  Machine machine = healthy_h100();
  EXPECT_EQ(ask_cuda("cuda-memory-taken", machine).answer, Answer::ok);
  machine.nvml.gpus[2].memory_used.value = 70ULL << 30U;
  EXPECT_EQ(ask_cuda("cuda-memory-taken", machine).answer, Answer::ok) << "nobody is named";
  machine.nvml.gpus[2].processes.value = {{4711, 69ULL << 30U, false}};
  GpuProcess process;
  process.pid = 4711;
  process.name = "python3";
  machine.processes.value->push_back(process);
  Outcome ours = ask_cuda("cuda-memory-taken", machine);
  EXPECT_EQ(ours.severity, Severity::info);
  EXPECT_EQ(ours.fields["who"], "python3 (pid 4711)");
  machine.processes.value->back().ours = false;
  EXPECT_EQ(ask_cuda("cuda-memory-taken", machine).severity, Severity::warning);
}

} // namespace
} // namespace gpuvet::testing
