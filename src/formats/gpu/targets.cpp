#include "formats/gpu/targets.hpp"

#include "formats/gpu/fatbin.hpp"
#include "formats/gpu/ptx.hpp"
#include "formats/object/elf.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

constexpr uint32_t kWrapperMagic = 0x466243B1;
constexpr uint64_t kWrapper = 24;               // bytes of a record
constexpr size_t kHead = 512;                   // of PTX: enough for .version and .target
constexpr size_t kMostTable = size_t{16} << 20; // bytes of section headers, or of their names
constexpr size_t kMostPadding = size_t{1} << 20;

// Text that was not compressed tells its version itself; the entry's header may differ.
void look_into_ptx(Image& image, const std::function<Result<Bytes>(size_t)>& payload) {
  if (image.kind != ImageKind::ptx || image.compression != Compression::none ||
      image.obfuscated() || image.damage != Damage::none)
    return;
  auto start = payload(kHead);
  auto head = start ? parse_ptx_head(start->text()) : std::nullopt;
  if (!head) return;
  image.version_major = static_cast<uint16_t>(head->isa.major());
  image.version_minor = static_cast<uint16_t>(head->isa.minor());
}

std::optional<std::vector<ElfSection>> sections_of(ForwardReader& reader, const ElfHeader& elf) {
  if (elf.section_offset == 0 || elf.section_count == 0) return std::nullopt;
  const uint64_t size = section_table_size(elf);
  if (size > kMostTable) return std::nullopt;
  auto table = reader.view(elf.section_offset, static_cast<size_t>(size));
  if (!table || table->size() != size) return std::nullopt;
  const std::vector<uint8_t> copy(table->data(), table->data() + table->size());
  bool read = false;
  auto sections =
      parse_sections(elf, Bytes(copy.data(), copy.size()), [&](uint64_t offset, uint64_t length) {
        if (length > kMostTable) return Bytes{};
        auto names = reader.view(offset, static_cast<size_t>(length));
        read = names && names->size() == length;
        return read ? *names : Bytes{};
      });
  if (!sections || !read) return std::nullopt;
  return std::move(*sections);
}

// Where the zeros end that pad one container to the next one's alignment; nullopt: something else
// stands there.
std::optional<uint64_t> behind_padding(ForwardReader& reader, uint64_t at, uint64_t end) {
  for (const uint64_t most = at + kMostPadding; at < end && at < most; at += 8) {
    auto word = reader.view(at, 8);
    if (!word || word->size() < 8) return std::nullopt;
    if (*word->read<uint64_t>(0) == 0) continue;
    if (*word->read<uint32_t>(0) == kContainerMagic) return at;
    return std::nullopt;
  }
  return at >= end ? std::optional(end) : std::nullopt;
}

bool walk_section(ForwardReader& reader, const ElfSection& section, GpuTargets& targets) {
  const uint64_t end = section.offset + section.size;
  if (end < section.offset || (reader.size() && end > *reader.size())) return false;
  auto visit = [](Container&, Image& image, const std::function<Result<Bytes>(size_t)>& payload) {
    look_into_ptx(image, payload);
  };
  for (uint64_t at = section.offset; at < end;) {
    auto next = behind_padding(reader, at, end);
    if (!next) return false;
    if (*next >= end) return true;
    ContainerRead read = read_container(reader, *next, visit);
    if (!read.plausible || !read.container.problem.empty() || read.next > end) return false;
    for (const Image& image : read.container.images)
      targets.add(image);
    at = read.next;
  }
  return true;
}

// Wrappers and nothing else, through which the runtime finds the containers.
bool holds_wrappers_only(ForwardReader& reader, const ElfSection& section) {
  if (section.size % kWrapper != 0 || section.size > kMostTable) return false;
  auto records = reader.view(section.offset, static_cast<size_t>(section.size));
  if (!records || records->size() != section.size) return false;
  for (uint64_t at = 0; at < section.size; at += kWrapper)
    if (records->read<uint32_t>(at) != kWrapperMagic) return false;
  return true;
}

} // namespace

void GpuTargets::add(const Image& image) {
  if (image.kind == ImageKind::cubin) sass.insert(image.target);
  if (image.kind != ImageKind::ptx) return;
  ptx.insert(image.target);
  const std::pair<uint32_t, uint32_t> isa = {image.version_major, image.version_minor};
  if (!ptx_isa || isa > *ptx_isa) ptx_isa = isa;
}

std::optional<GpuTargets> walk_targets(ByteStream& stream) {
  if (!stream.random_access() || !stream.size()) return std::nullopt;
  ForwardReader reader(stream, 0, stream.size());
  auto start = reader.view(0, 64);
  auto elf = start ? parse_elf_header(*start) : tl::unexpected(start.error());
  if (!elf || elf->machine == kMachineCuda || elf->type == 1) return std::nullopt;
  auto sections = sections_of(reader, *elf);
  if (!sections) return std::nullopt;
  GpuTargets targets;
  for (const ElfSection& section : *sections) {
    if (!section.has_bytes()) continue;
    const bool of_code = section.name == ".nv_fatbin" || section.name == "__nv_relfatbin";
    if (of_code && !walk_section(reader, section, targets)) return std::nullopt;
    if (section.name == ".nvFatBinSegment" && !holds_wrappers_only(reader, section))
      return std::nullopt;
  }
  return targets;
}

} // namespace gpuvet
