// A condition that confirms or excludes a cause: one short sentence in a facts file, parsed when
// the file is read, so that a misspelt word is an error with its line and not a condition that is
// never true.
//
//   field arch matches ^compute_$            a named group of the message, a regular expression
//   field runtime > field loaded             both sides as versions or numbers
//   field arch sm> fact nvcc.max_sm          both sides as compute capabilities
//   fact torch.cuda known                    a fact of the machine or of the text
//   (model/known_fact.hpp) line matches (?i)windows                 the whole line seen
//   cmake-compiler-unidentified         another signature, anywhere in the text check
//   fabric-manager-stopped fires       a check of the doctor, or ... is ok
//
// "not" in front turns it round. What is missing makes a condition neither true nor false.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace gpuvet {

enum class Comparison : uint8_t {
  equal, // of versions: in the parts that the right side has, so 8.9.2 = 8
  not_equal,
  less,
  at_most,
  greater,
  at_least,
  matches, // the right side is a regular expression (RE2), found anywhere
  known,   // there is such a value; has no right side
};

struct Operand {
  enum class Kind : uint8_t { text, field, fact, line };
  Kind kind = Kind::text;
  std::string name; // of the field or fact; the text itself
};

struct Condition {
  enum class Kind : uint8_t { compare, seen, check_fires, check_ok };
  Kind kind = Kind::compare;
  bool negated = false;
  bool capabilities = false; // compare compute capabilities: sm_90, compute_90a, 9.0
  Operand left, right;
  Comparison comparison = Comparison::equal;
  std::string id;   // of the signature or check
  std::string text; // as written
};

// Errors: a sentence with the word that is not understood.
Result<Condition> parse_condition(std::string_view text);

} // namespace gpuvet
