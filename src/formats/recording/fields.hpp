// One list of fields per recorded struct, used for reading and for writing alike, so that the two
// cannot differ. `F` is called with each key and field; the test beside this file counts that none
// is left out.
#pragma once

#include "model/recording.hpp"

#include <concepts>
#include <type_traits>

namespace gpuvet {

template <class T, class S>
concept Is = std::same_as<std::remove_const_t<T>, S>;

template <class F> void fields(F& f, Is<SystemFacts> auto& v) {
  f("kernel_release", v.kernel_release);
  f("architecture", v.architecture);
  f("user", v.user);
  f("groups", v.groups);
  f("glibc", v.glibc);
  f("now", v.now);
  f("booted", v.booted);
  f("memlock_bytes", v.memlock_bytes);
  f("open_files", v.open_files);
}

template <class F> void fields(F& f, Is<SymbolVersion> auto& v) {
  f("file", v.file);
  f("name", v.name);
}

template <class F> void fields(F& f, Is<ElfFacts> auto& v) {
  f("bits", v.bits);
  f("machine", v.machine);
  f("shared", v.shared);
  f("has_dynamic", v.has_dynamic);
  f("interpreter", v.interpreter);
  f("soname", v.soname);
  f("needed", v.needed);
  f("rpath", v.rpath);
  f("runpath", v.runpath);
  f("nodeflib", v.nodeflib);
  f("filters", v.filters);
  f("version_needs", v.version_needs);
  f("version_defs", v.version_defs);
  f("forward_compatibility", v.forward_compatibility);
  f("size", v.size);
}

template <class F> void fields(F& f, Is<PackageCode> auto& v) {
  f("package", v.package);
  f("file", v.file);
  f("sass", v.sass);
  f("ptx", v.ptx);
  f("ptx_isa_major", v.ptx_isa_major);
  f("ptx_isa_minor", v.ptx_isa_minor);
}

template <class F> void fields(F& f, Is<ModuleInfo> auto& v) {
  f("version", v.version);
  f("license", v.license);
  f("srcversion", v.srcversion);
  f("vermagic", v.vermagic);
  f("is_signed", v.is_signed);
  f("signer", v.signer);
}

template <class F> void fields(F& f, Is<RecordedSpace> auto& v) {
  f("total", v.total);
  f("free", v.free);
  f("read_only", v.read_only);
  f("no_exec", v.no_exec);
}

template <class F> void fields(F& f, Is<RecordedCommand> auto& v) {
  f("command", v.command);
  f("status", v.status);
  f("timed_out", v.timed_out);
  f("output", v.output);
  f("errors", v.errors);
  f("problem", v.problem);
}

template <class F> void fields(F& f, Is<GpuProcess> auto& v) {
  f("pid", v.pid);
  f("name", v.name);
  f("state", v.state);
  f("wait", v.wait);
  f("nodes", v.nodes);
  f("libraries", v.libraries);
  f("environment", v.environment);
  f("memlock_bytes", v.memlock_bytes);
  f("started", v.started);
  f("unit", v.unit);
  f("container", v.container);
  f("ours", v.ours);
}

template <class F> void fields(F& f, Is<Asked> auto& v) {
  f("state", v.state);
  f("problem", v.problem);
  f("error", v.error);
  f("error_text", v.error_text);
  f("call", v.call);
  f("signal", v.signal);
  f("library", v.library);
  f("loader_problem", v.loader_problem);
  f("seconds", v.seconds);
}

template <class F> void fields(F& f, Is<NvmlProcess> auto& v) {
  f("pid", v.pid);
  f("bytes", v.bytes);
  f("graphics", v.graphics);
}

template <class F> void state_fields(F& f, Is<NvmlGpu> auto& v) {
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
  f("virtualization", v.virtualization);
  f("vgpu_licensed", v.vgpu_licensed);
  f("gsp_firmware", v.gsp_firmware);
  f("processes", v.processes);
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
  state_fields(f, v);
  link_fields(f, v);
}

template <class F> void fields(F& f, Is<NvmlAnswers> auto& v) {
  f("asked", v.asked);
  f("driver_version", v.driver_version);
  f("library_version", v.library_version);
  f("cuda_version", v.cuda_version);
  f("count", v.count);
  f("gpus", v.gpus);
  f("confidential_computing", v.confidential_computing);
  f("confidential_ready", v.confidential_ready);
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

template <class F> void fields(F& f, Is<CudaAnswers> auto& v) {
  f("asked", v.asked);
  f("driver_api", v.driver_api);
  f("count_error", v.count_error);
  f("devices", v.devices);
  f("init_seconds", v.init_seconds);
}

} // namespace gpuvet
