#include "formats/zip.hpp"

#include "formats/inflate.hpp"
#include "formats/unpack_limits.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_set>

namespace gpuvet {
namespace {

constexpr uint32_t kLocalHeader = 0x04034b50;
constexpr uint32_t kDirectoryEntry = 0x02014b50;
constexpr uint32_t kEnd = 0x06054b50;
constexpr uint32_t kEnd64 = 0x06064b50;
constexpr uint32_t kEnd64Locator = 0x07064b50;
constexpr size_t kLocalHeaderSize = 30;
constexpr size_t kEntrySize = 46;
constexpr size_t kEndSize = 22;
constexpr size_t kLocatorSize = 20;
constexpr size_t kEnd64Size = 56;
constexpr uint16_t kZip64Field = 1;
constexpr uint16_t kEncrypted = 1u << 0;
constexpr uint16_t kStrongEncryption = 1u << 6;
constexpr uint16_t kMaskedHeaders = 1u << 13;

struct Directory {
  uint64_t at = 0; // offset in the file
  uint64_t size = 0;
  uint64_t count = 0;
  uint64_t shift = 0; // bytes in front of the archive (self-extracting programs)
};

template <class T> T get(Bytes bytes, size_t at) {
  return bytes.read<T>(at).value_or(T{});
}

// The end record is last but for a comment of at most 65,535 bytes.
std::optional<uint64_t> find_end(Bytes file) {
  if (file.size() < kEndSize) return std::nullopt;
  uint64_t last = file.size() - kEndSize;
  uint64_t first = last > UINT16_MAX ? last - UINT16_MAX : 0;
  for (uint64_t at = last + 1; at-- > first;) {
    if (get<uint32_t>(file, at) != kEnd) continue;
    if (get<uint16_t>(file, at + 20) == file.size() - at - kEndSize) return at;
  }
  return std::nullopt;
}

Result<Directory> read_end64(Bytes file, uint64_t end, const std::string& where) {
  uint64_t told = get<uint64_t>(file, end - kLocatorSize + 8);
  // Bytes in front of the archive move the record; its usual place is right before the locator.
  uint64_t usual = end - kLocatorSize - std::min<uint64_t>(kEnd64Size, end - kLocatorSize);
  uint64_t at = told;
  if (!file.holds(at, kEnd64Size) || get<uint32_t>(file, at) != kEnd64) at = usual;
  if (!file.holds(at, kEnd64Size) || get<uint32_t>(file, at) != kEnd64)
    return fail("the zip64 end record is missing", where + ", offset " + std::to_string(told));
  if (get<uint32_t>(file, at + 16) != get<uint32_t>(file, at + 20))
    return fail("the zip archive is split over several files, which gpuvet does not read", where);
  Directory found;
  found.count = get<uint64_t>(file, at + 32);
  found.size = get<uint64_t>(file, at + 40);
  found.at = get<uint64_t>(file, at + 48);
  found.shift = at >= told ? at - told : 0;
  return found;
}

Result<Directory> read_end(Bytes file, const std::string& where) {
  auto end = find_end(file);
  if (!end)
    return fail("the zip directory at the end of the file is missing: the file is cut off or "
                "not a zip archive",
                where);
  Directory found;
  uint16_t disk = get<uint16_t>(file, *end + 4);
  found.count = get<uint16_t>(file, *end + 10);
  found.size = get<uint32_t>(file, *end + 12);
  found.at = get<uint32_t>(file, *end + 16);
  uint64_t directory_end = *end;
  if (*end >= kLocatorSize && get<uint32_t>(file, *end - kLocatorSize) == kEnd64Locator) {
    auto large = read_end64(file, *end, where);
    if (!large) return large;
    found = *large;
    directory_end = *end - kLocatorSize;
  } else if (disk != get<uint16_t>(file, *end + 6) || disk != 0) {
    return fail("the zip archive is split over several files, which gpuvet does not read", where);
  } else if (file.holds(found.at, found.size) && found.at + found.size < *end) {
    found.shift = *end - found.at - found.size;
  }
  if (!file.holds(found.at, found.size) || found.at + found.size > directory_end ||
      found.shift > directory_end - found.at - found.size)
    return fail("the zip directory reaches beyond the file: the file is cut off or damaged",
                where + ", directory offset " + std::to_string(found.at));
  found.at += found.shift;
  if (found.count > limits::members || found.count > found.size / kEntrySize)
    return fail("the zip directory claims " + std::to_string(found.count) +
                    " members, more than it has room for",
                where);
  return found;
}

// Replaces the 32-bit values that are all ones by those of the zip64 field, which holds only them,
// in this order.
bool apply_zip64(Bytes extra, ZipMember& member) {
  bool need_size = member.size == UINT32_MAX;
  bool need_stored = member.stored_size == UINT32_MAX;
  bool need_header = member.header == UINT32_MAX;
  if (!need_size && !need_stored && !need_header) return true;
  for (size_t at = 0; extra.holds(at, 4);) {
    uint16_t id = get<uint16_t>(extra, at);
    auto body = extra.slice(at + 4, get<uint16_t>(extra, at + 2));
    if (!body) return false;
    at += 4 + body->size();
    if (id != kZip64Field) continue;
    size_t next = 0;
    bool all = true;
    auto take = [&](bool needed, uint64_t& value) {
      if (!needed) return;
      auto large = body->read<uint64_t>(next);
      all = all && large.has_value();
      value = large.value_or(value);
      next += 8;
    };
    take(need_size, member.size);
    take(need_stored, member.stored_size);
    take(need_header, member.header);
    return all;
  }
  return false;
}

std::string problem_of(const ZipMember& member, uint64_t directory_at, bool sizes_known) {
  if (!sizes_known) return "the zip directory does not give its 64-bit size";
  if (member.flags & (kEncrypted | kStrongEncryption | kMaskedHeaders)) return "it is encrypted";
  if (member.method != 0 && member.method != 8)
    return "compression method " + std::to_string(member.method) +
           " is not supported (0 and 8 are)";
  if (member.header > directory_at || directory_at - member.header < kLocalHeaderSize ||
      member.stored_size > directory_at - member.header - kLocalHeaderSize)
    return "its data reaches beyond the archive";
  if (member.method == 0 && member.size != member.stored_size)
    return "it is stored uncompressed, but its two sizes differ";
  if (member.size > most_expanded(member.stored_size))
    return "it would expand to " + std::to_string(member.size) + " bytes from " +
           std::to_string(member.stored_size) + "; refused as a decompression bomb";
  return {};
}

// Two members over the same bytes are how a small zip expands without end, and how two programs
// are made to see two different archives.
void find_overlaps(std::vector<ZipMember>& members) {
  std::vector<size_t> order(members.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return members[a].header < members[b].header; });
  uint64_t free_from = 0;
  for (size_t index : order) {
    ZipMember& member = members[index];
    if (!member.problem.empty()) continue;
    if (member.header < free_from) {
      member.problem = "its data overlaps that of another member";
      continue;
    }
    free_from = member.header + kLocalHeaderSize + member.name.size() + member.stored_size;
  }
}

void find_repeated(std::vector<ZipMember>& members) {
  std::unordered_set<std::string_view> names;
  for (ZipMember& member : members)
    member.repeated = !names.insert(member.name).second;
}

} // namespace

