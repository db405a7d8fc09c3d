// A library of the installation under test, opened by its absolute path, and calls of it. What it
// returns other than success ends the test, as with the driver's calls.
#pragma once

#include "gpu/work/bench.hpp"

#include <string>

namespace gpuvet {

struct OpenedLibrary {
  StepTeller& tell;
  OpenLibrary library;
  std::string name; // "cuBLASLt", for sentences
  double load_s = 0;

  template <class... Parameters, class... Arguments>
  void call(const LibraryCall<Parameters...>& function, Arguments... arguments) const {
    tell.about_to_call(function.name);
    quietly(function, arguments...);
  }
  template <class... Parameters, class... Arguments>
  void quietly(const LibraryCall<Parameters...>& function, Arguments... arguments) const {
    if (int code = function.function(arguments...)) stop_at(function.name, code);
  }
  [[noreturn]] void stop_at(const char* call, int code) const;

  template <class... Parameters> void require(LibraryCall<Parameters...>& function) const {
    find_call(library, function);
    if (!function.function) lacks(function.name);
  }
  // For functions that return no code.
  template <class Function> void require(const char* symbol, Function& function) const {
    function = reinterpret_cast<Function>(find_symbol(library, symbol));
    if (!function) lacks(symbol);
  }
  [[noreturn]] void lacks(const char* symbol) const;

  // What a code means, where the library says so.
  const char* (*error_text)(int) = nullptr;
};

// Tells the word "library". Throws StepStopped: unsupported when the installation has none (`file`
// is empty), failed when it cannot be opened.
OpenedLibrary open_for_test(StepTeller& tell, const std::string& name, const std::string& file);

// "13.1.0" of 130100.
std::string version_text(size_t version, size_t major_unit, size_t minor_unit);

} // namespace gpuvet
