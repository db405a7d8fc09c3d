#include "judge/scan/scan_result.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

// Larger is worse; unknown outcomes stand before known good ones.
int badness(Coverage coverage) {
  switch (coverage) {
  case Coverage::none:
    return 4;
  case Coverage::partial:
    return 3;
  case Coverage::may_fail:
    return 2;
  case Coverage::variants:
  case Coverage::full:
    return 1;
  case Coverage::no_code:
    break;
  }
  return 0;
}

int badness(const ScannedFile& file) {
  int worst = 0;
  for (const FileVerdict& verdict : file.verdicts)
    worst = std::max(worst, badness(verdict.coverage));
  return worst;
}

} // namespace

void judge_scan(ScanResult& result, const LoadRules& rules) {
  const LoadDriver* driver = result.driver ? &*result.driver : nullptr;
  for (ScannedFile& file : result.files) {
    file.verdicts.clear();
    for (const LoadDevice& device : result.devices)
      file.verdicts.push_back(judge_file(file.binary, device, driver, result.environment, rules));
  }
  std::stable_sort(result.files.begin(), result.files.end(),
                   [](const ScannedFile& a, const ScannedFile& b) {
                     if (badness(a) != badness(b)) return badness(a) > badness(b);
                     return gpu_code_bytes(a.binary) > gpu_code_bytes(b.binary);
                   });
}

bool falls_short(const ScanResult& result) {
  if (!result.asked) return false;
  return std::any_of(result.files.begin(), result.files.end(),
                     [](const ScannedFile& file) { return badness(file) >= 2; });
}

uint64_t gpu_code_bytes(const Binary& binary) {
  uint64_t bytes = 0;
  for (const Container& container : binary.containers)
    bytes += container.size;
  return bytes;
}

} // namespace gpuvet
