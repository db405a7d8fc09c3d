#include "os/progress.hpp"

#include <algorithm>
#include <cstdio>

namespace gpuvet {

Progress::Progress(const Terminal& terminal, std::string what, uint64_t total_bytes)
    : terminal_(terminal), what_(std::move(what)), total_(total_bytes),
      start_(std::chrono::steady_clock::now()), shown_at_(start_) {}

void Progress::add(uint64_t bytes, const std::string& now) {
  using namespace std::chrono_literals;
  std::lock_guard lock(mutex_);
  finished_ += bytes;
  auto time = std::chrono::steady_clock::now();
  if (!terminal_.interactive || time - start_ < 1s || time - shown_at_ < 100ms) return;
  shown_at_ = time;
  shown_ = true;
  int percent = total_ ? static_cast<int>(100 * std::min(finished_, total_) / total_) : 100;
  std::string name = now.substr(now.find_last_of("/!") + 1);
  for (char& c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  std::string line = what_ + " " + std::to_string(percent) + " %  " + name;
  line.resize(std::min(line.size(), static_cast<size_t>(terminal_.width - 1)));
  std::fprintf(stderr, "\r\x1b[K%s", line.c_str());
  std::fflush(stderr);
}

void Progress::done() {
  std::lock_guard lock(mutex_);
  if (!shown_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

} // namespace gpuvet
