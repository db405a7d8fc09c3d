#include "os/passthrough/listening.hpp"

#include <csignal>
#include <utility>

namespace gpuvet {
namespace {

constexpr size_t kMostWaiting = size_t{64} << 20;
constexpr size_t kPiece = size_t{256} << 10; // small writes are joined up to this

} // namespace

Listening::Listening(Listener listener) : listener_(std::move(listener)) {
  thread_ = std::thread([this] { hear(); });
}

Listening::~Listening() {
  {
    std::lock_guard lock(mutex_);
    closed_ = dropped_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Listening::take(std::string_view bytes) {
  if (bytes.empty()) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return bytes_ < kMostWaiting || closed_; });
  if (closed_) return;
  if (!waiting_.empty() && waiting_.back().size() + bytes.size() <= kPiece)
    waiting_.back().append(bytes);
  else
    waiting_.emplace_back(bytes);
  bytes_ += bytes.size();
  lock.unlock();
  changed_.notify_all();
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
    if (dropped_ || waiting_.empty()) return;
    std::string piece = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    listener_(piece);
    lock.lock();
    bytes_ -= piece.size();
    changed_.notify_all();
  }
}

void hear_the_rest(Listening& listening) {
  listening.finish();
}

} // namespace gpuvet
