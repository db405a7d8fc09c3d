// The kernel's ring buffer of messages, as /dev/kmsg gives it: one record at a time, without
// waiting for new ones.
#pragma once

#include "base/result.hpp"

#include <functional>
#include <string_view>

namespace gpuvet {

// Each record as written there: "6,339,5140900,-;text\n KEY=value\n". Errors: it cannot be opened
// (dmesg_restrict, containers) or read.
Result<void> read_kernel_messages(const std::function<void(std::string_view record)>& each);

} // namespace gpuvet