Result<Zip> read_zip(Bytes file, const std::string& where) {
  auto directory = read_end(file, where);
  if (!directory) return tl::unexpected(directory.error());
  Zip zip{file, {}, {}};
  zip.members.reserve(directory->count);
  Bytes entries = file.clamp(directory->at, directory->size);
  size_t at = 0;
  for (uint64_t i = 0; i < directory->count; ++i) {
    auto place = [&] { return where + ", offset " + std::to_string(directory->at + at); };
    if (!entries.holds(at, kEntrySize) || get<uint32_t>(entries, at) != kDirectoryEntry)
      return fail("the zip directory is damaged at member " + std::to_string(i + 1) + " of " +
                      std::to_string(directory->count),
                  place());
    size_t name_size = get<uint16_t>(entries, at + 28);
    size_t extra_size = get<uint16_t>(entries, at + 30);
    size_t comment_size = get<uint16_t>(entries, at + 32);
    if (!entries.holds(at + kEntrySize, name_size + extra_size + comment_size))
      return fail("a member's name reaches beyond the zip directory", place());
    ZipMember member;
    member.flags = get<uint16_t>(entries, at + 8);
    member.method = get<uint16_t>(entries, at + 10);
    member.crc = get<uint32_t>(entries, at + 16);
    member.stored_size = get<uint32_t>(entries, at + 20);
    member.size = get<uint32_t>(entries, at + 24);
    member.header = get<uint32_t>(entries, at + 42);
    member.name = entries.clamp(at + kEntrySize, name_size).text();
    bool known = apply_zip64(entries.clamp(at + kEntrySize + name_size, extra_size), member);
    if (member.header > UINT64_MAX - directory->shift)
      member.header = UINT64_MAX;
    else
      member.header += directory->shift;
    member.problem = problem_of(member, directory->at, known);
    zip.members.push_back(std::move(member));
    at += kEntrySize + name_size + extra_size + comment_size;
  }
  find_overlaps(zip.members);
  find_repeated(zip.members);
  return zip;
}

Result<std::unique_ptr<ByteStream>> open_member(const Zip& zip, const ZipMember& member,
                                                const std::string& where) {
  if (!member.problem.empty())
    return fail("the zip member cannot be read: " + member.problem, where);
  auto header = zip.file.slice(member.header, kLocalHeaderSize);
  if (!header || get<uint32_t>(*header, 0) != kLocalHeader)
    return fail("the zip member has no header in front of its data",
                where + ", offset " + std::to_string(member.header));
  size_t name_size = get<uint16_t>(*header, 26);
  uint64_t name_at = member.header + kLocalHeaderSize;
  if (zip.file.clamp(name_at, name_size).text() != member.name)
    return fail("the zip member has another name in front of its data than in the directory",
                where + ", offset " + std::to_string(member.header));
  uint64_t data_at = name_at + name_size + get<uint16_t>(*header, 28);
  auto data = zip.file.slice(data_at, member.stored_size);
  if (!data) return fail("the zip member's data reaches beyond the file", where);
  if (member.method == 0) return std::make_unique<MemoryStream>(*data);
  return inflate_member(*data, {.size = member.size, .crc = member.crc}, where, zip.release);
}

} // namespace gpuvet
