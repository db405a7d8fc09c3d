#include "formats/gpu/inspect.hpp"

#include "formats/gpu/cubin.hpp"
#include "formats/gpu/ptx.hpp"
#include "formats/gpu/scan_state.hpp"
#include "formats/object/ar.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

namespace gpuvet {
namespace {

constexpr size_t kHead = size_t{64} << 10;
constexpr uint64_t kEnd = std::numeric_limits<uint64_t>::max();

FileFormat format_of(Bytes head) {
  auto word = head.read<uint32_t>(0);
  if (!word) return FileFormat::other;
  if (*word == kContainerMagic) return FileFormat::fatbin;
  if (auto elf = parse_elf_header(head)) {
    if (elf->machine == kMachineCuda) return FileFormat::cubin;
    return elf->type == 1 ? FileFormat::elf_relocatable : FileFormat::elf;
  }
  if (head.text().starts_with("!<arch>\n") || head.text().starts_with("!<thin>\n"))
    return FileFormat::ar;
  if (head.text().starts_with("MZ")) return FileFormat::pe;
  bool text = head.text().substr(0, 4096).find('\0') == std::string_view::npos;
  if (text && parse_ptx_head(head.text())) return FileFormat::ptx;
  return FileFormat::other;
}

// The section table stands at the end; the names usually right before it, half a megabyte of them
// in an object with tens of thousands of sections. Names that lie elsewhere: on_section_names.
void keep_section_table(ScanState& state) {
  constexpr uint64_t before = 4 << 20;
  const ElfHeader& elf = *state.elf;
  if (elf.section_offset == 0) return;
  uint64_t from = elf.section_offset > before ? elf.section_offset - before : 0;
  uint64_t table = elf.section_count ? section_table_size(elf) : uint64_t{8} << 20;
  state.reader.keep(from, static_cast<size_t>(elf.section_offset - from + table));
}

// Only the sections that CUDA's own tools use.
void scan_cuda_sections(ScanState& state) {
  auto table = state.reader.view(state.elf->section_offset, size_t{16} << 20);
  if (!table) return;
  std::vector<uint8_t> copy(table->data(), table->data() + table->size());
  auto sections = parse_sections(
      *state.elf, Bytes(copy.data(), copy.size()), [&](uint64_t offset, uint64_t size) {
        auto names = state.reader.view(
            offset, static_cast<size_t>(std::min<uint64_t>(size, size_t{16} << 20)));
        return names ? *names : Bytes{};
      });
  if (!sections) return;
  for (const ElfSection& section : *sections)
    if (section.has_bytes() && (section.name == ".nv_fatbin" || section.name == "__nv_relfatbin" ||
                                section.name == ".nvFatBinSegment"))
      scan_range(state, section.offset,
                 section.offset + std::min(section.size, kEnd - section.offset));
}

void scan_object(ScanState& state) {
  auto head = state.reader.view(0, kHead);
  if (!head) {
    state.binary.problems.push_back(head.error().what);
    return;
  }
  state.head.assign(head->data(), head->data() + head->size());
  Bytes start(state.head.data(), state.head.size());
  auto elf = parse_elf_header(start);
  if (elf && elf->machine != kMachineCuda) state.elf = *elf;
  if (state.elf) keep_section_table(state);
  if (state.elf && state.options.sections_only && state.reader.random_access()) {
    scan_cuda_sections(state);
  } else {
    scan_range(state, 0, kEnd);
  }
  if (state.elf) {
    attribute_elf(state);
  } else if (start.text().starts_with("MZ")) {
    attribute_pe(state);
  }
  read_chosen_kernels(state);
  std::sort(state.found.begin(), state.found.end(),
            [](const Container& a, const Container& b) { return a.offset < b.offset; });
  for (Container& container : state.found) {
    if (!container.problem.empty())
      state.binary.problems.push_back("damaged fat binary: " + container.problem);
    state.binary.containers.push_back(std::move(container));
  }
}

// A file that is itself a fat binary is what a program hands to cuModuleLoadData.
void mark_loaded_by_address(Binary& binary) {
  for (Container& container : binary.containers)
    if (container.role == Role::registered) container.role = Role::embedded;
}

void scan_archive(ByteStream& stream, Binary& binary, const InspectOptions& options) {
  auto problem = for_each_ar_member(stream, [&](const ArMember& member) {
    ForwardReader reader(stream, member.offset, member.size);
    ScanState state{reader, binary, options, member.name, {}, {}, {}, {}};
    scan_object(state);
  });
  if (!problem.empty()) binary.problems.push_back(problem);
}

} // namespace

Binary inspect(ByteStream& stream, std::string path, const InspectOptions& options) {
  Binary binary;
  binary.path = std::move(path);
  binary.size = stream.size().value_or(0);
  binary.toolkit = unknown<Version>("no machine code that names its compiler");
  auto head = stream.window(0, kHead);
  if (!head) {
    binary.problems.push_back(head.error().what);
    return binary;
  }
  binary.format = format_of(*head);
  if (binary.format == FileFormat::ar) {
    scan_archive(stream, binary, options);
    return binary;
  }
  ForwardReader reader(stream, 0, stream.size());
  ScanState state{reader, binary, options, {}, {}, {}, {}, {}};
  scan_object(state);
  if (binary.format == FileFormat::fatbin) mark_loaded_by_address(binary);
  return binary;
}

bool worth_inspecting(Bytes start) {
  FileFormat format = format_of(start);
  return format != FileFormat::other;
}

} // namespace gpuvet
