#include "formats/gpu/cubin.hpp"
#include "formats/gpu/needle_search.hpp"
#include "formats/gpu/ptx.hpp"
#include "formats/gpu/scan_state.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

constexpr size_t kStep = size_t{1} << 20; // bytes searched at a time
constexpr uint64_t kNamesBack = 4096; // bytes of a section name table that may precede its own name
constexpr size_t kNameSample = size_t{512} << 10; // stored bytes kept of a stream for kernel names

std::string offset_text(uint64_t offset) {
  return fmt::format("offset {:#x}", offset);
}

void add_kernels(Container& container, std::vector<std::string> names) {
  container.kernels_read = true;
  for (std::string& name : names)
    container.kernels.push_back(std::move(name));
}

void unique_kernels(Container& container) {
  std::sort(container.kernels.begin(), container.kernels.end());
  container.kernels.erase(std::unique(container.kernels.begin(), container.kernels.end()),
                          container.kernels.end());
}

Result<std::vector<std::string>> image_kernels(const Image& image,
                                               const std::function<Result<Bytes>(size_t)>& read) {
  if (image.obfuscated()) return fail("the image is obfuscated");
  if (image.kind == ImageKind::cubin) return cubin_kernels(image, read);
  auto stored =
      read(static_cast<size_t>(std::min<uint64_t>(image.stored_size, ByteStream::kMaxWindow)));
  if (!stored) return tl::unexpected(stored.error());
  auto text = decompress(image.compression, *stored, image.raw_size);
  if (!text) return tl::unexpected(text.error());
  return ptx_kernels(Bytes(text->data(), text->size()).text());
}

bool toolkit_settled(const ScanState& state) {
  return state.binary.toolkit && !state.toolkit_of_bare;
}

void settle_toolkit(ScanState& state, const Version& toolkit, std::string source) {
  state.binary.toolkit = known(toolkit, std::move(source));
  state.toolkit_of_bare = false;
}

// What an uncompressed payload tells beyond the entry header.
void look_into_payload(ScanState& state, Image& image,
                       const std::function<Result<Bytes>(size_t)>& read) {
  if (image.compression != Compression::none || image.obfuscated() || image.damage != Damage::none)
    return;
  auto start = read(512);
  if (!start) return;
  if (image.kind == ImageKind::ptx) {
    if (auto head = parse_ptx_head(start->text())) {
      image.version_major = static_cast<uint16_t>(head->isa.major());
      image.version_minor = static_cast<uint16_t>(head->isa.minor());
      if (!head->target.suffix) image.payload_sm = head->target.sm;
    }
    return;
  }
  if (!parse_cubin_header(*start)) image.damage = Damage::payload; // ELF, but no cubin
  if (auto cubin = parse_cubin_header(*start)) {
    image.payload_sm = cubin->target.sm;
    image.relocatable = cubin->relocatable;
    if (cubin->extent <= image.payload_size) image.stored_size = image.raw_size = cubin->extent;
    if (cubin->toolkit && !toolkit_settled(state))
      settle_toolkit(state, *cubin->toolkit, "cubin header at " + offset_text(image.offset));
  }
}

// Toolkit from the notes of one compressed or new-layout cubin per file: enough to name a release.
void look_for_toolkit(ScanState& state, const Image& image,
                      const std::function<Result<Bytes>(size_t)>& read) {
  constexpr uint64_t most = uint64_t{4} << 20;
  constexpr int most_tries = 4;
  if (toolkit_settled(state) || state.toolkit_tries >= most_tries ||
      image.kind != ImageKind::cubin || image.obfuscated() || image.damage != Damage::none ||
      image.raw_size > most || image.stored_size > most)
    return;
  ++state.toolkit_tries;
  auto stored = read(static_cast<size_t>(image.stored_size));
  if (!stored) return;
  auto whole = decompress(image.compression, *stored, image.raw_size, most);
  if (!whole) return;
  Bytes bytes(whole->data(), whole->size());
  auto cubin = parse_cubin_header(bytes);
  if (!cubin) return;
  complete_from_notes(*cubin, bytes);
  if (cubin->toolkit)
    settle_toolkit(state, *cubin->toolkit,
                   "compiler note of the cubin at " + offset_text(image.offset));
}

bool is_code(const Image& image) {
  return image.kind == ImageKind::cubin || image.kind == ImageKind::ptx;
}

// Kernel names of one image stand for the container: images of a container are compiled from the
// same source. What is kept of a stream suffices for the usual layout of cubins.
struct NameSample {
  Image image;
  std::vector<uint8_t> bytes;
  bool taken = false;
};

void take_sample(NameSample& sample, const Image& image,
                 const std::function<Result<Bytes>(size_t)>& payload) {
  if (sample.taken || image.damage != Damage::none) return;
  sample.taken = true;
  sample.image = image;
  if (auto bytes = payload(kNameSample))
    sample.bytes.assign(bytes->data(), bytes->data() + bytes->size());
}

