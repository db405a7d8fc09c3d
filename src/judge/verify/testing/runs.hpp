// Runs made by hand for tests: a machine that is as it should be, and pieces to break it with.
#pragma once

#include "facts/facts.hpp"
#include "judge/verify/verify.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

namespace gpuvet::testing {

inline const Facts& facts() {
  static const Facts all;
  return all;
}

inline const VerifyTables& tables() {
  static const VerifyTables read = **facts().verify();
  return read;
}

// The kernels are proved on these, whatever the table says.
inline VerifyTables proved_on(std::vector<uint32_t> sm) {
  VerifyTables made = tables();
  made.proved.clear();
  for (const char* kernel : {"core", "gemm_sm80", "gemm_sm90a"})
    made.proved.push_back({kernel, sm, "test"});
  return made;
}

inline std::string uuid_of(int ordinal) {
  return fmt::format("GPU-00000000-0000-0000-0000-00000000000{}", ordinal);
}

// What tells one model from another here.
struct Model {
  std::string name = "NVIDIA H200";
  uint32_t sm = 90;
  double multiprocessors = 132, sm_clock_max = 1980, memory_clock = 3201, bus = 6144;
  double power = 700;
  uint32_t generation = 5, width = 16;
  double nvlinks = 18;
  double copy = 55.4, read = 4350, write = 4650, memory_copy = 4280; // GB/s
  double clock = 1560, gemm = 640, library = 726;                    // MHz, TFLOP/s
  std::string engine = "own kernel sm_90a";
};

inline Model t4() {
  return {.name = "Tesla T4",
          .sm = 75,
          .multiprocessors = 40,
          .sm_clock_max = 1590,
          .memory_clock = 5001,
          .bus = 256,
          .power = 70,
          .generation = 3,
          .nvlinks = 0,
          .copy = 12.4,
          .read = 270,
          .write = 280,
          .memory_copy = 265,
          .clock = 660,
          .gemm = 20,
          .library = 24,
          .engine = "own kernel sm_75"};
}

class RunMaker {
 public:
  RunMaker() {
    run.version = "0.1.0";
    run.started = "2026-12-01T04:00:00Z";
    run.host_kind = "bare metal";
    run.driver = "580.65.06";
    run.cuda = "13.0";
    run.seed = 42;
    for (const char* id : {"self-test-bit", "self-test-link", "self-test-hang"})
      add(id, "", "", {{"caught", {"1", {3}}}, {"trials", {"1", {3}}}});
  }

  StepResult& add(const std::string& id, const std::string& gpu, const std::string& peer,
                  std::map<std::string, Reading> readings, double seconds = 2) {
    StepResult step;
    step.id = id;
    step.gpu = gpu;
    step.peer = peer;
    step.state = StepState::done;
    step.begin_s = at_;
    step.end_s = at_ += seconds;
    step.readings = std::move(readings);
    run.steps.push_back(std::move(step));
    return run.steps.back();
  }

  void add_gpu(const Model& model) {
    const int ordinal = static_cast<int>(run.gpus.size());
    const std::string uuid = uuid_of(ordinal);
    VerifiedGpu gpu;
    gpu.uuid = uuid;
    gpu.name = model.name;
    gpu.ordinal = ordinal;
    gpu.sm = model.sm;
    gpu.pci_address = fmt::format("0000:{:02x}:00.0", 0x18 + ordinal);
    gpu.numbers = {{"multiprocessors", model.multiprocessors},
                   {"sm_clock_max_mhz", model.sm_clock_max},
                   {"memory_clock_max_mhz", model.memory_clock},
                   {"memory_bus_bits", model.bus},
                   {"power_limit_w", model.power},
                   {"power_default_w", model.power},
                   {"link_generation_max", model.generation},
                   {"link_width_max", model.width},
                   {"nvlinks", model.nvlinks},
                   {"nvlinks_active", model.nvlinks}};
    gpu.before = counters();
    gpu.after = counters();
    gpu.after.xids = 0;
    const double begin = at_;
    add_device_and_copies(uuid, model);
    add_stress(uuid, model);
    run.gpus.push_back(std::move(gpu));
    add_moments(run.gpus.back(), model, begin);
    run.seconds = at_;
  }

  void add_pairs(double rate) {
    for (const VerifiedGpu& from : run.gpus)
      for (const VerifiedGpu& to : run.gpus) {
        if (from.uuid == to.uuid) continue;
        add("peer-check", from.uuid, to.uuid,
            {{"checked", {"bytes", {1 << 30}}}, {"mismatches", {"1", {0}}}}, 0.1);
        add("peer-copy", from.uuid, to.uuid,
            {{"write", {"GB/s", {rate, rate + 1}}}, {"read", {"GB/s", {rate, rate + 1}}}}, 0.1)
            .words["access"] = "direct";
      }
  }

  StepResult& step(const std::string& id, int ordinal = 0) {
    for (StepResult& one : run.steps)
      if (one.id == id && (one.gpu.empty() || one.gpu == uuid_of(ordinal))) return one;
    throw std::out_of_range(id);
  }

