// How much memory this process can take before somebody suffers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpuvet {

// MemAvailable of the machine and what is left of the limits of its memory cgroups, the least of
// them. nullopt: not told. `root` is "" but in tests.
std::optional<uint64_t> memory_available(const std::string& root = {});

// "Node 0 MemFree:  123 kB" or "MemFree: 123 kB": 123 * 1024, by the word before the colon. 0: it
// is not there.
uint64_t meminfo_bytes(std::string_view text, std::string_view name);

} // namespace gpuvet
