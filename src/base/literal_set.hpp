// Finds which of some hundred fixed strings occur in a text, at the speed of memory: what decides
// which lines of a large log are worth a regular expression.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

class LiteralSet {
 public:
  // Each literal has at least 4 bytes; shorter ones are never found. Letters count as written.
  explicit LiteralSet(const std::vector<std::string>& literals);
  ~LiteralSet();
  LiteralSet(LiteralSet&&) noexcept;
  LiteralSet& operator=(LiteralSet&&) noexcept;

  // Position at or after `from` where some literal begins; npos: none.
  size_t find(std::string_view text, size_t from = 0) const;

  // Indices of all literals that occur, ascending, each once.
  std::vector<uint32_t> all_in(std::string_view text) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace gpuvet
