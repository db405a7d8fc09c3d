// The fields of gpu_answers.hpp by name, for whoever sends, keeps or compares them: `f` is called
// with each name and field. A field is named once, here.
#pragma once

#include "model/machine/gpu_answers.hpp"

#include <concepts>
#include <type_traits>

namespace gpuvet {

template <class T, class S>
concept Is = std::same_as<std::remove_const_t<T>, S>;

template <class F> void fields(F& f, Is<Asked> auto& v) {
  f("state", v.state);
  f("problem", v.problem);
  f("error", v.error);
  f("error_text", v.error_text);
  f("library", v.library);
  f("call", v.call);
  f("signal", v.signal);
  f("loader_problem", v.loader_problem);
  f("seconds", v.seconds);
}

template <class F> void fields(F& f, Is<NvmlProcess> auto& v) {
  f("pid", v.pid);
  f("bytes", v.bytes);
  f("graphics", v.graphics);
}

template <class F> void fields(F& f, Is<NvmlAnswers> auto& v) {
  f("asked", v.asked);
  f("library_version", v.library_version);
  f("driver_version", v.driver_version);
  f("cuda_version", v.cuda_version);
  f("count", v.count);
  f("gpus", v.gpus);
  f("confidential_computing", v.confidential_computing);
  f("confidential_ready", v.confidential_ready);
}

template <class F> void health_fields(F& f, Is<NvmlGpu> auto& v) {
  f("ecc", v.ecc);
  f("ecc_pending", v.ecc_pending);
  f("ecc_uncorrected", v.ecc_uncorrected);
  f("ecc_uncorrected_aggregate", v.ecc_uncorrected_aggregate);
  f("sram_threshold_exceeded", v.sram_threshold_exceeded);
  f("remapped_correctable", v.remapped_correctable);
  f("remapped_uncorrectable", v.remapped_uncorrectable);
  f("remap_pending", v.remap_pending);
  f("remap_failed", v.remap_failed);
  f("retired_pending", v.retired_pending);
}

template <class F> void link_fields(F& f, Is<NvmlGpu> auto& v) {
  f("mig", v.mig);
  f("mig_pending", v.mig_pending);
  f("mig_devices", v.mig_devices);
  f("link_generation", v.link_generation);
  f("link_generation_max", v.link_generation_max);
  f("link_width", v.link_width);
  f("link_width_max", v.link_width_max);
  f("link_generation_device_max", v.link_generation_device_max);
  f("replays", v.replays);
  f("nvlinks", v.nvlinks);
  f("nvlinks_active", v.nvlinks_active);
  f("fabric_state", v.fabric_state);
  f("fabric_status", v.fabric_status);
  f("inforom_ok", v.inforom_ok);
  f("recovery_action", v.recovery_action);
}

template <class F> void fields(F& f, Is<NvmlGpu> auto& v) {
  f("index", v.index);
  f("error", v.error);
  f("error_text", v.error_text);
  f("name", v.name);
  f("uuid", v.uuid);
  f("pci_address", v.pci_address);
  f("serial", v.serial);
  f("vbios", v.vbios);
  f("brand", v.brand);
  f("minor", v.minor);
  f("capability", v.capability);
  f("memory_total", v.memory_total);
  f("memory_used", v.memory_used);
  f("memory_reserved", v.memory_reserved);
  health_fields(f, v);
  f("clock_sm", v.clock_sm);
  f("clock_sm_max", v.clock_sm_max);
  f("clock_memory", v.clock_memory);
  f("clock_memory_max", v.clock_memory_max);
  f("clock_reasons", v.clock_reasons);
  f("power_mw", v.power_mw);
  f("power_limit_mw", v.power_limit_mw);
  f("power_default_mw", v.power_default_mw);
  f("power_max_mw", v.power_max_mw);
  f("temperature_c", v.temperature_c);
  f("temperature_slowdown_c", v.temperature_slowdown_c);
  f("utilisation_percent", v.utilisation_percent);
  f("persistence", v.persistence);
  f("compute_mode", v.compute_mode);
  f("performance_state", v.performance_state);
  link_fields(f, v);
  f("virtualization", v.virtualization);
  f("vgpu_licensed", v.vgpu_licensed);
  f("gsp_firmware", v.gsp_firmware);
  f("processes", v.processes);
}

template <class F> void fields(F& f, Is<CudaAnswers> auto& v) {
  f("asked", v.asked);
  f("driver_api", v.driver_api);
  f("count_error", v.count_error);
  f("devices", v.devices);
  f("init_seconds", v.init_seconds);
}

template <class F> void fields(F& f, Is<CudaDevice> auto& v) {
  f("ordinal", v.ordinal);
  f("error", v.error);
  f("error_text", v.error_text);
  f("name", v.name);
  f("uuid", v.uuid);
  f("pci_address", v.pci_address);
  f("capability", v.capability);
  f("memory_bytes", v.memory_bytes);
  f("managed_memory", v.managed_memory);
  f("pageable_memory", v.pageable_memory);
  f("context_error", v.context_error);
}

} // namespace gpuvet
