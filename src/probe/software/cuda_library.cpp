#include "probe/software/cuda_library.hpp"

#include "os/file_tree.hpp"
#include "probe/software/text.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace gpuvet {
namespace {

struct Kind {
  std::string_view stem, kind;
};
// A stem is followed by a part name or by the end. Longer stems first.
constexpr std::array<Kind, 10> kKinds = {{{"libnvJitLink", "nvjitlink"},
                                          {"libnvinfer", "tensorrt"},
                                          {"libcusolver", "cusolver"},
                                          {"libcusparse", "cusparse"},
                                          {"libcudart", "cudart"},
                                          {"libcublas", "cublas"},
                                          {"libcurand", "curand"},
                                          {"libcudnn", "cudnn"},
                                          {"libcufft", "cufft"},
                                          {"libnvrtc", "nvrtc"}}};

constexpr size_t kLargestHeader = size_t{4} << 20;

// auditwheel puts a hash behind the name of a library that it copies: "-d0da41ae".
bool is_hash(std::string_view part) {
  return part.size() == 9 && part.front() == '-' &&
         part.find_first_not_of("0123456789abcdef", 1) == std::string_view::npos;
}

std::optional<std::string> numbers_after_so(std::string_view name) {
  size_t so = name.find(".so");
  if (so == std::string_view::npos) return std::nullopt;
  std::string_view tail = name.substr(so + 3);
  if (tail.empty()) return std::string();
  if (tail.front() != '.' || tail.find_first_not_of("0123456789.") != std::string_view::npos)
    return std::nullopt;
  return std::string(tail.substr(1));
}

struct Found { // names of one real file in the folder
  std::string name;
  bool plain = false;
};

// "libcudnn.so.9" says more to a person than "libcudnn.so" and is what programs ask for.
bool better(const std::string& name, const std::string& than) {
  auto dots = [](const std::string& text) {
    return std::count(text.begin() + std::ptrdiff_t(text.find(".so")), text.end(), '.');
  };
  auto rank = [&](const std::string& text) {
    return dots(text) == 2 ? 0 : dots(text) == 1 ? 2 : 1;
  };
  return rank(name) < rank(than);
}

} // namespace

std::optional<LibraryName> parse_library_name(std::string_view file_name) {
  if (!file_name.starts_with("lib")) return std::nullopt;
  auto version = numbers_after_so(file_name);
  if (!version) return std::nullopt;
  std::string_view stem = file_name.substr(0, file_name.find(".so"));
  if (stem == "libnccl") return LibraryName{.kind = "nccl", .part = {}, .version = *version};
  for (const Kind& row : kKinds) {
    if (!stem.starts_with(row.stem)) continue;
    std::string_view part = stem.substr(row.stem.size());
    if (is_hash(part)) part = {};
    bool joined = part.empty() || part.front() == '_' || part.front() == '-' ||
                  (part.front() >= 'A' && part.front() <= 'Z') || part == "w"; // "Lt", "Mg"
    if (!joined || holds_word(part, "static") || holds_word(part, ".")) return std::nullopt;
    part.remove_prefix(!part.empty() && (part.front() == '_' || part.front() == '-') ? 1 : 0);
    return LibraryName{
        .kind = std::string(row.kind), .part = std::string(part), .version = *version};
  }
  return std::nullopt;
}

std::vector<CudaLibrary> list_cuda_libraries(const Source& source, const std::string& folder) {
  std::map<std::string, Found> files; // by real path
  auto names = source.list(folder);
  if (!names) return {};
  for (const std::string& name : *names) {
    auto parsed = parse_library_name(name);
    if (!parsed) continue;
    std::string path = join_path(folder, name);
    auto entry = source.entry(path);
    bool link = entry && entry->kind == EntryKind::link;
    auto real = link ? source.real_path(path) : Result<std::string>(std::move(path));
    if (!entry || !real) continue; // a dangling link
    Found& found = files[*real];
    if (found.name.empty() || better(name, found.name)) found.name = name;
    found.plain = found.plain || parsed->version.empty();
  }
  std::vector<CudaLibrary> libraries;
  for (const auto& [real, found] : files) {
    auto parsed = parse_library_name(found.name);
    auto real_name = parse_library_name(base_name(real));
    CudaLibrary library;
    library.kind = parsed->kind;
    library.part = parsed->part;
    library.plain_name = found.plain;
    library.file.path = join_path(folder, found.name);
    library.file.real_path = real;
    const std::string& version = real_name ? real_name->version : parsed->version;
    if (holds_word(version, ".")) library.file.version = version;
    library.file.stub = holds_word(real, "/stubs/");
    if (auto entry = source.entry(real)) library.file.size = entry->size;
    libraries.push_back(std::move(library));
  }
  return libraries;
}

std::string cudnn_header_version(const Source& source, const std::string& file) {
  auto text = source.read_file(file, kLargestHeader);
  if (!text) return {};
  std::array<std::string, 3> numbers;
  constexpr std::array<std::string_view, 3> kNames = {"CUDNN_MAJOR", "CUDNN_MINOR",
                                                      "CUDNN_PATCHLEVEL"};
  each_line(*text, [&](std::string_view line) {
    if (!line.starts_with("#define CUDNN_")) return;
    auto words = parts_of(line);
    for (size_t i = 0; i < kNames.size(); ++i)
      if (words.size() >= 3 && words[1] == kNames[i] && is_number(words[2]) && numbers[i].empty())
        numbers[i] = words[2];
  });
  if (numbers[0].empty() || numbers[1].empty()) return {};
  return numbers[0] + "." + numbers[1] + (numbers[2].empty() ? "" : "." + numbers[2]);
}

} // namespace gpuvet
