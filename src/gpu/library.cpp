#include "gpu/library.hpp"

#include <climits>

#include <cstdlib>
#include <dlfcn.h>
#include <link.h>
#include <memory>
#include <unistd.h>

namespace gpuvet {
namespace {

// Calls are bound when they are made, so that a library whose own symbols do not all resolve still
// answers the rest.
constexpr int kFlags = RTLD_LAZY | RTLD_LOCAL;

std::string loader_text() {
  const char* text = dlerror();
  return text ? text : "the loader gave no reason";
}

std::string file_of(void* handle) {
  const link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map || !map->l_name) return {};
  std::unique_ptr<char, decltype(&std::free)> real(realpath(map->l_name, nullptr), &std::free);
  return real ? real.get() : map->l_name;
}

OpenLibrary opened(void* handle, std::string loader_problem = {}) {
  return {handle, file_of(handle), std::move(loader_problem)};
}

// Is the library itself nowhere? A file that is there but broken, or lacks one of its own
// libraries, is what programs get, and no other may stand in for it.
bool is_absent(const std::string& text, const std::string& soname) {
  return text.starts_with(soname + ": cannot open shared object file: No such file");
}

} // namespace

Result<OpenLibrary> open_library(const LibraryPlaces& places, const std::string& file) {
  const std::string& name = file.empty() ? std::string(places.soname) : file;
  if (void* handle = dlopen(name.c_str(), kFlags)) return opened(handle);
  std::string problem = loader_text();
  if (!file.empty() || !is_absent(problem, places.soname)) return fail(problem, name);
  for (const std::string& folder : places.folders) {
    std::string candidate = folder + "/" + places.soname;
    if (access(candidate.c_str(), R_OK) != 0) continue;
    if (void* handle = dlopen(candidate.c_str(), kFlags)) return opened(handle, problem);
    problem += "; " + loader_text();
  }
  return fail(problem, name);
}

void* find_symbol(const OpenLibrary& library, const char* name) {
  return dlsym(library.handle, name);
}

} // namespace gpuvet
