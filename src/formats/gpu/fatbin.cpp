#include "formats/gpu/fatbin.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

constexpr uint32_t kMaxEntryHeader = 1u << 20; // extension with names and options included

struct RawEntry {
  uint16_t kind, version;
  uint32_t header_size;
  uint64_t payload_size;
  uint32_t compressed_size, options_offset;
  uint16_t minor, major;
  uint32_t sm, name_offset, name_length;
  uint64_t flags, key, raw_size;
};
static_assert(sizeof(RawEntry) == kEntryHeader);

std::string at_offset(uint64_t offset) {
  return fmt::format("at file offset {:#x}", offset);
}

// "a" wins when both suffix flags are set, in the driver as in cuobjdump.
char suffix_of(uint64_t flags) {
  if (flags & entry_flag::arch_specific) return 'a';
  if (flags & entry_flag::family_specific) return 'f';
  return 0;
}

Compression compression_of(uint64_t flags) {
  if (flags & entry_flag::zstd) return Compression::zstd;
  if (flags & entry_flag::lz4_frame) return Compression::lz4_frame;
  if (flags & entry_flag::lz4_block) return Compression::lz4_block;
  if (flags & entry_flag::zlib) return Compression::zlib;
  return Compression::none;
}

// Empty when the header can be followed; else what is wrong with it.
std::string entry_fault(const RawEntry& raw, uint64_t room) {
  if (raw.header_size == 0 && raw.payload_size == 0) return "an entry filled with zeros";
  if (raw.header_size < kEntryHeader || raw.header_size % 8 || raw.header_size > kMaxEntryHeader)
    return fmt::format("an entry header of {} bytes", raw.header_size);
  if (raw.header_size > room || raw.payload_size > room - raw.header_size)
    return fmt::format("an entry of {} bytes where {} are left", raw.payload_size, room);
  if (raw.payload_size % 8) return fmt::format("a payload of {} bytes", raw.payload_size);
  return {};
}

Image image_from(const RawEntry& raw, uint64_t offset) {
  Image image;
  image.kind = static_cast<ImageKind>(raw.kind);
  image.target = {raw.sm, suffix_of(raw.flags)};
  image.offset = offset;
  image.header_size = raw.header_size;
  image.payload_size = raw.payload_size;
  image.flags = raw.flags;
  image.entry_version = raw.version;
  image.version_major = raw.major;
  image.version_minor = raw.minor;
  image.compression = compression_of(raw.flags);
  bool compressed = image.compression != Compression::none;
  image.stored_size = compressed && raw.compressed_size <= raw.payload_size ? raw.compressed_size
                                                                            : raw.payload_size;
  image.raw_size = compressed ? raw.raw_size : raw.payload_size;
  return image;
}

// A module id or source file name; told only when it lies whole inside the header.
std::string name_from(const RawEntry& raw, Bytes header) {
  if (raw.name_offset < kEntryHeader || raw.name_length == 0) return {};
  auto name = header.slice(raw.name_offset, raw.name_length);
  return name ? std::string(name->text()) : std::string();
}

// The first bytes of a payload give away one that was overwritten: slimming tools fill with 0 or 1.
Damage damage_of(const Image& image, Bytes start) {
  if (image.obfuscated()) return Damage::none;
  Damage broken = image.kind == ImageKind::ptx ? Damage::ptx_text : Damage::payload;
  auto word = start.read<uint32_t>(0);
  if (!word) return broken;
  switch (image.compression) {
  case Compression::zstd:
    return *word == 0xFD2FB528 ? Damage::none : broken;
  case Compression::lz4_frame:
    return *word == 0x184D2204 ? Damage::none : broken;
  case Compression::zlib:
    return (*word & 0x0F) == 8 ? Damage::none : broken;
  case Compression::lz4_block:
    return *word == 0 || *word == 0x01010101 ? broken : Damage::none;
  case Compression::none:
    break;
  }
  if (image.kind == ImageKind::cubin) {
    if (*word != 0x464C457F) return Damage::payload;
    return Damage::none;
  }
  if (image.kind == ImageKind::ptx) return (*word & 0xFF) < 9 ? Damage::ptx_text : Damage::none;
  return Damage::none;
}

