// What the name of an undefined symbol tells: the function it stands for, the library that should
// have it, and which C++ ABI the file that asks for it was built with.
//
// libstdc++ has two layouts of std::string: the old one is mangled "Ss", the new one (since GCC 5)
// "NSt7__cxx1112basic_string..." (GCC manual, Dual ABI). A file that asks for one kind finds
// nothing in a library that was built with the other.
#pragma once

#include <string>
#include <string_view>

namespace gpuvet {

struct SymbolFacts {
  std::string plain;    // demangled; the name itself where it is no C++ name or was cut short
  std::string abi;      // "old", "new"; empty: no std::string in it
  std::string owner;    // library that should have it: "PyTorch", "cublasLt"; empty: not known
  std::string optional; // "c10" or "std", where an optional is part of the name
};

SymbolFacts symbol_facts(std::string_view symbol);

} // namespace gpuvet