  void remove(const std::string& id) {
    run.steps.erase(std::remove_if(run.steps.begin(), run.steps.end(),
                                   [&](const auto& one) { return one.id == id; }),
                    run.steps.end());
  }

  Measurements run;

 private:
  static GpuCounters counters() {
    GpuCounters made;
    made.replays = 3;
    made.ecc_corrected = made.ecc_uncorrected = made.remapped_rows = made.nvlink_errors = 0;
    made.remap_pending = made.remap_failed = false;
    return made;
  }

  static Reading around(const std::string& unit, double value) {
    return {unit, {value * 0.998, value, value * 1.002, value * 0.999, value * 1.001}};
  }

  void add_device_and_copies(const std::string& gpu, const Model& model) {
    add("device-context", gpu, "",
        {{"context_s", {"s", {0.3}}},
         {"kernel_us", {"us", {9}}},
         {"multiprocessors_seen", {"1", {model.multiprocessors}}}});
    add("device-jit", gpu, "", {{"jit_ms", {"ms", {12}}}});
    add("device-clock", gpu, "", {{"sm_clock", {"MHz", {model.sm_clock_max}}}});
    add("copy-to-gpu", gpu, "", {{"rate", around("GB/s", model.copy)}});
    add("copy-from-gpu", gpu, "", {{"rate", around("GB/s", model.copy * 0.99)}});
    add("copy-both-ways", gpu, "",
        {{"to_gpu", around("GB/s", model.copy * 0.8)},
         {"from_gpu", around("GB/s", model.copy * 0.78)}});
    add("memory-bandwidth", gpu, "",
        {{"read", around("GB/s", model.read)},
         {"write", around("GB/s", model.write)},
         {"copy", around("GB/s", model.memory_copy)}});
    add("memory-check", gpu, "",
        {{"checked", {"bytes", {1073741824}}}, {"mismatches", {"1", {0}}}});
  }

  void add_gemm(const std::string& id, const std::string& gpu, double rate, double clock,
                const std::string& engine) {
    Reading rates{"TFLOP/s", {}}, clocks{"MHz", {}};
    for (int i = 0; i < 40; ++i) {
      rates.samples.push_back(rate * (1 + 0.001 * (i % 3 - 1)));
      clocks.samples.push_back(clock);
    }
    add(id, gpu, "",
        {{"rate", rates},
         {"sm_clock", clocks},
         {"checked", {"1", {20480}}},
         {"mismatches", {"1", {0}}}},
        40)
        .words["engine"] = engine;
  }

  void add_stress(const std::string& gpu, const Model& model) {
    add("launch", gpu, "",
        {{"submit_us", {"us", {2.2, 2.3, 2.4}}},
         {"round_trip_us", {"us", {9.5, 9.6, 9.8}}},
         {"gap_us", {"us", {2.5, 2.5, 2.6}}}});
    add("graph", gpu, "", {{"node_us", {"us", {1.1, 1.1, 1.2}}}});
    add_gemm("gemm", gpu, model.gemm, model.clock, model.engine);
    add_gemm("gemm-library", gpu, model.library, model.clock, "cuBLASLt 13.1.0.3");
    add("memory-patterns", gpu, "", {{"checked", {"bytes", {1.4e11}}}, {"mismatches", {"1", {0}}}},
        10);
  }

  // Ten a second; under the tensor load the power limit holds the clock down.
  void add_moments(VerifiedGpu& gpu, const Model& model, double begin) {
    uint64_t capped = 0;
    const double load = step("gemm", gpu.ordinal).begin_s;
    for (int i = 0; begin + 0.1 * i < at_; ++i) {
      GpuMoment now;
      now.at_s = begin + 0.1 * i;
      const bool loaded = now.at_s >= load;
      if (loaded) capped += 90'000'000;
      now.sm_clock_mhz = loaded ? model.clock : model.sm_clock_max;
      now.memory_clock_mhz = model.memory_clock;
      now.power_w = loaded ? model.power : model.power * 0.4;
      now.temperature_c = loaded ? 62 : 40;
      now.link_generation = model.generation;
      now.link_width = model.width;
      now.reasons = loaded ? 0x4U : 0x0U;
      now.power_ns = capped;
      now.software_thermal_ns = now.hardware_thermal_ns = now.brake_ns = 0;
      now.board_limit_ns = now.reliability_ns = 0;
      gpu.moments.push_back(now);
    }
  }

  double at_ = 0;
};

inline RunMaker healthy(const Model& model = {}, int gpus = 1) {
  RunMaker made;
  for (int i = 0; i < gpus; ++i)
    made.add_gpu(model);
  if (gpus > 1 && model.nvlinks > 0) made.add_pairs(395);
  return made;
}

// The row of this id, on this GPU where it is about one; null: there is none.
inline const JudgedStep* find(const VerifyReport& report, const std::string& id, int ordinal = 0) {
  for (const JudgedStep& step : report.steps)
    if (step.id == id && (step.gpu.empty() || step.gpu == uuid_of(ordinal))) return &step;
  return nullptr;
}

inline VerifyReport judge(const Measurements& run, const VerifyTables& rows = tables(),
                          const VerifyPolicy& policy = {}) {
  return judge_verify(run, rows, facts(), policy);
}

} // namespace gpuvet::testing
