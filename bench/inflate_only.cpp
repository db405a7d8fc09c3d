// inflate_only WHEEL: inflates every deflate member with ISA-L, one thread, and throws the bytes
// away. The floor for reading a wheel without unpacking it: deflate has no random access, so no
// scanner that uses this library can be faster. bench/run.py compares `gpuvet scan WHEEL` with it.
#include <isa-l/igzip_lib.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace {

struct Mapped {
  const uint8_t* data = nullptr;
  uint64_t size = 0;
};

[[noreturn]] void give_up(const char* why) {
  std::fprintf(stderr, "inflate_only: %s\n", why);
  std::exit(1);
}

Mapped map_file(const char* path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat info {};
  if (fd < 0 || fstat(fd, &info) != 0) give_up("cannot open the file");
  auto size = static_cast<uint64_t>(info.st_size);
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) give_up("cannot map the file");
  close(fd);
  return {static_cast<const uint8_t*>(data), size};
}

template <class T> T read_at(const Mapped& file, uint64_t at) {
  if (at > file.size || file.size - at < sizeof(T)) give_up("the zip directory is damaged");
  T value;
  std::memcpy(&value, file.data + at, sizeof value);
  return value;
}

struct Member {
  uint64_t data = 0, stored = 0, size = 0;
  uint16_t method = 0;
};

// Sizes and position of 64-bit members are in an extra field, in this order, where 0xffffffff
// stands.
void read_zip64(const Mapped& file, uint64_t at, uint64_t end, uint64_t* const fields[3]) {
  while (at + 4 <= end) {
    uint16_t id = read_at<uint16_t>(file, at), length = read_at<uint16_t>(file, at + 2);
    for (uint64_t value = at + 4; id == 1 && *fields != nullptr; ++fields)
      if (**fields == 0xffffffff) {
        **fields = read_at<uint64_t>(file, value);
        value += 8;
      }
    if (id == 1) return;
    at += 4U + length;
  }
}

std::vector<Member> members_of(const Mapped& file) {
  if (file.size < 22) give_up("not a zip file");
  uint64_t end = file.size - 22;
  while (end > 0 && read_at<uint32_t>(file, end) != 0x06054b50)
    --end;
  uint64_t count = read_at<uint16_t>(file, end + 10), at = read_at<uint32_t>(file, end + 16);
  if (at == 0xffffffff || count == 0xffff) {
    uint64_t wide = read_at<uint64_t>(file, end - 20 + 8);
    count = read_at<uint64_t>(file, wide + 32);
    at = read_at<uint64_t>(file, wide + 48);
  }
  std::vector<Member> members;
  for (uint64_t i = 0; i < count; ++i) {
    if (read_at<uint32_t>(file, at) != 0x02014b50) give_up("the zip directory is damaged");
    Member member;
    member.method = read_at<uint16_t>(file, at + 10);
    member.stored = read_at<uint32_t>(file, at + 20);
    member.size = read_at<uint32_t>(file, at + 24);
    uint64_t header = read_at<uint32_t>(file, at + 42);
    uint64_t name = read_at<uint16_t>(file, at + 28), extra = read_at<uint16_t>(file, at + 30);
    uint64_t* const wide[] = {&member.size, &member.stored, &header, nullptr};
    read_zip64(file, at + 46 + name, at + 46 + name + extra, wide);
    at += 46 + name + extra + read_at<uint16_t>(file, at + 32);
    member.data =
        header + 30 + read_at<uint16_t>(file, header + 26) + read_at<uint16_t>(file, header + 28);
    members.push_back(member);
  }
  return members;
}

uint64_t inflate(const Mapped& file, const Member& member, std::vector<uint8_t>& out) {
  if (member.data > file.size || file.size - member.data < member.stored)
    give_up("a member lies outside the file");
  auto state = std::make_unique<inflate_state>();
  isal_inflate_init(state.get());
  // ISA-L's interface is not const; it only reads.
  uint8_t* next = const_cast<uint8_t*>(file.data + member.data);
  uint64_t left = member.stored, total = 0;
  state->next_in = next;
  while (state->block_state != ISAL_BLOCK_FINISH) {
    if (state->avail_in == 0) {
      state->avail_in = static_cast<uint32_t>(left < (1U << 30) ? left : (1U << 30));
      left -= state->avail_in;
    }
    state->next_out = out.data();
    state->avail_out = static_cast<uint32_t>(out.size());
    if (isal_inflate(state.get()) != ISAL_DECOMP_OK) give_up("a member does not inflate");
    uint64_t got = out.size() - state->avail_out;
    bool stuck = got == 0 && state->avail_in == 0 && left == 0;
    if (stuck && state->block_state != ISAL_BLOCK_FINISH) give_up("a member ends early");
    total += got;
  }
  return total;
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 2) give_up("usage: inflate_only WHEEL");
  Mapped file = map_file(argv[1]);
  std::vector<uint8_t> out(size_t{1} << 20);
  uint64_t total = 0;
  for (const Member& member : members_of(file)) {
    if (member.method != 8) continue;
    uint64_t got = inflate(file, member, out);
    if (got != member.size) give_up("a member has another size than the directory says");
    total += got;
  }
  std::printf("%llu bytes\n", static_cast<unsigned long long>(total));
}
