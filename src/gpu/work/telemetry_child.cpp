#include "gpu/work/telemetry_child.hpp"

#include "gpu/nvml_device.hpp"

#include <fmt/core.h>

#include <array>
#include <thread>

namespace gpuvet {
namespace {

// The fields of a moment, each once, in the order of the line.
template <class F, class M> void moment_fields(F&& f, M& m) {
  f(m.sm_clock_mhz);
  f(m.memory_clock_mhz);
  f(m.power_w);
  f(m.temperature_c);
  f(m.memory_temperature_c);
  f(m.link_generation);
  f(m.link_width);
  f(m.reasons);
  f(m.power_ns);
  f(m.thermal_ns);
  f(m.board_limit_ns);
  f(m.reliability_ns);
  f(m.software_thermal_ns);
  f(m.hardware_thermal_ns);
  f(m.brake_ns);
  f(m.energy_j);
}

class Sampler {
 public:
  Sampler(Asker& asker, const NvmlApi& api, unsigned slowdowns)
      : asker_(asker), api_(api), slowdowns_(slowdowns) {}

  GpuMoment look(NvmlDevice device, double at_s) {
    GpuMoment moment;
    moment.at_s = at_s;
    device_ = device;
    kind(api_.nvmlDeviceGetClockInfo, kNvmlClockSm, moment.sm_clock_mhz);
    kind(api_.nvmlDeviceGetClockInfo, kNvmlClockMemory, moment.memory_clock_mhz);
    kind(api_.nvmlDeviceGetTemperature, kNvmlDieTemperature, moment.temperature_c);
    unsigned milliwatts = 0;
    if (asker_.ask(api_.nvmlDeviceGetPowerUsage, device, &milliwatts) == 0)
      moment.power_w = milliwatts / 1e3;
    number(api_.nvmlDeviceGetCurrPcieLinkGeneration, moment.link_generation);
    number(api_.nvmlDeviceGetCurrPcieLinkWidth, moment.link_width);
    unsigned long long reasons = 0;
    const auto& events = api_.nvmlDeviceGetCurrentClocksEventReasons;
    if (asker_.ask(events.function ? events : api_.nvmlDeviceGetCurrentClocksThrottleReasons,
                   device, &reasons) == 0)
      moment.reasons = reasons;
    fields(moment);
    return moment;
  }

 private:
  void kind(const LibraryCall<NvmlDevice, int, unsigned*>& call, int which,
            std::optional<double>& to) {
    unsigned value = 0;
    if (asker_.ask(call, device_, which, &value) == 0) to = value;
  }
  void number(const LibraryCall<NvmlDevice, unsigned*>& call, std::optional<uint32_t>& to) {
    unsigned value = 0;
    if (asker_.ask(call, device_, &value) == 0) to = value;
  }

  void fields(GpuMoment& moment) {
    std::array<NvmlField, 9> all = {nvml_field(kNvmlFieldPowerNs),
                                    nvml_field(kNvmlFieldThermalNs),
                                    nvml_field(kNvmlFieldBoardLimitNs),
                                    nvml_field(kNvmlFieldReliabilityNs),
                                    nvml_field(kNvmlFieldEnergy),
                                    nvml_field(kNvmlFieldMemoryTemperature),
                                    nvml_field(slowdowns_),
                                    nvml_field(slowdowns_ + 1),
                                    nvml_field(slowdowns_ + 2)};
    int count = slowdowns_ ? int{all.size()} : int{all.size()} - 3;
    if (asker_.ask(api_.nvmlDeviceGetFieldValues, device_, count, all.data()) != 0) return;
    auto put = [](const NvmlField& field, std::optional<uint64_t>& to) {
      if (field.code == 0) to = number_of(field);
    };
    put(all[0], moment.power_ns);
    put(all[1], moment.thermal_ns);
    put(all[2], moment.board_limit_ns);
    put(all[3], moment.reliability_ns);
    if (all[4].code == 0) moment.energy_j = static_cast<double>(number_of(all[4])) / 1e3;
    // Without a sensor some drivers answer 0.
    if (all[5].code == 0 && number_of(all[5]) > 0)
      moment.memory_temperature_c = static_cast<double>(number_of(all[5]));
    if (slowdowns_ == 0) return;
    put(all[6], moment.software_thermal_ns);
    put(all[7], moment.hardware_thermal_ns);
    put(all[8], moment.brake_ns);
  }

