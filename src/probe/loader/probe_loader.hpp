// Parts of probe_loader(); probe/probe.hpp declares the whole.
#pragma once

#include "model/machine.hpp"
#include "probe/loader/search.hpp"

namespace gpuvet {

// The driver's libraries on disk, and which of them the loader picks.
DriverFiles find_driver_files(LibrarySearch& search);

// Settings of the loader, and what each CUDA library's name stands for.
LoaderState loader_state(LibrarySearch& search);

} // namespace gpuvet
