#include "os/random.hpp"

#include <chrono>
#include <sys/random.h>

namespace gpuvet {

// Not std::random_device: in a static libstdc++ it wants arc4random, which glibc has from 2.36 on.
uint64_t random_number() {
  uint64_t number = 0;
  if (getrandom(&number, sizeof(number), 0) == static_cast<ssize_t>(sizeof(number))) return number;
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

} // namespace gpuvet
