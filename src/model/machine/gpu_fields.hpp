// The fields of gpu_answers.hpp by name: whoever sends, keeps or compares them calls
// visit(name, field) for each. A field is named once, here.
#pragma once

#include "model/machine/gpu_answers.hpp"

namespace gpuvet {

template <class Asked, class Visit> void asked_fields(Asked& asked, Visit&& visit) {
  visit("problem", asked.problem);
  visit("error", asked.error);
  visit("error_text", asked.error_text);
  visit("library", asked.library);
  visit("loader_problem", asked.loader_problem);
}

template <class Answers, class Visit> void nvml_fields(Answers& answers, Visit&& visit) {
  visit("library_version", answers.library_version);
  visit("driver_version", answers.driver_version);
  visit("cuda_version", answers.cuda_version);
  visit("count", answers.count);
  visit("confidential_computing", answers.confidential_computing);
  visit("confidential_ready", answers.confidential_ready);
}

// Strings, then NvmlValue<T>; index, error and error_text are not among them.
template <class Gpu, class Visit> void nvml_gpu_texts(Gpu& gpu, Visit&& visit) {
  visit("name", gpu.name);
  visit("uuid", gpu.uuid);
  visit("pci_address", gpu.pci_address);
  visit("serial", gpu.serial);
  visit("vbios", gpu.vbios);
  visit("brand", gpu.brand);
}

template <class Gpu, class Visit> void nvml_gpu_values(Gpu& gpu, Visit&& visit) {
  visit("minor", gpu.minor);
  visit("capability", gpu.capability);
  visit("memory_total", gpu.memory_total);
  visit("memory_used", gpu.memory_used);
  visit("memory_reserved", gpu.memory_reserved);
  visit("ecc", gpu.ecc);
  visit("ecc_pending", gpu.ecc_pending);
  visit("ecc_uncorrected", gpu.ecc_uncorrected);
  visit("ecc_uncorrected_aggregate", gpu.ecc_uncorrected_aggregate);
  visit("sram_threshold_exceeded", gpu.sram_threshold_exceeded);
  visit("remapped_correctable", gpu.remapped_correctable);
  visit("remapped_uncorrectable", gpu.remapped_uncorrectable);
  visit("remap_pending", gpu.remap_pending);
  visit("remap_failed", gpu.remap_failed);
  visit("retired_pending", gpu.retired_pending);
  visit("clock_sm", gpu.clock_sm);
  visit("clock_sm_max", gpu.clock_sm_max);
  visit("clock_memory", gpu.clock_memory);
  visit("clock_memory_max", gpu.clock_memory_max);
  visit("clock_reasons", gpu.clock_reasons);
  visit("power_mw", gpu.power_mw);
  visit("power_limit_mw", gpu.power_limit_mw);
  visit("power_default_mw", gpu.power_default_mw);
  visit("power_max_mw", gpu.power_max_mw);
  visit("temperature_c", gpu.temperature_c);
  visit("temperature_slowdown_c", gpu.temperature_slowdown_c);
  visit("utilisation_percent", gpu.utilisation_percent);
  visit("persistence", gpu.persistence);
  visit("compute_mode", gpu.compute_mode);
  visit("performance_state", gpu.performance_state);
  visit("mig", gpu.mig);
  visit("mig_pending", gpu.mig_pending);
  visit("mig_devices", gpu.mig_devices);
  visit("link_generation", gpu.link_generation);
  visit("link_generation_max", gpu.link_generation_max);
  visit("link_width", gpu.link_width);
  visit("link_width_max", gpu.link_width_max);
  visit("link_generation_device_max", gpu.link_generation_device_max);
  visit("replays", gpu.replays);
  visit("nvlinks", gpu.nvlinks);
  visit("nvlinks_active", gpu.nvlinks_active);
  visit("fabric_state", gpu.fabric_state);
  visit("fabric_status", gpu.fabric_status);
  visit("inforom_ok", gpu.inforom_ok);
  visit("recovery_action", gpu.recovery_action);
  visit("virtualization", gpu.virtualization);
  visit("vgpu_licensed", gpu.vgpu_licensed);
  visit("gsp_firmware", gpu.gsp_firmware);
  visit("processes", gpu.processes);
}

template <class Answers, class Visit> void cuda_fields(Answers& answers, Visit&& visit) {
  visit("driver_api", answers.driver_api);
  visit("count_error", answers.count_error);
  visit("init_seconds", answers.init_seconds);
}

// All but the ordinal.
template <class Device, class Visit> void cuda_device_fields(Device& device, Visit&& visit) {
  visit("error", device.error);
  visit("error_text", device.error_text);
  visit("name", device.name);
  visit("uuid", device.uuid);
  visit("pci_address", device.pci_address);
  visit("capability", device.capability);
  visit("memory_bytes", device.memory_bytes);
  visit("managed_memory", device.managed_memory);
  visit("pageable_memory", device.pageable_memory);
  visit("context_error", device.context_error);
}

} // namespace gpuvet
