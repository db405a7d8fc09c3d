// Words that name a CUDA toolkit or a CMake: image tags, packages, installers.
#include "base/text.hpp"
#include "formats/buildfile/collect.hpp"

#include <array>
#include <cctype>

namespace gpuvet {
namespace {

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// "12.4.1" at the start of the text; at least two parts.
std::string_view version_at(std::string_view text) {
  size_t end = 0, dots = 0;
  while (end < text.size() && (is_digit(text[end]) || (text[end] == '.' && end + 1 < text.size() &&
                                                       is_digit(text[end + 1])))) {
    if (text[end] == '.') ++dots;
    ++end;
  }
  return dots > 0 ? text.substr(0, end) : std::string_view();
}

// "12-4" as a whole; gives "12.4".
std::string dashed_version(std::string_view text) {
  size_t dash = text.find('-');
  if (dash == text.npos || dash == 0 || dash + 1 == text.size()) return {};
  if (!decimal_number(text.substr(0, dash)) || !decimal_number(text.substr(dash + 1))) return {};
  return std::string(text.substr(0, dash)) + "." + std::string(text.substr(dash + 1));
}

// A package and its version: "cuda-version=12.4.*" of conda, "cmake==3.22.1" of pip.
struct Pin {
  std::string_view version;
  bool minimum = false;
};
std::optional<Pin> pin_of(std::string_view text, std::string_view package) {
  if (size_t channel = text.find("::"); channel != text.npos) text.remove_prefix(channel + 2);
  if (!text.starts_with(package)) return std::nullopt;
  text = trimmed(text.substr(package.size()));
  if (text.find_first_of(",<!|") != text.npos) return std::nullopt; // a range: not known
  bool minimum = text.starts_with(">=") || text.starts_with("~=");
  if (minimum || text.starts_with("=="))
    text.remove_prefix(2);
  else if (text.starts_with("="))
    text.remove_prefix(1);
  else if (!text.empty() && !is_digit(text[0]))
    return std::nullopt;
  std::string_view version = version_at(trimmed(text));
  if (version.empty()) return std::nullopt;
  return Pin{version, minimum};
}

constexpr std::array<std::string_view, 8> kCudaPackages = {
    "cuda-version",          "cudatoolkit",           "cuda-toolkit",          "cuda-nvcc",
    "nvidia-cuda-nvcc-cu11", "nvidia-cuda-nvcc-cu12", "nvidia-cuda-nvcc-cu13", "nvidia-cuda-nvcc"};

constexpr std::array<std::string_view, 7> kDebianPackages = {"cuda-toolkit-",
                                                             "cuda-nvcc-",
                                                             "cuda-compiler-",
                                                             "cuda-minimal-build-",
                                                             "cuda-command-line-tools-",
                                                             "cuda-libraries-dev-",
                                                             "cuda-"};

} // namespace

void Collector::versions_in(const MappedText& word) {
  std::string_view text = word.text;
  if (text.size() < 6 || text.size() > 400) return;
  if (text.find("cuda") != text.npos) {
    if (size_t at = text.find("nvidia/cuda:"); at != text.npos)
      return mention(file.toolkits, version_at(text.substr(at + 12)), word);
    if (size_t at = text.find("nvidia/label/cuda-"); at != text.npos)
      return mention(file.toolkits, version_at(text.substr(at + 18)), word);
    if (size_t at = text.rfind("cuda_"); at != text.npos && text.ends_with(".run"))
      return mention(file.toolkits, version_at(text.substr(at + 5)), word);
    if (text.starts_with("cuda/")) return mention(file.toolkits, version_at(text.substr(5)), word);
    for (std::string_view package : kDebianPackages)
      if (text.starts_with(package)) {
        std::string_view rest = text.substr(package.size());
        std::string version = dashed_version(rest.substr(0, rest.find_first_of("=*")));
        if (!version.empty()) return mention(file.toolkits, version, word);
      }
    for (std::string_view package : kCudaPackages)
      if (auto pin = pin_of(text, package))
        return mention(file.toolkits, pin->version, word, pin->minimum);
  }
  if (text.starts_with("cmake")) {
    if (auto pin = pin_of(text, "cmake")) mention(file.cmakes, pin->version, word, pin->minimum);
    return;
  }
  if (size_t at = text.rfind("/cmake-"); at != text.npos && text.find("linux", at) != text.npos)
    mention(file.cmakes, version_at(text.substr(at + 7)), word);
}

// The base of a build. A tag in a variable of the file is put in.
void Collector::image(const MappedText& name) {
  std::string shown = name.text;
  MappedText whole = name;
  for (int round = 0; round < 4; ++round) {
    size_t dollar = whole.text.find('$');
    if (dollar == std::string::npos) break;
    size_t end = whole.text.find_first_of("}-", dollar);
    if (end == std::string::npos) end = whole.text.size();
    bool braces = whole.text.compare(dollar, 2, "${") == 0;
    std::string_view text = whole.text;
    std::string_view key = text.substr(dollar + (braces ? 2 : 1), end - dollar - (braces ? 2 : 1));
    const std::vector<Definition>* values = defined(key);
    if (!values || values->size() != 1) break;
    if (braces && end < text.size()) ++end;
    MappedText made = whole.part(0, dollar);
    const std::string& value = values->front().value.text.text;
    made.text += value;
    made.from.insert(made.from.end(), value.size(), static_cast<uint32_t>(whole.offset(dollar)));
    MappedText rest = whole.part(end, text.size());
    made.text += rest.text;
    made.from.insert(made.from.end(), rest.from.begin(), rest.from.end());
    whole = std::move(made);
  }
  file.images.push_back(whole.text);
  size_t before = file.toolkits.size();
  versions_in(whole);
  if (file.toolkits.size() > before)
    file.toolkits.back().at = lines_.place(name.offset(0), name.offset(name.text.size()));
}

} // namespace gpuvet