uint64_t on_container(ScanState& state, uint64_t at) {
  NameSample sample;
  bool sampling = state.options.kernels == KernelNames::chosen && !state.reader.random_access() &&
                  state.options.wants_kernels;
  auto visit = [&](Container& container, Image& image,
                   const std::function<Result<Bytes>(size_t)>& payload) {
    look_into_payload(state, image, payload);
    look_for_toolkit(state, image, payload);
    if (state.options.kernels == KernelNames::all && image.damage == Damage::none) {
      if (auto names = image_kernels(image, payload)) add_kernels(container, std::move(*names));
    } else if (sampling) {
      take_sample(sample, image, payload);
    }
  };
  ContainerRead read = read_container(state.reader, at, visit);
  if (!read.plausible) return at + 1;
  Container& container = read.container;
  if (sample.taken && state.options.wants_kernels(container)) {
    Bytes kept(sample.bytes.data(), sample.bytes.size());
    auto again = [&](size_t n) -> Result<Bytes> { return kept.clamp(0, n); };
    if (auto names = image_kernels(sample.image, again)) add_kernels(container, std::move(*names));
  }
  unique_kernels(container);
  container.member = state.member;
  state.found.push_back(std::move(container));
  return std::max(read.next, at + 1);
}

uint64_t on_elf(ScanState& state, uint64_t at) {
  auto start = state.reader.view(at, 64);
  auto header = start ? parse_cubin_header(*start) : std::nullopt;
  if (!header || header->extent > (uint64_t{1} << 30)) return at + 4;
  if (state.reader.size() && header->extent > *state.reader.size() - at) {
    if (at != 0) return at + 4;
    state.binary.problems.push_back("the cubin is cut off: its tables lie behind the file's end");
  }
  auto whole = state.reader.view(
      at, static_cast<size_t>(std::min<uint64_t>(header->extent, ByteStream::kMaxWindow)));
  if (!whole) return at + 4;
  complete_from_notes(*header, *whole);
  Container container;
  container.role = Role::bare;
  container.offset = state.reader.base() + at;
  container.size = header->extent;
  container.header_size = 0;
  container.member = state.member;
  Image image;
  image.kind = ImageKind::cubin;
  image.target = header->target;
  image.payload_sm = header->target.sm;
  image.relocatable = header->relocatable;
  image.offset = container.offset;
  image.payload_size = image.stored_size = image.raw_size = header->extent;
  container.images.push_back(image);
  if (header->toolkit && !state.binary.toolkit) {
    state.binary.toolkit = known(*header->toolkit, "cubin at " + offset_text(image.offset));
    state.toolkit_of_bare = true;
  }
  bool stream = !state.reader.random_access();
  if (state.options.kernels == KernelNames::all ||
      (state.options.kernels == KernelNames::chosen && stream && state.options.wants_kernels &&
       state.options.wants_kernels(container))) {
    auto again = [&](size_t n) { return state.reader.view(at, n); };
    if (auto names = cubin_kernels(image, again)) add_kernels(container, std::move(*names));
    unique_kernels(container);
  }
  state.found.push_back(std::move(container));
  return at + std::max<uint64_t>(header->extent, 64);
}

uint64_t on_ptx_text(ScanState& state, uint64_t at) {
  auto start = state.reader.view(at, 4096);
  auto head = start ? parse_ptx_head(start->text()) : std::nullopt;
  if (!head) return at + 9;
  constexpr size_t most = size_t{32} << 20;
  size_t length = 0;
  Bytes text;
  for (size_t want = size_t{64} << 10; want <= most; want *= 4) {
    auto piece = state.reader.view(at, want);
    if (!piece) return at + 9;
    text = *piece;
    length = std::min(text.text().find('\0'), text.size());
    if (length < text.size() || text.size() < want) break;
  }
  Container container;
  container.role = Role::bare;
  container.offset = state.reader.base() + at;
  container.size = length;
  container.header_size = 0;
  container.member = state.member;
  Image image;
  image.kind = ImageKind::ptx;
  image.target = head->target;
  image.version_major = static_cast<uint16_t>(head->isa.major());
  image.version_minor = static_cast<uint16_t>(head->isa.minor());
  image.offset = container.offset;
  image.payload_size = image.stored_size = image.raw_size = length;
  container.images.push_back(image);
  if (state.options.kernels != KernelNames::none) {
    add_kernels(container, ptx_kernels(text.clamp(0, length).text()));
    unique_kernels(container);
  }
  state.found.push_back(std::move(container));
  return at + length;
}