  Asker& asker_;
  const NvmlApi& api_;
  unsigned slowdowns_; // first of three fields; 0: this driver has none
  NvmlDevice device_ = nullptr;
};

unsigned slowdown_fields(Asker& asker, const NvmlApi& api) {
  int version = 0;
  if (asker.ask(api.nvmlSystemGetCudaDriverVersion_v2, &version) != 0) return 0;
  return version >= 13000 ? kNvmlSlowdownsSince13 : version >= 12090 ? kNvmlSlowdownsOf12 : 0;
}

// Of a MIG device: its GPU, which has the clocks and the power.
std::vector<NvmlDevice> find_devices(Asker& asker, const NvmlApi& api,
                                     const std::vector<std::string>& uuids) {
  std::vector<NvmlDevice> devices;
  for (size_t at = 0; at < uuids.size(); ++at) {
    asker.turn_to(static_cast<int>(at));
    NvmlDevice device = nullptr, whole = nullptr;
    if (int code = asker.ask(api.nvmlDeviceGetHandleByUUID, uuids[at].c_str(), &device)) {
      asker.answer("problem", "nvmlDeviceGetHandleByUUID: " + nvml_error_text(api, code));
      device = nullptr;
    } else if (uuids[at].starts_with("MIG-") &&
               asker.ask(api.nvmlDeviceGetDeviceHandleFromMigDeviceHandle, device, &whole) == 0) {
      device = whole;
    }
    devices.push_back(device);
  }
  return devices;
}

// Null when this driver or this kind of GPU sends no events.
NvmlEventSet listen_for_xids(Asker& asker, const NvmlApi& api,
                             const std::vector<NvmlDevice>& devices) {
  NvmlEventSet set = nullptr;
  asker.turn_to(kNoGpu);
  if (asker.ask(api.nvmlEventSetCreate, &set) != 0) return nullptr;
  for (size_t at = 0; at < devices.size(); ++at) {
    asker.turn_to(static_cast<int>(at));
    unsigned long long wanted = kNvmlEventXid;
    if (devices[at] && asker.ask(api.nvmlDeviceRegisterEvents, devices[at], wanted, set) == 0)
      asker.answer("xids", 0); // from now on it is known
  }
  return set;
}

void tell_xids(Asker& asker, const NvmlApi& api, NvmlEventSet set,
               const std::vector<NvmlDevice>& devices) {
  constexpr int kMostAtOnce = 100; // a broken GPU must not keep us from the others
  asker.turn_to(kNoGpu);
  for (int count = 0; set && count < kMostAtOnce; ++count) {
    NvmlEvent event{};
    if (asker.ask(api.nvmlEventSetWait_v2, set, &event, 0u) != 0) return; // mostly: timeout
    for (size_t at = 0; at < devices.size(); ++at)
      if (devices[at] == event.device && (event.kind & kNvmlEventXid)) {
        asker.turn_to(static_cast<int>(at));
        asker.answer("xids", 1);
        asker.turn_to(kNoGpu);
      }
  }
}

} // namespace

std::string moment_text(const GpuMoment& moment) {
  std::string text = to_text(moment.at_s);
  moment_fields([&](const auto& field) { text += field ? " " + to_text(*field) : " -"; }, moment);
  return text;
}

std::optional<GpuMoment> moment_from(std::string_view text) {
  GpuMoment moment;
  bool good = true;
  auto next = [&] {
    size_t end = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
  };
  good = from_text(next(), moment.at_s);
  moment_fields(
      [&](auto& field) {
        std::string_view word = next();
        if (word == "-") return;
        typename std::decay_t<decltype(field)>::value_type value{};
        good = good && from_text(word, value);
        field = value;
      },
      moment);
  if (!good || !text.empty()) return std::nullopt;
  return moment;
}

void sample_for_ever(Teller& tell, const std::vector<std::string>& uuids,
                     const std::string& library, Moment start, double every_s) {
  Asker asker(tell, {kNvmlFunctionNotFound, kNvmlGpuIsLost, kNvmlResetRequired});
  tell.about_to_call(kNoGpu, "dlopen");
  auto open = open_library(kNvmlPlaces, library);
  if (!open) {
    asker.answer("problem", open.error().what);
    return tell.end();
  }
  const NvmlApi api = find_nvml(*open);
  if (int code = asker.ask(api.nvmlInit_v2)) {
    asker.answer("problem", "nvmlInit_v2: " + nvml_error_text(api, code));
    return tell.end();
  }
  Sampler sampler(asker, api, slowdown_fields(asker, api));
  std::vector<NvmlDevice> devices = find_devices(asker, api, uuids);
  NvmlEventSet events = listen_for_xids(asker, api, devices);
  for (Moment tick = std::chrono::steady_clock::now();;) {
    for (size_t at = 0; at < devices.size(); ++at) {
      if (!devices[at]) continue;
      asker.turn_to(static_cast<int>(at));
      asker.answer("moment", moment_text(sampler.look(devices[at], seconds_since(start))));
    }
    tell_xids(asker, api, events, devices);
    tell.about_to_call(kNoGpu, "sleep");
    tick = std::max(seconds_after(tick, every_s), std::chrono::steady_clock::now());
    std::this_thread::sleep_until(tick);
  }
}

} // namespace gpuvet
