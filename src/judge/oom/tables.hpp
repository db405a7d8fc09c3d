// torch.cuda.memory_summary(), line by line.
#pragma once

#include "facts/oom/oom.hpp"
#include "model/oom.hpp"

#include <string_view>

namespace gpuvet {

// Adds what the line tells to the last table, or begins one.
void take_table_line(const OomTables& rows, std::string_view line, uint64_t number,
                     std::vector<OomTable>& tables);

} // namespace gpuvet
