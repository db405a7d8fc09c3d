// A library of NVIDIA, loaded while running: which file the loader gave, and its functions by name.
// gpuvet is built without NVIDIA's headers and runs without their libraries.
#pragma once

#include "base/result.hpp"

#include <string>
#include <vector>

namespace gpuvet {

// A function that returns an error code; `function` is null when this version does not have it.
template <class... Parameters> struct LibraryCall {
  const char* name;
  int (*function)(Parameters...) = nullptr;
};

struct LibraryPlaces {
  const char* soname;
  std::vector<std::string>
      folders; // looked at when the loader finds none: programs do not search there
};

struct OpenLibrary {
  void* handle = nullptr;
  std::string file;           // with links resolved
  std::string loader_problem; // not empty: the loader's text; found in one of the folders
};

// `file`: this one and no other; empty: as a program would, then the folders. The error is the text
// of the loader.
Result<OpenLibrary> open_library(const LibraryPlaces& places, const std::string& file);

void* find_symbol(const OpenLibrary& library, const char* name); // null: it has none

template <class... Parameters>
void find_call(const OpenLibrary& library, LibraryCall<Parameters...>& call) {
  call.function = reinterpret_cast<int (*)(Parameters...)>(find_symbol(library, call.name));
}

} // namespace gpuvet
