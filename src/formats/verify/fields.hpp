// One list of fields for each struct of a saved run, used for writing and for reading alike.
#pragma once

#include "formats/recording/json_values.hpp"
#include "model/verify/measurements.hpp"

namespace gpuvet {

Json to_json(StepState state);
bool read_value(const Json& json, StepState& to, const JsonPlace& at, JsonProblem& problem);
Json to_json(const Reading& reading); // samples that are no numbers are left out

template <class F> void fields(F& f, Is<Reading> auto& v) {
  f("unit", v.unit);
  f("samples", v.samples);
}

template <class F> void fields(F& f, Is<StepResult> auto& v) {
  f("id", v.id);
  f("gpu", v.gpu);
  f("peer", v.peer);
  f("state", v.state);
  f("reason", v.reason);
  f("call", v.call);
  f("code", v.code);
  f("error", v.error);
  f("begin_s", v.begin_s);
  f("end_s", v.end_s);
  f("readings", v.readings);
  f("words", v.words);
}

template <class F> void fields(F& f, Is<GpuCounters> auto& v) {
  f("replays", v.replays);
  f("ecc_corrected", v.ecc_corrected);
  f("ecc_uncorrected", v.ecc_uncorrected);
  f("remapped_rows", v.remapped_rows);
  f("nvlink_errors", v.nvlink_errors);
  f("remap_pending", v.remap_pending);
  f("remap_failed", v.remap_failed);
  f("xids", v.xids);
}

// The moments have lines of their own.
template <class F> void fields(F& f, Is<VerifiedGpu> auto& v) {
  f("uuid", v.uuid);
  f("name", v.name);
  f("pci_address", v.pci_address);
  f("ordinal", v.ordinal);
  f("nvml_index", v.nvml_index);
  f("sm", v.sm);
  f("numbers", v.numbers);
  f("words", v.words);
  f("busy", v.busy);
  f("why_unusable", v.why_unusable);
  f("before", v.before);
  f("after", v.after);
}

template <class F> void run_fields(F& f, Is<Measurements> auto& v) {
  f("version", v.version);
  f("started", v.started);
  f("host_kind", v.host_kind);
  f("driver", v.driver);
  f("cuda", v.cuda);
  f("no_gpu_why", v.no_gpu_why);
  f("quick", v.quick);
  f("seed", v.seed);
  f("continued_s", v.continued_s);
}

// Columns of a chunk of moments; the time is always known.
template <class F> void columns(F& f) {
  f("sm_clock_mhz", &GpuMoment::sm_clock_mhz);
  f("memory_clock_mhz", &GpuMoment::memory_clock_mhz);
  f("power_w", &GpuMoment::power_w);
  f("temperature_c", &GpuMoment::temperature_c);
  f("memory_temperature_c", &GpuMoment::memory_temperature_c);
  f("link_generation", &GpuMoment::link_generation);
  f("link_width", &GpuMoment::link_width);
  f("reasons", &GpuMoment::reasons);
  f("power_ns", &GpuMoment::power_ns);
  f("thermal_ns", &GpuMoment::thermal_ns);
  f("board_limit_ns", &GpuMoment::board_limit_ns);
  f("reliability_ns", &GpuMoment::reliability_ns);
  f("software_thermal_ns", &GpuMoment::software_thermal_ns);
  f("hardware_thermal_ns", &GpuMoment::hardware_thermal_ns);
  f("brake_ns", &GpuMoment::brake_ns);
  f("energy_j", &GpuMoment::energy_j);
}

} // namespace gpuvet
