// Lines of a log to evidence about GPU memory: the one parser of all messages. Takes a log of any
// length, in bounded memory; the lines are those that LogText gives, or any others.
#pragma once

#include "judge/oom/grammar.hpp"
#include "model/oom.hpp"

#include <memory>

namespace gpuvet {

class OomReader {
 public:
  explicit OomReader(const OomGrammar& grammar); // which must outlive the reader
  ~OomReader();
  OomReader(OomReader&&) noexcept;
  OomReader& operator=(OomReader&&) noexcept;

  // `number`: of the line in the input, from 1; it may not fall. `has_literal`: one of
  // oom_literals() is in it, as LogText tells; without, it can only go on with what an earlier line
  // began.
  void take(std::string_view line, uint64_t number, bool has_literal = true);
  OomEvidence end();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace gpuvet
