#include "formats/object/elf_symbols.hpp"

#include "formats/object/elf.hpp"

#include <algorithm>
#include <array>

namespace gpuvet {
namespace {

constexpr uint32_t kDynamicSymbols = 11; // SHT_DYNSYM
constexpr uint64_t kMaxSymbols = uint64_t{1} << 22;
constexpr size_t kMostKept = 200'000;
constexpr size_t kLongestName = 256; // of a C function; longer ones are mangled

constexpr std::array<std::string_view, 20> kPrefixes = {
    "cuda",   "__cuda", "cudnn", "cublas",    "cusparse",    "cusolver",       "cufft",
    "curand", "nccl",   "nvrtc", "nvJitLink", "__nvJitLink", "nvPTXCompiler",  "nvml",
    "cupti",  "nvjpeg", "cudss", "cutensor",  "nvshmem",     "__nvPTXCompiler"};

enum class Binding : uint8_t { global = 1, weak = 2, unique = 10 };

struct Symbol {
  uint32_t name = 0;
  uint8_t info = 0, other = 0;
  uint16_t section = 0;
};

Symbol symbol_at(Bytes table, uint64_t at, bool is64) {
  Symbol symbol;
  symbol.name = table.read<uint32_t>(at).value_or(0);
  symbol.info = table.read<uint8_t>(at + (is64 ? 4 : 12)).value_or(0);
  symbol.other = table.read<uint8_t>(at + (is64 ? 5 : 13)).value_or(0);
  symbol.section = table.read<uint16_t>(at + (is64 ? 6 : 14)).value_or(0);
  return symbol;
}

void keep(const Symbol& symbol, std::string_view name, GpuSymbols& kept) {
  auto binding = static_cast<Binding>(symbol.info >> 4);
  bool seen_outside = (symbol.other & 3) == 0 || (symbol.other & 3) == 3; // default, protected
  if (symbol.section == 0) {
    if (binding == Binding::global) kept.imports.emplace_back(name);
  } else if (seen_outside && (binding == Binding::global || binding == Binding::weak ||
                              binding == Binding::unique)) {
    kept.exports.emplace_back(name);
  }
}

void sort_unique(std::vector<std::string>& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

} // namespace

bool is_gpu_symbol(std::string_view name) {
  if (name.size() > 2 && name.starts_with("cu") && name[2] >= 'A' && name[2] <= 'Z') return true;
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

namespace {

struct SymbolTable {
  Bytes symbols, names;
  bool is64 = true;
  uint64_t count = 0;
};

Result<SymbolTable> dynamic_symbols(Bytes file) {
  auto header = parse_elf_header(file);
  if (!header) return tl::unexpected(header.error());
  auto sections = parse_sections(*header, file);
  if (!sections) return tl::unexpected(sections.error());
  auto table = std::find_if(sections->begin(), sections->end(), [](const ElfSection& section) {
    return section.type == kDynamicSymbols;
  });
  if (table == sections->end() || table->link >= sections->size())
    return fail("there is no table of dynamic symbols");
  auto symbols = file.slice(table->offset, table->size);
  const ElfSection& names_section = (*sections)[table->link];
  auto names = file.slice(names_section.offset, names_section.size);
  if (!symbols || !names) return fail("the table of dynamic symbols lies outside the file");
  const uint64_t entry = header->is64 ? 24 : 16;
  return SymbolTable{*symbols, *names, header->is64,
                     std::min(symbols->size() / entry, kMaxSymbols)};
}

Symbol symbol_of(const SymbolTable& table, uint64_t index) {
  return symbol_at(table.symbols, index * (table.is64 ? 24 : 16), table.is64);
}

} // namespace

Result<GpuSymbols> parse_gpu_symbols(Bytes file) {
  auto table = dynamic_symbols(file);
  if (!table) return tl::unexpected(table.error());
  GpuSymbols kept;
  for (uint64_t i = 0; i < table->count && kept.imports.size() + kept.exports.size() < kMostKept;
       ++i) {
    Symbol symbol = symbol_of(*table, i);
    auto name = table->names.clamp(symbol.name, kLongestName).c_string(0);
    if (name && is_gpu_symbol(*name)) keep(symbol, *name, kept);
  }
  sort_unique(kept.imports);
  sort_unique(kept.exports);
  return kept;
}

Result<bool> imports(Bytes file, std::string_view name) {
  auto table = dynamic_symbols(file);
  if (!table) return tl::unexpected(table.error());
  for (uint64_t i = 0; i < table->count; ++i) {
    const Symbol symbol = symbol_of(*table, i);
    if (symbol.section != 0) continue;
    const Bytes text = table->names.clamp(symbol.name, name.size() + 1);
    if (auto its = text.c_string(0); its && *its == name) return true;
  }
  return false;
}

} // namespace gpuvet
