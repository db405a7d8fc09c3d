// Machine facts in the text that is being explained.
#pragma once

#include "facts/facts.hpp"
#include "model/known_fact.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

class TextFacts {
 public:
  explicit TextFacts(const Facts&) {}
  std::vector<std::string> literals() const { return {}; }
  void line(std::string_view, uint64_t) {}
  std::vector<KnownFact> facts() const { return {}; }
};

} // namespace gpuvet
