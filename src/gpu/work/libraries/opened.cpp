#include "gpu/work/libraries/opened.hpp"

#include <fmt/core.h>

namespace gpuvet {

void OpenedLibrary::stop_at(const char* call, int code) const {
  std::string error = fmt::format("{} error {}", name, code);
  if (error_text)
    if (const char* text = error_text(code)) error += fmt::format(": {}", text);
  throw StepStopped{false, fmt::format("{} gave {} ({})", call, error, library.file), call, error,
                    code};
}

void OpenedLibrary::lacks(const char* symbol) const {
  Bench::wrong(
      fmt::format("{} has no function {}: it is not {}, or of a version that gpuvet does not "
                  "know",
                  library.file, symbol, name));
}

OpenedLibrary open_for_test(StepTeller& tell, const std::string& name, const std::string& file) {
  if (file.empty()) Bench::unsupported(fmt::format("no {} was found in the installation", name));
  tell.word("library", file);
  tell.about_to_call("dlopen");
  const double began = tell.seconds();
  Result<OpenLibrary> opened = open_library({"", {}}, file);
  if (!opened)
    throw StepStopped{
        false, fmt::format("{} cannot be opened: {}", name, opened.error().what), "dlopen", {}, 0};
  OpenedLibrary made{tell, *opened, name, tell.seconds() - began, nullptr};
  return made;
}

std::string version_text(size_t version, size_t major_unit, size_t minor_unit) {
  return fmt::format("{}.{}.{}", version / major_unit, version % major_unit / minor_unit,
                     version % minor_unit);
}

} // namespace gpuvet
