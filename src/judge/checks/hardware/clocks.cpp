// Checks of heat, power and clocks.
#include "judge/checks/hardware/parts.hpp"

#include <algorithm>

namespace gpuvet::hardware {
namespace {

// NVML_CLOCKS_EVENT_REASON_*
constexpr uint64_t kIdle = 0x1, kApplicationClocks = 0x2, kSlowdown = 0x8, kSoftThermal = 0x20,
                   kHardThermal = 0x40, kPowerBrake = 0x80;

std::string clocks_text(const NvmlGpu& gpu) {
  std::string text;
  if (gpu.clock_sm && gpu.clock_sm_max)
    text += fmt::format(", SM clock {} of {} MHz", *gpu.clock_sm, *gpu.clock_sm_max);
  if (gpu.temperature_c) text += fmt::format(", {} °C", *gpu.temperature_c);
  if (gpu.power_mw) text += fmt::format(", {} W", *gpu.power_mw / 1000);
  return text;
}

// Those with `wanted` and without `without`.
Outcome limited_by(const Machine& machine, uint64_t wanted, uint64_t without,
                   std::string_view name) {
  return each_gpu(machine, &NvmlGpu::clock_reasons, "nvmlDeviceGetCurrentClocksEventReasons",
                  [&](const NvmlGpu& gpu, uint64_t reasons) {
                    if ((reasons & wanted) == 0 || (reasons & without) != 0) return std::string();
                    return fmt::format("{:#x} ({}){}", reasons, name, clocks_text(gpu));
                  });
}

Outcome thermal(const Machine& machine, const Facts&) {
  Outcome outcome =
      limited_by(machine, kHardThermal | kSoftThermal, 0, "slowed down by temperature");
  bool hard =
      std::any_of(machine.nvml.gpus.begin(), machine.nvml.gpus.end(), [](const NvmlGpu& gpu) {
        return gpu.clock_reasons && (*gpu.clock_reasons & kHardThermal) != 0;
      });
  if (outcome.answer == Answer::fires && !hard) outcome.severity = Severity::warning;
  return outcome;
}

Outcome power_brake(const Machine& machine, const Facts&) {
  return limited_by(machine, kPowerBrake, 0, "power brake from outside");
}

Outcome hardware_slowdown(const Machine& machine, const Facts&) {
  return limited_by(machine, kSlowdown, kHardThermal | kPowerBrake, "hardware slowdown");
}

Outcome application_clocks(const Machine& machine, const Facts&) {
  return limited_by(machine, kApplicationClocks, kIdle, "clocks set by somebody");
}

Outcome hot(const Machine& machine, const Facts&) {
  constexpr uint32_t near = 5; // °C below the slowdown
  return each_gpu(machine, &NvmlGpu::temperature_c, "nvmlDeviceGetTemperature",
                  [](const NvmlGpu& gpu, uint32_t now) {
                    if (!gpu.temperature_slowdown_c || now + near < *gpu.temperature_slowdown_c)
                      return std::string();
                    return fmt::format("{} °C, slowdown at {} °C", now,
                                       *gpu.temperature_slowdown_c);
                  });
}

Outcome power_limit(const Machine& machine, const Facts&) {
  Outcome outcome = each_gpu(machine, &NvmlGpu::power_limit_mw, "nvmlDeviceGetPowerManagementLimit",
                             [](const NvmlGpu& gpu, uint32_t limit) {
                               if (!gpu.power_default_mw || limit >= *gpu.power_default_mw)
                                 return std::string();
                               return fmt::format("{} W, default {} W", limit / 1000,
                                                  *gpu.power_default_mw / 1000);
                             });
  if (outcome.answer != Answer::fires) return outcome;
  for (const NvmlGpu& gpu : machine.nvml.gpus)
    if (gpu.power_limit_mw && gpu.power_default_mw && *gpu.power_limit_mw < *gpu.power_default_mw) {
      outcome.fields.emplace("limit", fmt::format("{}", *gpu.power_limit_mw / 1000));
      outcome.fields.emplace("default", fmt::format("{}", *gpu.power_default_mw / 1000));
    }
  return outcome;
}

// Busy, cool, with power to spare, and yet slow: somebody locked the clocks.
Outcome locked(const Machine& machine, const Facts&) {
  constexpr uint32_t hard_work = 50; // %
  Outcome outcome = each_gpu(machine, &NvmlGpu::clock_sm, "nvmlDeviceGetClockInfo(SM)",
                             [](const NvmlGpu& gpu, uint32_t now) {
                               bool works = is_busy(gpu) && *gpu.utilisation_percent >= hard_work;
                               if (!works || !gpu.clock_sm_max || !gpu.clock_reasons)
                                 return std::string();
                               bool limited = (*gpu.clock_reasons & ~kApplicationClocks) != 0;
                               if (limited || now * 10 >= *gpu.clock_sm_max * 6)
                                 return std::string();
                               return fmt::format("{} of {} MHz at {} % load, no limit reported",
                                                  now, *gpu.clock_sm_max, *gpu.utilisation_percent);
                             });
  if (outcome.answer != Answer::fires) return outcome;
  return likely(std::move(outcome), "whether clocks are locked (nvidia-smi -q -d CLOCK)");
}

} // namespace

CheckList clock_checks() {
  return {
      {"thermal-slowdown", thermal},
      {"power-brake", power_brake},
      {"hardware-slowdown", hardware_slowdown},
      {"application-clocks", application_clocks},
      {"temperature-high", hot},
      {"power-limit-lowered", power_limit},
      {"clocks-locked", locked},
  };
}

} // namespace gpuvet::hardware