uint64_t on_wrapper(ScanState& state, uint64_t at) {
  auto record = state.reader.view(at, 24);
  if (record && record->size() == 24 && at % 8 == 0)
    state.wrappers.push_back({at, *record->read<uint32_t>(4), *record->read<uint64_t>(8)});
  return at + 8;
}

uint64_t on_compiler(ScanState& state, uint64_t at, const char* name, const char* symbol) {
  for (const RuntimeCompiler& known : state.binary.runtime_compilers)
    if (known.name == name) return at + 4;
  state.binary.runtime_compilers.push_back(
      {name, fmt::format("the name {} at {}", symbol, offset_text(state.reader.base() + at - 1))});
  return at + 4;
}

uint64_t on_offload(ScanState& state, uint64_t at) {
  auto start = state.reader.view(at, 32);
  if (start && start->read<uint32_t>(4) == 1u && at % 8 == 0)
    state.binary.notes.push_back(
        fmt::format("clang offload bundle at {}: listed, its images are not read",
                    offset_text(state.reader.base() + at)));
  return at + 4;
}

// The section names of a file that was not stripped lie before its symbol names, megabytes away
// from the section table that tells where. The names of the file itself are among the last that
// pass.
uint64_t on_section_names(ScanState& state, uint64_t at) {
  constexpr size_t before = kNamesBack, kept = size_t{64} << 10, pieces = 4;
  if (state.reader.random_access()) return at + 9;
  uint64_t from = std::max(state.window_at, at > before ? at - before : 0);
  auto piece = state.reader.view(from, kept);
  if (!piece) return at + 9;
  if (state.name_pieces.size() == pieces) state.name_pieces.erase(state.name_pieces.begin());
  state.name_pieces.push_back({from, {piece->data(), piece->data() + piece->size()}});
  return at + 9;
}

uint64_t on_hit(ScanState& state, Needle needle, uint64_t at) {
  switch (needle) {
  case Needle::container:
    return on_container(state, at);
  case Needle::elf:
    return on_elf(state, at);
  case Needle::ptx_text:
    return on_ptx_text(state, at);
  case Needle::wrapper:
    return on_wrapper(state, at);
  case Needle::offload:
    return on_offload(state, at);
  case Needle::nvrtc:
    return on_compiler(state, at, "NVRTC", "nvrtcCompileProgram");
  case Needle::nvjitlink:
    return on_compiler(state, at, "nvJitLink", "nvJitLinkCreate");
  case Needle::nvvm:
    return on_compiler(state, at, "libNVVM", "nvvmCompileProgram");
  case Needle::ptx_compiler:
    return on_compiler(state, at, "the PTX compiler library", "nvPTXCompilerCompile");
  case Needle::nvptx_llvm:
    return on_compiler(state, at, "LLVM's PTX back end", "nvptx64-nvidia-cuda");
  case Needle::section_names:
    return on_section_names(state, at);
  }
  return at + 4;
}

} // namespace

void read_chosen_kernels(ScanState& state) {
  if (state.options.kernels != KernelNames::chosen || !state.options.choose_for_kernels ||
      !state.reader.random_access())
    return;
  for (size_t index : state.options.choose_for_kernels(state.found)) {
    Container& container = state.found[index];
    auto image =
        std::find_if(container.images.begin(), container.images.end(),
                     [](const Image& one) { return is_code(one) && one.damage == Damage::none; });
    if (image == container.images.end() || container.kernels_read) continue;
    uint64_t payload = image->offset - state.reader.base() + image->header_size;
    auto read = [&](size_t n) { return state.reader.view(payload, n); };
    if (auto names = image_kernels(*image, read)) add_kernels(container, std::move(*names));
    unique_kernels(container);
  }
}

void scan_range(ScanState& state, uint64_t from, uint64_t to) {
  state.window_at = from;
  for (uint64_t at = from; at < to;) {
    size_t want = static_cast<size_t>(std::min<uint64_t>(to - at, kStep + kNeedleReach));
    // Windows of a stream begin a little earlier, so that on_section_names can look back.
    size_t back = 0;
    if (!state.reader.random_access())
      back = static_cast<size_t>(std::min(at - state.window_at, kNamesBack));
    state.window_at = at - back;
    auto window = state.reader.view(at - back, want + back);
    if (!window) {
      state.binary.problems.push_back(window.error().what + " (" + offset_text(at) + ")");
      return;
    }
    if (window->empty()) return;
    if (window->size() <= back) return;
    bool last = window->size() - back < kStep + kNeedleReach;
    NeedleHit hit;
    if (find_needle(*window, back, last, hit)) {
      uint64_t found = at - back + hit.offset;
      at = on_hit(state, hit.needle, found);
      // What was skipped may be gone from a stream.
      if (hit.needle != Needle::section_names) state.window_at = at;
    } else {
      if (last) return;
      at += window->size() - back - kNeedleReach;
    }
  }
}

} // namespace gpuvet
