#include "os/passthrough/listening.hpp"

#include <algorithm>
#include <utility>

namespace gpuvet {
namespace {

constexpr size_t kMostWaiting = size_t{32} << 20;
constexpr size_t kLeft = kMostWaiting / 2;   // of it, when some is dropped
constexpr size_t kPiece = size_t{256} << 10; // small writes are joined up to this

} // namespace

Listening::Listening(Listener listener) : listener_(std::move(listener)) {
  thread_ = std::thread([this] { hear(); });
}

Listening::~Listening() {
  {
    std::lock_guard lock(mutex_);
    closed_ = abandoned_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Listening::take(std::string_view bytes) {
  if (bytes.empty()) return;
  {
    std::lock_guard lock(mutex_);
    if (closed_) return;
    if (!waiting_.empty() && waiting_.back().size() + bytes.size() <= kPiece)
      waiting_.back().append(bytes);
    else
      waiting_.emplace_back(bytes);
    bytes_ += bytes.size();
    if (bytes_ > kMostWaiting) drop_oldest();
  }
  changed_.notify_all();
}

void Listening::drop_oldest() {
  while (bytes_ > kLeft && !waiting_.empty()) {
    const std::string& piece = waiting_.front();
    dropped_lines_ += static_cast<uint64_t>(std::count(piece.begin(), piece.end(), '\n'));
    unheard_ += piece.size();
    bytes_ -= piece.size();
    waiting_.pop_front();
  }
}

void Listening::finish() {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Listening::hear() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return !waiting_.empty() || closed_; });
    if (abandoned_ || waiting_.empty()) return;
    std::string piece;
    if (dropped_lines_ > 0) {
      auto lines = static_cast<size_t>(std::min<uint64_t>(dropped_lines_, kPiece));
      piece.assign(lines, '\n');
      dropped_lines_ -= lines;
    } else {
      piece = std::move(waiting_.front());
      waiting_.pop_front();
      bytes_ -= piece.size();
    }
    lock.unlock();
    listener_(piece);
    lock.lock();
  }
}

uint64_t hear_the_rest(Listening& listening) {
  listening.finish();
  return listening.unheard();
}

} // namespace gpuvet
