#include "gpu/nvml_api.hpp"

#include "gpu/text.hpp"

#include <fmt/core.h>

namespace gpuvet {
namespace {

struct CodeText {
  int code;
  const char* text;
};

// For libraries that cannot say it: the words of nvmlErrorString.
constexpr CodeText kTexts[] = {
    {1, "Uninitialized"},
    {2, "Invalid Argument"},
    {3, "Not Supported"},
    {4, "Insufficient Permissions"},
    {9, "Driver Not Loaded"},
    {12, "Shared Library Not Found"},
    {13, "Function Not Found"},
    {14, "Corrupted infoROM"},
    {15, "GPU is lost"},
    {16, "GPU requires reset"},
    {17, "Operating System call failed"},
    {18, "Driver/library version mismatch"},
    {999, "Unknown Error"},
};

} // namespace

NvmlApi find_nvml(const OpenLibrary& library) {
  NvmlApi api;
#define GPUVET_FIND(name, ...) find_call(library, api.name);
  GPUVET_NVML_CALLS(GPUVET_FIND)
#undef GPUVET_FIND
  api.nvmlErrorString =
      reinterpret_cast<const char* (*)(int)>(find_symbol(library, "nvmlErrorString"));
  return api;
}

std::string nvml_error_text(const NvmlApi& api, int code) {
  if (api.nvmlErrorString)
    if (const char* text = api.nvmlErrorString(code)) return bounded_text(text, 256);
  for (const CodeText& row : kTexts)
    if (row.code == code) return row.text;
  return fmt::format("NVML error {}", code);
}

} // namespace gpuvet
