// The probe of software: packages, toolkits, CUDA libraries on disk, settings files.
#include "probe/probe.hpp"
#include "probe/software/attribute.hpp"
#include "probe/software/libraries.hpp"
#include "probe/software/packages.hpp"
#include "probe/software/toolkits.hpp"

namespace gpuvet {

void probe_software(const Source& source, Machine& machine) {
  const Environment environment = source.environment();
  machine.packages = read_packages(source);
  Toolkits& toolkits = machine.toolkits;
  toolkits.installed = find_toolkits(source, environment, machine.packages);
  toolkits.nvcc = find_nvcc(source, environment);
  read_cuda_link(source, toolkits);
  read_build_environment(source, environment, toolkits);
  find_host_compilers(source, environment, toolkits);
  toolkits.settings = read_settings_files(source, environment);
  machine.libraries = find_libraries(source, environment, toolkits.installed);
  machine.cudnn_headers = find_cudnn_headers(source, environment, toolkits.installed);
  attribute_software(source, machine);
}

} // namespace gpuvet
