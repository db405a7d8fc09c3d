#include "base/literal_set.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace gpuvet {
namespace {

constexpr size_t kShortest = 4; // literal
constexpr size_t kLoad = 8;     // bytes that are read at once; a window is the first few of them
constexpr unsigned kBits = 18;  // of a hash: the filter has 32 KiB and stays in the first cache

uint64_t load(const char* text) {
  uint64_t bytes = 0;
  std::memcpy(&bytes, text, sizeof bytes);
  return bytes;
}

uint32_t hash_of(uint64_t window) {
  return static_cast<uint32_t>((window * 0x9E3779B97F4A7C15U) >> (64 - kBits));
}

// How usual a byte is in logs: windows of unusual ones are looked for.
unsigned commonness(char byte) {
  auto c = static_cast<unsigned char>(byte);
  if (c == ' ' || c == '-' || c == '.' || c == '/') return 5;
  if (c >= 'a' && c <= 'z') return std::strchr("etaoinsrlcdu", byte) ? 4 : 2;
  if (c >= '0' && c <= '9') return 4;
  return 1;
}

unsigned commonness(std::string_view text) {
  unsigned sum = 0;
  for (char byte : text)
    sum += commonness(byte);
  return sum;
}

} // namespace

// A literal is found by one of `stride` windows that follow each other in it, so only every
// stride-th position of a text has to be looked at. The longer the shortest literal, the longer the
// stride and the windows, and the fewer places look like one.
struct LiteralSet::Impl {
  struct Entry {
    uint64_t window;
    uint32_t literal, offset; // of the window in the literal
    uint64_t last = 0;        // bytes of a literal that has so many
    uint32_t size = 0;        // of the literal, in bytes
  };
  std::vector<std::string> literals;
  std::vector<uint64_t> filter = std::vector<uint64_t>((1U << kBits) / 64);
  std::vector<Entry> entries;   // by hash, then by literal
  std::vector<uint32_t> starts; // index into entries by the upper bits of the hash
  size_t stride = 4, width = 6; // of a window, in bytes
  uint64_t mask = 0;            // of a window in the bytes that are loaded

  static constexpr unsigned kGroupShift = 6; // one group of entries for 64 hashes

  void choose_windows() {
    size_t shortest = ~size_t{0};
    for (const std::string& literal : literals)
      if (literal.size() >= kShortest) shortest = std::min(shortest, literal.size());
    if (shortest < 9) width = shortest < 7 ? 4 : 5;
    stride = std::min(stride, shortest - width + 1);
    mask = (uint64_t{1} << (8 * width)) - 1;
  }

  uint64_t window_of(std::string_view text) const { // of less than kLoad bytes, too
    std::array<char, kLoad> bytes{};
    std::memcpy(bytes.data(), text.data(), std::min(text.size(), kLoad));
    return load(bytes.data()) & mask;
  }

  void add(uint32_t index) {
    std::string_view literal = literals[index];
    size_t best = 0, length = stride + width - 1;
    unsigned least = ~0U;
    for (size_t at = 0; at + length <= literal.size(); ++at) {
      unsigned common = commonness(literal.substr(at, length));
      if (common >= least) continue;
      least = common;
      best = at;
    }
    auto size = static_cast<uint32_t>(literal.size());
    uint64_t last = size < kLoad ? 0 : load(literal.data() + size - kLoad);
    for (size_t at = best; at < best + stride; ++at)
      entries.push_back(
          {window_of(literal.substr(at)), index, static_cast<uint32_t>(at), last, size});
  }

  void build() {
    choose_windows();
    for (uint32_t index = 0; index < literals.size(); ++index)
      if (literals[index].size() >= kShortest) add(index);
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::pair(hash_of(a.window), a.literal) < std::pair(hash_of(b.window), b.literal);
    });
    starts.assign((1U << (kBits - kGroupShift)) + 1, 0);
    for (const Entry& entry : entries) {
      uint32_t hash = hash_of(entry.window);
      filter[hash / 64] |= uint64_t{1} << (hash % 64);
      ++starts[(hash >> kGroupShift) + 1];
    }
    for (size_t i = 1; i < starts.size(); ++i)
      starts[i] += starts[i - 1];
  }

  uint64_t may_be(const char* text) const {
    uint32_t hash = hash_of(load(text) & mask);
    return (filter[hash / 64] >> (hash % 64)) & 1;
  }

  // Calls found(literal, its position) for each wanted(literal) that has its window at `at`; ends
  // when told true.
  template <class W, class F>
  bool at_window(std::string_view text, size_t at, size_t from, W wanted, F found) const {
    uint64_t window = window_of(text.substr(at));
    uint32_t group = hash_of(window) >> kGroupShift;
    for (uint32_t i = starts[group]; i < starts[group + 1]; ++i) {
      const Entry& entry = entries[i];
      if (entry.window != window || at < from + entry.offset || !wanted(entry.literal)) continue;
      size_t begin = at - entry.offset;
      if (text.size() - begin < entry.size) continue;
      // A text of near matches has the window again and again: its end tells most of them apart.
      if (entry.size >= kLoad && load(text.data() + begin + entry.size - kLoad) != entry.last)
        continue;
      if (text.substr(begin).starts_with(literals[entry.literal]) && found(entry.literal, begin))
        return true;
    }
    return false;
  }

  template <class W, class F>
  void scan(std::string_view text, size_t from, W wanted, F found) const {
    if (entries.empty()) return;
    const char* data = text.data();
    const size_t step = 4 * stride;
    size_t at = from;
    for (; at + 3 * stride + kLoad <= text.size(); at += step) {
      const char* here = data + at;
      if ((may_be(here) | may_be(here + stride) | may_be(here + 2 * stride) |
           may_be(here + 3 * stride)) == 0)
        continue;
      for (size_t i = 0; i < 4; ++i)
        if (may_be(here + i * stride) != 0 && at_window(text, at + i * stride, from, wanted, found))
          return;
    }
    for (; at + width <= text.size(); at += stride)
      if (at_window(text, at, from, wanted, found)) return;
  }
};

LiteralSet::LiteralSet(const std::vector<std::string>& literals) : impl_(std::make_unique<Impl>()) {
  impl_->literals = literals;
  impl_->build();
}
LiteralSet::~LiteralSet() = default;
LiteralSet::LiteralSet(LiteralSet&&) noexcept = default;
LiteralSet& LiteralSet::operator=(LiteralSet&&) noexcept = default;

size_t LiteralSet::find(std::string_view text, size_t from) const {
  size_t found = std::string_view::npos;
  impl_->scan(
      text, from, [](uint32_t) { return true; },
      [&](uint32_t, size_t begin) {
        found = begin;
        return true;
      });
  return found;
}

std::vector<uint32_t> LiteralSet::all_in(std::string_view text) const {
  // What was found once is not compared again: a text may have one literal at every turn.
  std::vector<bool> seen(impl_->literals.size());
  std::vector<uint32_t> found;
  impl_->scan(
      text, 0, [&](uint32_t literal) { return !seen[literal]; },
      [&](uint32_t literal, size_t) {
        seen[literal] = true;
        found.push_back(literal);
        return false;
      });
  std::sort(found.begin(), found.end());
  return found;
}

} // namespace gpuvet
