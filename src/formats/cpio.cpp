#include "formats/cpio.hpp"

#include <charconv>

namespace gpuvet {
namespace {

constexpr size_t kHeader = 110;
constexpr size_t kFirstField = 6; // behind the magic; each field is 8 hexadecimal digits
constexpr size_t kMode = 1, kSize = 6, kNameSize = 11;
constexpr uint32_t kTypeMask = 0170000, kFile = 0100000, kFolder = 0040000, kLink = 0120000;
constexpr std::string_view kEnd = "TRAILER!!!";

constexpr uint64_t kRpmLead = 96;
constexpr uint64_t kRpmHeader = 16;
constexpr uint64_t kRpmIndexEntry = 16;

constexpr uint64_t align(uint64_t at, uint64_t to) {
  return (at + to - 1) / to * to;
}

std::optional<uint32_t> field(std::string_view header, size_t index) {
  std::string_view digits = header.substr(kFirstField + index * 8, 8);
  uint32_t value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

MemberType type_of(uint32_t mode) {
  switch (mode & kTypeMask) {
  case kFile:
    return MemberType::file;
  case kFolder:
    return MemberType::folder;
  case kLink:
    return MemberType::symbolic_link;
  default:
    return MemberType::other;
  }
}

struct Found {
  ArchiveMember member;
  uint64_t data = 0;
};

Result<Found> read_member(ByteStream& archive, uint64_t at, const std::string& where) {
  auto place = [&] { return where + ", offset " + std::to_string(at); };
  auto header = archive.window(at, kHeader);
  if (!header) return tl::unexpected(header.error());
  if (header->size() < kHeader) return fail("the cpio archive is cut off", place());
  if (!is_newc(*header)) return fail("the cpio archive is damaged: no member header", place());
  auto mode = field(header->text(), kMode);
  auto size = field(header->text(), kSize);
  auto name_size = field(header->text(), kNameSize);
  if (!mode || !size || !name_size || *name_size == 0)
    return fail("the cpio archive is damaged: no numbers in a member header", place());
  if (*name_size > limits::path_bytes)
    return fail("a member's name is longer than " + std::to_string(limits::path_bytes) + " bytes",
                place());
  auto name = archive.window(at + kHeader, *name_size);
  if (!name) return tl::unexpected(name.error());
  if (name->size() < *name_size) return fail("the cpio archive is cut off", place());
  Found found;
  found.member.name = without_root(std::string(name->text().substr(0, name->text().find('\0'))));
  found.member.type = type_of(*mode);
  found.member.size = *size;
  found.data = align(at + kHeader + *name_size, 4);
  return found;
}

// Size of one header: an index and its data.
Result<uint64_t> rpm_header_size(ByteStream& package, uint64_t at, const std::string& where) {
  auto header = package.window(at, kRpmHeader);
  if (!header) return tl::unexpected(header.error());
  if (header->size() < kRpmHeader || !header->text().starts_with("\x8e\xad\xe8"))
    return fail("the rpm package is damaged: no header", where + ", offset " + std::to_string(at));
  auto big_endian = [&](size_t from) {
    uint64_t value = 0;
    for (size_t i = 0; i < 4; ++i)
      value = value << 8 | header->data()[from + i];
    return value;
  };
  return kRpmHeader + big_endian(8) * kRpmIndexEntry + big_endian(12);
}

} // namespace

bool is_newc(Bytes head) {
  return head.text().starts_with("070701") || head.text().starts_with("070702");
}

Result<void> for_each_newc_member(ByteStream& archive, const std::string& where, Budget& budget,
                                  const VisitMember& visit) {
  uint64_t at = 0;
  for (uint64_t count = 0; count < limits::members; ++count) {
    auto found = read_member(archive, at, where);
    if (!found) return tl::unexpected(found.error());
    if (found->member.name == kEnd) return {};
    if (!budget.spend(found->member.size)) return fail(std::string(kBombText), where);
    PartStream content(archive, found->data, found->member.size, where + "!" + found->member.name);
    if (visit(found->member, content) == Next::stop) return {};
    at = align(found->data + found->member.size, 4);
  }
  return fail("the archive has more than " + std::to_string(limits::members) + " members", where);
}

Result<uint64_t> rpm_payload(ByteStream& package, const std::string& where) {
  auto signature = rpm_header_size(package, kRpmLead, where);
  if (!signature) return signature;
  uint64_t at = align(kRpmLead + *signature, 8);
  auto header = rpm_header_size(package, at, where);
  if (!header) return header;
  return at + *header;
}

} // namespace gpuvet
