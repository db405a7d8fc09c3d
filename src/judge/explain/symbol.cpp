#include "judge/explain/symbol.hpp"

#include "judge/ldd/cuda_names.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace gpuvet {
namespace {

// A name of n back references can stand for 3^(n/3) copies of its parts: these limits keep what the
// demangler makes of a hostile name below ten megabytes. PyTorch's longest operators have 20.
constexpr size_t kLongestName = 1024;
constexpr size_t kMostReferences = 24;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// What stands in a mangled name, outside of identifiers and literals.
struct Scan {
  bool mangled = false;
  bool old_string = false, new_string = false;
  size_t references = 0;
  std::string first;              // identifier: the outermost namespace or the function
  bool c10 = false, std_ = false; // which optional
};

// The end of "S_", "S0_", "T1_" from its letter on; 0: it is none.
size_t reference_end(std::string_view name, size_t at) {
  size_t end = at + 1;
  while (end < name.size() && (is_digit(name[end]) || (name[end] >= 'A' && name[end] <= 'Z')))
    ++end;
  return end < name.size() && name[end] == '_' ? end + 1 : 0;
}

// An identifier "7Storage" at `at`; moves behind it. Cut short: what is left.
std::string_view take_identifier(std::string_view name, size_t& at) {
  size_t length = 0;
  while (at < name.size() && is_digit(name[at]) && length < kLongestName)
    length = length * 10 + static_cast<size_t>(name[at++] - '0');
  std::string_view identifier = name.substr(at, length);
  at += identifier.size();
  return identifier;
}

void note_identifier(std::string_view identifier, bool after_std, Scan& scan) {
  if (scan.first.empty()) scan.first = after_std ? "std" : std::string(identifier);
  if (identifier == "__cxx11" || identifier == "cxx11") scan.new_string = true;
  if (identifier == "optional") (after_std ? scan.std_ : scan.c10) = true;
}

Scan scan_name(std::string_view name) {
  Scan scan;
  if (!name.starts_with("_Z")) return scan;
  scan.mangled = true;
  bool after_std = false;
  for (size_t at = 2; at < name.size();) {
    char c = name[at];
    if (is_digit(c)) {
      note_identifier(take_identifier(name, at), after_std, scan);
      after_std = false;
      continue;
    }
    after_std = name.substr(at, 2) == "St";
    if (after_std) {
      at += 2;
    } else if (name.substr(at, 2) == "Ss") {
      scan.old_string = true;
      at += 2;
    } else if (size_t end = c == 'S' || c == 'T' ? reference_end(name, at) : 0; end != 0) {
      ++scan.references;
      at = end;
    } else if (c == 'L' && at + 2 < name.size() && name[at + 1] >= 'a' && name[at + 1] <= 'z') {
      at = std::min(name.find('E', at), name.size()); // a literal: "Lj128E"
    } else if (c == 'A' && at + 1 < name.size() && is_digit(name[at + 1])) {
      at = std::min(name.find('_', at), name.size()); // an array: "A10_c"
    } else {
      ++at;
    }
  }
  return scan;
}

std::string demangled(std::string_view name, const Scan& scan) {
  if (!scan.mangled || name.size() > kLongestName || scan.references > kMostReferences) return {};
  int status = 0;
  const std::string text(name);
  std::unique_ptr<char, decltype(&std::free)> plain(
      abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && plain ? std::string(plain.get()) : std::string();
}

// By the outermost namespace of a C++ name.
std::string_view owner_of_namespace(std::string_view name) {
  struct Row {
    std::string_view name, owner;
  };
  constexpr std::array<Row, 13> rows = {{{"c10", "PyTorch"},
                                         {"at", "PyTorch"},
                                         {"torch", "PyTorch"},
                                         {"caffe2", "PyTorch"},
                                         {"THPVariable", "PyTorch"},
                                         {"tensorflow", "TensorFlow"},
                                         {"tsl", "TensorFlow"},
                                         {"xla", "XLA"},
                                         {"onnxruntime", "ONNX Runtime"},
                                         {"Ort", "ONNX Runtime"},
                                         {"nvinfer1", "TensorRT"},
                                         {"google", "protobuf"},
                                         {"std", "libstdc++"}}};
  for (const Row& row : rows)
    if (row.name == name) return row.owner;
  if (name.starts_with("THP")) return "PyTorch";
  return {};
}

} // namespace

SymbolFacts symbol_facts(std::string_view symbol) {
  symbol = symbol.substr(0, symbol.find('@')); // "name@VERSION"
  Scan scan = scan_name(symbol);
  SymbolFacts facts;
  facts.plain = demangled(symbol, scan);
  if (facts.plain.empty()) facts.plain = std::string(symbol);
  if (scan.new_string)
    facts.abi = "new";
  else if (scan.old_string)
    facts.abi = "old";
  if (scan.c10 || scan.std_) facts.optional = scan.std_ ? "std" : "c10";
  facts.owner = scan.mangled ? owner_of_namespace(scan.first) : library_of_symbol(symbol);
  if (!scan.mangled && facts.owner.empty()) facts.owner = owner_of_namespace(symbol);
  return facts;
}

} // namespace gpuvet
