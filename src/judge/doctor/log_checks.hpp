// Checks that a row alone describes: a pattern for lines of the kernel log, and Xid codes.
#pragma once

#include "judge/doctor/check.hpp"

namespace gpuvet {

// Fires when a line matches row.log; named groups become fields, the lines evidence.
Outcome log_outcome(const CheckRow& row, const Machine& machine);

// Fires when the driver has logged the Xid of row "xid-NN". Fields: gpu, pci,
// count, detail, process.
Outcome xid_outcome(const CheckRow& row, const Machine& machine);

} // namespace gpuvet
