#include "probe/kernel/parts.hpp"
#include "probe/probe.hpp"

namespace gpuvet {

void probe_kernel(const Source& source, Machine& machine) {
  KernelSide& side = machine.kernel;
  kernel::probe_pci(source, side);
  kernel::probe_modules(source, side);
  kernel::probe_module_files(source, source.system(), side);
  kernel::probe_nodes(source, side);
  kernel::probe_proc_nvidia(source, side);
  kernel::probe_dkms(source, side);
  kernel::probe_boot(source, side);
  kernel::probe_settings(source, side);
  kernel::probe_log(source, side);
}

} // namespace gpuvet
