// Stand-ins for probes that are not there yet; the linker prefers the real ones.
#include "probe/probe.hpp"

namespace gpuvet {

__attribute__((weak)) void probe_pythons(const Source&, const ProbeOptions&, Machine&) {}
__attribute__((weak)) Source live_source(LibraryQuestions) {
  return {};
}
__attribute__((weak)) Source image_source(const std::string&) {
  return {};
}
__attribute__((weak)) Source replay_source(std::shared_ptr<const Recording>) {
  return {};
}
__attribute__((weak)) Source recording_source(Source inner, std::shared_ptr<Recording>) {
  return inner;
}

} // namespace gpuvet
