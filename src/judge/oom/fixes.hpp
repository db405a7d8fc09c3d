// Which fixes of a cause suit a message, and what they name: what mends PyTorch's pool is no help
// to TensorFlow. For gpuvet oom, and for messages of gpuvet explain that have the same causes.
#pragma once

#include "facts/oom/oom.hpp"
#include "model/oom.hpp"

#include <string>

namespace gpuvet {

// `expandable`: the log shows that expandable segments are set already.
bool fix_suits(const OomFix& fix, const std::string& framework, const std::string& template_id,
               bool expandable);

// For a message of which neither framework nor version is known: "PyTorch or JAX"; empty: no matter
// which.
std::string frameworks_of(const OomFix& fix, const OomTables& tables);

// PyTorch's variable under the name that the message uses, else the one that its version reads,
// else today's. `message`: null where there is none.
std::string alloc_conf(const OomTables& tables, const OomMessage* message);

} // namespace gpuvet
