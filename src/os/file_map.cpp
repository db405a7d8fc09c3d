#include "os/file_map.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace gpuvet {

// One live map. Slots form a list that only grows; a free slot has begin == 0. The handler may run
// at any instruction, so it sees nothing but these atomics.
struct MapSlot {
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};
  std::atomic<bool> changed{false};
  MapSlot* next = nullptr;
};

namespace {

std::atomic<MapSlot*> first_slot{nullptr};
std::atomic<uintptr_t> page_size{4096};
std::mutex slots_mutex;
struct sigaction previous_action;

MapSlot* slot_around(uintptr_t address) {
  for (MapSlot* slot = first_slot.load(std::memory_order_acquire); slot; slot = slot->next) {
    if (address >= slot->begin.load() && address < slot->end.load()) return slot;
  }
  return nullptr;
}

// Puts a page of zeros where the file no longer has one and lets the read go on.
void on_bus_error(int, siginfo_t* info, void*) {
  int saved_errno = errno;
  auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  if (MapSlot* slot = slot_around(address)) {
    slot->changed.store(true);
    uintptr_t size = page_size.load();
    auto* page = static_cast<uint8_t*>(info->si_addr) - address % size;
    // One page only: the rest may still be sound, and mmap is a bare system call.
    void* got = mmap(page, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    errno = saved_errno;
    if (got != MAP_FAILED) return;
  }
  // Not ours: let it happen as it would have without us.
  sigaction(SIGBUS, &previous_action, nullptr);
  if (info->si_code <= 0) raise(SIGBUS); // was sent, so returning would not repeat it
  errno = saved_errno;
}

void install_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    page_size.store(static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)));
    struct sigaction action {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &previous_action);
  });
}

MapSlot* claim_slot(void* data, size_t size) {
  std::lock_guard lock(slots_mutex);
  MapSlot* free = first_slot.load();
  while (free && free->begin.load() != 0)
    free = free->next;
  if (!free) {
    free = new MapSlot; // never freed: the handler may be looking at it
    free->next = first_slot.load();
    first_slot.store(free, std::memory_order_release);
  }
  auto begin = reinterpret_cast<uintptr_t>(data);
  free->changed.store(false);
  free->end.store(begin + size);
  free->begin.store(begin);
  return free;
}

void release_slot(MapSlot* slot) {
  std::lock_guard lock(slots_mutex);
  slot->end.store(0);
  slot->begin.store(0);
}

} // namespace

FileMap::FileMap(FileMap&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)),
      slot_(std::exchange(other.slot_, nullptr)) {}

FileMap& FileMap::operator=(FileMap&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(slot_, other.slot_);
  return *this;
}

FileMap::~FileMap() {
  if (!data_) return;
  release_slot(slot_);
  munmap(data_, size_);
}

bool FileMap::changed() const {
  return slot_ && slot_->changed.load();
}

Result<FileMap> map_descriptor(int fd, const std::string& path) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return fail(std::strerror(errno), path);
  if (!S_ISREG(status.st_mode)) return fail("this is not a regular file", path);
  FileMap map;
  if (status.st_size <= 0) return map;
  auto size = static_cast<size_t>(status.st_size);
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED)
    return fail(std::string("the file cannot be mapped: ") + std::strerror(errno), path);
  install_handler();
  map.data_ = data;
  map.size_ = size;
  map.slot_ = claim_slot(data, size);
  madvise(data, size, MADV_SEQUENTIAL); // advice: failure changes nothing but speed
  return map;
}

Result<FileMap> map_file(const std::string& path) {
  // O_NONBLOCK so that a FIFO that took the file's place can't make us wait.
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return fail(std::string("the file cannot be opened: ") + std::strerror(errno), path);
  auto map = map_descriptor(fd, path);
  close(fd);
  return map;
}

void release_pages(Bytes bytes) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  // Whole pages only: neighbours on the first and last may still be wanted.
  size_t before = (page - reinterpret_cast<uintptr_t>(bytes.data()) % page) % page;
  if (bytes.size() <= before) return;
  size_t whole = (bytes.size() - before) / page * page;
  // madvise does not write; its interface only lacks the const.
  if (whole > 0) madvise(const_cast<uint8_t*>(bytes.data()) + before, whole, MADV_DONTNEED);
}

} // namespace gpuvet
