#include "judge/scan/words.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <memory>
#include <set>

namespace gpuvet {
namespace {

std::string loaded_word(const FileVerdict& verdict) {
  bool sass = verdict.native + verdict.same_major > 0;
  if (verdict.linked) return sass || verdict.jit ? "mixed" : "linked";
  if (verdict.jit) return sass ? "mixed" : "jit";
  return verdict.same_major ? "compat" : "native";
}

constexpr std::pair<std::string_view, std::string_view> kLegend[] = {
    {"native", "machine code for this GPU"},
    {"compat", "machine code for a lower minor of its major version, or its family"},
    {"jit", "compiled by the driver at first use"},
    {"linked", "linked at run time"},
    {"mixed", "some of it compiled or linked at run time"},
    {"may fail", "sources disagree"},
    {"partial", "some kernels have no code for it and fail if launched"},
    {"none", "nothing loads"},
    {"*", "beside variants for other GPUs, which programs choose themselves"},
};

} // namespace

Cell verdict_cell(const FileVerdict& verdict) {
  switch (verdict.coverage) {
  case Coverage::full:
    return {loaded_word(verdict), State::ok};
  case Coverage::variants:
    return {loaded_word(verdict) + "*", State::ok};
  case Coverage::partial:
    return {"partial", State::warning};
  case Coverage::may_fail:
    return {"may fail", State::warning};
  case Coverage::none:
    return {"none", State::fault};
  case Coverage::no_code:
    break;
  }
  return {"-", State::not_applicable};
}

std::string legend(const ScanResult& result) {
  std::set<std::string> used;
  for (const ScannedFile& file : result.files)
    for (const FileVerdict& verdict : file.verdicts) {
      std::string word = verdict_cell(verdict).text;
      if (word.ends_with('*')) {
        used.insert("*");
        word.pop_back();
      }
      used.insert(word);
    }
  std::string text;
  for (const auto& [word, meaning] : kLegend)
    if (used.count(std::string(word)))
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", word, meaning);
  return text;
}

std::string targets_cell(const Binary& binary, ImageKind kind, size_t width) {
  std::set<Target> targets;
  for (const Container& container : binary.containers)
    for (const Image& image : container.images)
      if (image.kind == kind) targets.insert(image.target);
  std::string text;
  size_t shown = 0;
  for (Target target : targets) {
    std::string word = sm_name(target).substr(3);
    bool last = shown + 1 == targets.size();
    if (!text.empty() && text.size() + 1 + word.size() + (last ? 0 : 4) > width)
      return text + fmt::format(" +{}", targets.size() - shown);
    text += (text.empty() ? "" : " ") + word;
    ++shown;
  }
  return text.empty() ? "-" : text;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

std::string readable_kernel(const std::string& mangled) {
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> plain(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  std::string name = status == 0 && plain ? plain.get() : mangled;
  constexpr size_t most = 60;
  if (name.size() > most) {
    size_t arguments = name.rfind('(');
    if (arguments != std::string::npos && arguments > 0 && arguments <= most)
      name = name.substr(0, arguments);
    if (name.size() > most) name = name.substr(0, most - 3) + "...";
  }
  return name;
}

std::string rebuild_fix(const LoadDevice& device, const LoadEnvironment& environment) {
  if (environment.force_ptx_jit)
    return fmt::format(
        "rebuild with PTX: -gencode arch=compute_{0},code=compute_{0} (CMake {0}-virtual)",
        device.sm, device.sm);
  return fmt::format("rebuild with {0} in the list: -gencode arch=compute_{1},code=sm_{1} "
                     "(CMake {1}, PyTorch {0})",
                     cc_name(device.sm), device.sm);
}

std::string error_text(int code, const std::vector<ErrorCode>& errors) {
  auto found = std::find_if(errors.begin(), errors.end(),
                            [&](const ErrorCode& error) { return error.code == code; });
  return found == errors.end() ? std::string() : found->text;
}

} // namespace gpuvet
