// The numbers of a message as a table: what was printed and where, and what follows from it.
#pragma once

#include "judge/oom/balance.hpp"
#include "model/report.hpp"

namespace gpuvet {

Table arithmetic_table(const OomMessage& message, const OomBalance& balance);

} // namespace gpuvet