// Reads the entry at `at`; false ends the walk (the reason is in container.problem).
bool read_entry(ForwardReader& reader, uint64_t at, uint64_t room, Container& container,
                const ImageVisitor& visit, uint64_t& next) {
  auto refuse = [&](const std::string& what) {
    container.problem = what + " " + at_offset(reader.base() + at);
    return false;
  };
  if (room < kEntryHeader) {
    container.hangs = true; // the driver looks for an entry there, and never gets on
    return refuse(fmt::format("{} stray bytes behind the last entry", room));
  }
  auto head = reader.view(at, kEntryHeader);
  if (!head) return refuse(head.error().what);
  auto raw = head->read<RawEntry>(0);
  if (!raw) return refuse("the file ends inside an entry header");
  std::string fault = entry_fault(*raw, room);
  if (!fault.empty()) {
    container.hangs = raw->header_size == 0 && raw->payload_size == 0;
    return refuse(fault);
  }
  Image image = image_from(*raw, reader.base() + at);
  if (raw->header_size > kEntryHeader) {
    auto header = reader.view(at, raw->header_size);
    if (header) image.name = name_from(*raw, *header);
  }
  uint64_t payload_at = at + raw->header_size;
  bool code = image.kind == ImageKind::ptx || image.kind == ImageKind::cubin;
  if (code) {
    auto start =
        reader.view(payload_at, static_cast<size_t>(std::min<uint64_t>(image.stored_size, 64)));
    if (!start) return refuse(start.error().what);
    image.damage = damage_of(image, *start);
  }
  container.images.push_back(std::move(image));
  if (code && visit)
    visit(container, container.images.back(), [&](size_t n) {
      const Image& last = container.images.back();
      return reader.view(payload_at, static_cast<size_t>(std::min<uint64_t>(n, last.stored_size)));
    });
  next = payload_at + raw->payload_size;
  if (reader.size() && next > *reader.size()) return refuse("the file ends inside a payload");
  return true;
}

// Does the first entry look like one? Keeps numbers that equal the magic by chance from counting.
// Views from the container's start, since a stream cannot step back when the answer is no.
bool first_entry_plausible(ForwardReader& reader, uint64_t at, uint32_t header_size,
                           uint64_t size) {
  if (size == 0) return true;
  auto head = reader.view(at, header_size + kEntryHeader);
  auto raw = head ? head->read<RawEntry>(header_size) : std::nullopt;
  if (!raw) return false;
  bool zero = raw->header_size == 0 && raw->payload_size == 0;
  return zero || entry_fault(*raw, size).empty();
}

} // namespace

ContainerRead read_container(ForwardReader& reader, uint64_t at, const ImageVisitor& visit) {
  ContainerRead result;
  result.next = at + 4;
  auto head = reader.view(at, 16);
  if (!head || head->size() < 16 || head->read<uint32_t>(0) != kContainerMagic) return result;
  Container& container = result.container;
  container.offset = reader.base() + at;
  container.version = *head->read<uint16_t>(4);
  container.header_size = *head->read<uint16_t>(6);
  uint64_t body = *head->read<uint64_t>(8);
  if (container.version == 0 || container.version > 2 || container.header_size < 16 ||
      container.header_size % 8 || container.header_size > 4096 || body % 8 ||
      body > (uint64_t{1} << 40))
    return result;
  uint64_t entry = at + container.header_size, end = entry + body;
  container.size = container.header_size + body;
  if (!first_entry_plausible(reader, at, container.header_size, body)) return result;

  result.plausible = true;
  while (entry < end) {
    uint64_t next = 0;
    if (!read_entry(reader, entry, end - entry, container, visit, next)) {
      // Go on searching right behind what was understood.
      result.next = std::max(entry + 4, next ? std::min(next, end) : 0);
      return result;
    }
    entry = next;
  }
  result.next = end;
  return result;
}

std::string kind_name(ImageKind kind) {
  switch (kind) {
  case ImageKind::ptx:
    return "ptx";
  case ImageKind::cubin:
    return "cubin";
  case ImageKind::text_cubin:
    return "text-cubin";
  case ImageKind::lto_ir:
    return "lto-ir";
  case ImageKind::index:
    return "index";
  case ImageKind::relocatable_ptx:
    return "relocatable-ptx";
  }
  return fmt::format("kind-{:#04x}", static_cast<unsigned>(kind));
}

std::string compression_name(Compression compression) {
  switch (compression) {
  case Compression::none:
    return "none";
  case Compression::zlib:
    return "zlib";
  case Compression::lz4_block:
    return "lz4";
  case Compression::lz4_frame:
    return "lz4-frame";
  case Compression::zstd:
    return "zstd";
  }
  return "none";
}

uint64_t unknown_flags(uint64_t flags) {
  constexpr uint64_t known = 0x1 | 0x2 | 0x4 | 0x8 | 0x10 | 0x20 | 0x40 | 0xf00 | 0x1000 | 0x2000 |
                             0x4000 | 0x8000 | 0x10000 | 0x100000 | 0x200000 | 0x1000000;
  return flags & ~known;
}

} // namespace gpuvet
