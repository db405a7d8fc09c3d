#include "formats/ld_cache.hpp"

#include <algorithm>
#include <optional>

namespace gpuvet {
namespace {

constexpr std::string_view kOldMagic = "ld.so-1.7.0", kMagic = "glibc-ld.so.cache1.1";
constexpr uint64_t kOldHeader = 16, kOldEntry = 12;
constexpr uint64_t kHeader = 48, kEntry = 24;
constexpr uint64_t kExtensionBit = uint64_t{1} << 62; // hwcap holds an index of a hwcaps name
constexpr uint64_t kIsaLevels = 0x3ff;                // bits above 32 that do not matter here
constexpr uint32_t kExtensionMagic = 0xeaa42174;
constexpr uint32_t kGenerator = 0, kHwcapsNames = 1;
constexpr uint64_t kMaxEntries = uint64_t{1} << 18, kMaxExtensions = 64, kMaxHwcaps = 256;
constexpr size_t kLongestText = 4096;
constexpr size_t kMostText = size_t{64} << 20;

// Names out of the file, with a limit on how much of it is kept.
struct Texts {
  Bytes table;
  size_t left = kMostText;

  std::optional<std::string> at(uint64_t offset) {
    auto text = table.clamp(offset, kLongestText + 1).c_string(0);
    if (!text || text->size() > left) return std::nullopt;
    left -= text->size();
    return std::string(*text);
  }
};

bool is_named(uint64_t hwcap) {
  return ((hwcap >> 32) & ~kIsaLevels) == (kExtensionBit >> 32);
}

// The hwcaps names that entries refer to by index. Offsets count from the start of the file.
std::vector<std::string> read_extensions(Bytes file, uint64_t at, std::string& generator) {
  std::vector<std::string> names;
  if (at == 0 || at % 4 != 0 || file.read<uint32_t>(at) != kExtensionMagic) return names;
  uint64_t count = std::min<uint64_t>(file.read<uint32_t>(at + 4).value_or(0), kMaxExtensions);
  for (uint64_t i = 0; i < count; ++i) {
    auto section = file.slice(at + 8 + i * 16, 16);
    if (!section) break;
    uint32_t tag = *section->read<uint32_t>(0);
    auto data = file.slice(*section->read<uint32_t>(8), *section->read<uint32_t>(12));
    if (!data) continue;
    if (tag == kGenerator) generator = data->clamp(0, kLongestText).text();
    if (tag != kHwcapsNames) continue;
    for (uint64_t k = 0; k + 4 <= data->size() && names.size() < kMaxHwcaps; k += 4) {
      auto name = file.clamp(*data->read<uint32_t>(k), kLongestText).c_string(0);
      names.emplace_back(name.value_or(""));
    }
  }
  return names;
}

// `start` is where the newer layout begins; its name offsets count from there.
Result<LdCache> parse_new(Bytes file, uint64_t start) {
  Bytes body = file.clamp(start, file.size());
  auto header = body.slice(0, kHeader);
  if (!header) return fail("the cache's header is cut off");
  uint64_t count = *header->read<uint32_t>(20);
  if (count > kMaxEntries || !body.holds(kHeader, count * kEntry))
    return fail("the cache's entries reach behind the end of the file");
  uint8_t order = *header->read<uint8_t>(28) & 3;
  if (order == 1 || order == 3) return fail("the cache is not for a little-endian machine");
  LdCache cache;
  auto names = read_extensions(file, *header->read<uint32_t>(32), cache.generator);
  Texts texts{body};
  for (uint64_t i = 0; i < count; ++i) {
    Bytes entry = body.clamp(kHeader + i * kEntry, kEntry);
    auto soname = texts.at(*entry.read<uint32_t>(4));
    auto path = texts.at(*entry.read<uint32_t>(8));
    if (!soname || !path) return fail("an entry of the cache names something outside the file");
    LdCacheEntry one{std::move(*soname),
                     std::move(*path),
                     *entry.read<uint32_t>(0),
                     *entry.read<uint64_t>(16),
                     {}};
    if (is_named(one.hwcap)) {
      uint64_t index = one.hwcap & 0xffffffff;
      one.hwcaps = index < names.size() && !names[index].empty() ? names[index] : "unknown";
      one.hwcap = 0;
    }
    cache.entries.push_back(std::move(one));
  }
  return cache;
}

Result<LdCache> parse_old(Bytes file, uint64_t count) {
  LdCache cache;
  cache.old_format = true;
  Texts texts{file.clamp(kOldHeader + count * kOldEntry, file.size())};
  for (uint64_t i = 0; i < count; ++i) {
    Bytes entry = file.clamp(kOldHeader + i * kOldEntry, kOldEntry);
    auto soname = texts.at(*entry.read<uint32_t>(4));
    auto path = texts.at(*entry.read<uint32_t>(8));
    if (!soname || !path) return fail("an entry of the cache names something outside the file");
    cache.entries.push_back(
        {std::move(*soname), std::move(*path), *entry.read<uint32_t>(0), 0, {}});
  }
  return cache;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The digits at the start as a number would compare: without zeros in front.
std::string_view take_number(std::string_view& text) {
  size_t size = 0;
  while (size < text.size() && is_digit(text[size]))
    ++size;
  std::string_view digits = text.substr(0, size);
  text.remove_prefix(size);
  while (digits.size() > 1 && digits.front() == '0')
    digits.remove_prefix(1);
  return digits;
}

size_t preference(const LdCacheEntry& entry, const std::vector<std::string>& hwcaps) {
  if (entry.hwcaps.empty()) return hwcaps.size();
  auto at = std::find(hwcaps.begin(), hwcaps.end(), entry.hwcaps);
  return at == hwcaps.end() ? SIZE_MAX : static_cast<size_t>(at - hwcaps.begin());
}

} // namespace

Result<LdCache> parse_ld_cache(Bytes file) {
  std::string_view text = file.text();
  if (text.starts_with(kMagic)) return parse_new(file, 0);
  if (!text.starts_with(kOldMagic)) return fail("not a cache of ldconfig");
  auto count = file.read<uint32_t>(12);
  if (!count || *count > kMaxEntries || !file.holds(kOldHeader, uint64_t{*count} * kOldEntry))
    return fail("the cache's entries reach behind the end of the file");
  uint64_t behind = kOldHeader + uint64_t{*count} * kOldEntry;
  uint64_t aligned = (behind + 7) & ~uint64_t{7};
  if (file.clamp(aligned, kMagic.size()).text() == kMagic) return parse_new(file, aligned);
  return parse_old(file, *count);
}

uint32_t cache_flags(uint8_t bits, uint16_t machine) {
  switch (machine) {
  case 62: // x86-64; 32-bit: x32
    return bits == 64 ? 0x0303 : 0x0803;
  case 3: // i386
    return 0x0003;
  case 183: // AArch64
    return bits == 64 ? 0x0a03 : 0;
  case 21: // PowerPC 64
    return 0x0503;
  default:
    return 0;
  }
}

bool same_cache_name(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) != is_digit(b.front())) return false;
    if (is_digit(a.front())) {
      if (take_number(a) != take_number(b)) return false;
    } else {
      if (a.front() != b.front()) return false;
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.empty() && b.empty();
}

std::vector<const LdCacheEntry*> find_in_cache(const LdCache& cache, std::string_view soname,
                                               uint32_t flags,
                                               const std::vector<std::string>& hwcaps) {
  std::vector<const LdCacheEntry*> found;
  for (const LdCacheEntry& entry : cache.entries) {
    bool plain_elf = flags == 0x0003 && entry.flags == 1; // i386 takes libc5's kind too
    if (entry.flags != flags && !plain_elf) continue;
    if (entry.hwcap != 0 || preference(entry, hwcaps) == SIZE_MAX) continue;
    if (same_cache_name(entry.soname, soname)) found.push_back(&entry);
  }
  std::stable_sort(found.begin(), found.end(), [&](const LdCacheEntry* a, const LdCacheEntry* b) {
    return preference(*a, hwcaps) < preference(*b, hwcaps);
  });
  return found;
}

} // namespace gpuvet
