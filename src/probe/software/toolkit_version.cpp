// What a toolkit's folder says about itself.
#include "formats/json_read.hpp"
#include "os/file_tree.hpp"
#include "probe/software/text.hpp"
#include "probe/software/toolkits.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

constexpr size_t kLargestFile = size_t{1} << 20;

// "12.8" of "12.8, V12.8.93": the leading numbers and dots.
std::string leading_version(std::string_view text) {
  text = trimmed(text);
  size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  std::string version(text.substr(0, end));
  while (version.ends_with('.'))
    version.pop_back();
  return version;
}

// 12080 -> "12.8", as cuda.h writes it.
std::string of_number(std::string_view text) {
  std::string digits(trimmed(text));
  digits.resize(std::min(digits.find_first_not_of("0123456789"), digits.size()));
  if (digits.size() < 4 || digits.size() > 6) return {};
  unsigned long number = std::stoul(digits);
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

std::string of_version_files(const Source& source, const std::string& folder) {
  if (auto text = source.read_file(folder + "/version.json", kLargestFile))
    if (auto json = parse_json(*text, folder + "/version.json"))
      if (const std::string& version = (*json)["cuda"]["version"].text; !version.empty())
        return version;
  std::string line = first_line(source, folder + "/version.txt"); // "CUDA Version 10.2.89"
  return leading_version(line.substr(std::min(line.find_first_of("0123456789"), line.size())));
}

std::string of_headers(const Source& source, const std::string& include) {
  auto text = source.text_after(include + "/cuda.h", "#define CUDA_VERSION ");
  return text ? of_number(*text) : std::string();
}

// "libcudart.so.12.8.90" is of CUDA 12.8.
std::string of_runtime(const Source& source, const std::string& lib) {
  for (const std::string& path : matching(source, lib, "libcudart.so.*.*")) {
    std::string version = base_name(path).substr(std::string_view("libcudart.so.").size());
    auto parts = parts_of(version, ".");
    if (parts.size() >= 2) return std::string(parts[0]) + "." + std::string(parts[1]);
  }
  return {};
}

std::vector<std::string> targets(const Source& source, const std::string& folder) {
  return matching(source, folder + "/targets", "*");
}

CompilerLimits limits_of(const Source& source, const std::string& folder) {
  std::vector<std::string> includes = {folder + "/include"};
  for (const std::string& target : targets(source, folder))
    includes.push_back(target + "/include");
  if (folder == "/usr/lib/cuda") includes.emplace_back("/usr/include"); // Debian
  for (const std::string& include : includes)
    for (const char* name : {"/crt/host_config.h", "/host_config.h"})
      if (auto text = source.read_file(include + name, kLargestFile)) {
        CompilerLimits limits = read_host_config(*text);
        if (!limits.gcc.empty() || !limits.clang.empty()) return limits;
      }
  return {};
}

std::string number_at(std::string_view text) {
  return std::string(text.substr(0, std::min(text.find_first_not_of("0123456789"), text.size())));
}

std::string number_after(std::string_view line, std::string_view words) {
  size_t at = line.find(words);
  return at == std::string_view::npos ? std::string() : number_at(line.substr(at + words.size()));
}

} // namespace

std::string compiler_version(const Source& source, const std::string& program) {
  auto text = source.text_after(program, "Cuda compilation tools, release ");
  return text ? leading_version(*text) : std::string();
}

// The limits stand in the #error lines: "gcc versions later than 14 are not supported",
// "clang version must be less than 20". CUDA 8 and older: "gcc 4.10 and up are not supported".
CompilerLimits read_host_config(std::string_view text) {
  CompilerLimits limits;
  each_line(text, [&](std::string_view line) {
    if (!line.starts_with("#error")) return;
    if (limits.gcc.empty()) limits.gcc = number_after(line, "gcc versions later than ");
    if (limits.clang.empty() && holds_word(line, "clang version must be less than ")) {
      std::string beyond = number_after(line, "clang version must be less than ");
      if (!beyond.empty() && beyond.size() < 4)
        limits.clang = std::to_string(std::stoul(beyond) - 1);
    }
  });
  return limits;
}

InstalledToolkit describe_toolkit(const Source& source, const std::string& folder) {
  InstalledToolkit toolkit;
  toolkit.folder = folder;
  toolkit.real_folder = folder;
  bool debian = folder == "/usr/lib/cuda" || folder == "/usr/lib/nvidia-cuda-toolkit";
  std::string nvcc = debian ? kDebianNvcc : folder + "/bin/nvcc";
  std::string ptxas = parent_folder(nvcc) + "/ptxas";
  toolkit.has_nvcc = exists(source, nvcc);
  toolkit.has_ptxas = exists(source, ptxas);
  toolkit.has_libdevice = exists(source, folder + "/nvvm/libdevice/libdevice.10.bc");
  toolkit.version = of_version_files(source, folder);
  if (toolkit.version.empty() && toolkit.has_nvcc) toolkit.version = compiler_version(source, nvcc);
  if (toolkit.version.empty() && toolkit.has_ptxas)
    toolkit.version = compiler_version(source, ptxas);
  if (toolkit.version.empty()) toolkit.version = of_headers(source, folder + "/include");
  std::vector<std::string> libs = {folder + "/lib64", folder + "/lib"};
  for (const std::string& target : targets(source, folder))
    libs.push_back(target + "/lib");
  for (const std::string& lib : libs)
    if (toolkit.version.empty()) toolkit.version = of_runtime(source, lib);
  CompilerLimits limits = limits_of(source, folder);
  toolkit.host_config_gcc = limits.gcc;
  toolkit.host_config_clang = limits.clang;
  return toolkit;
}

} // namespace gpuvet
