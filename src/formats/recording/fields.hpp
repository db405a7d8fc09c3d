// One list of fields per recorded struct, used for reading and for writing alike, so that the two
// cannot differ; those of NVML and CUDA stand in gpu_fields.hpp. `F` is called with each key and
// field; the test beside this file counts that none is left out.
#pragma once

#include "model/machine/gpu_fields.hpp"
#include "model/recording.hpp"

namespace gpuvet {

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
  f("unversioned_entry", v.unversioned_entry);
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

} // namespace gpuvet
