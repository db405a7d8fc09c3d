// The part of an explanation that is about GPU memory: lines go to the grammar of gpuvet oom, whose
// answer leads where no other error stands before it.
#pragma once

#include "facts/facts.hpp"
#include "judge/explain/explain.hpp"
#include "judge/oom/oom.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

struct OomAnswer {
  OomEvidence evidence; // that the report points into
  OomReport report;
  uint64_t line = 0;      // of the first message
  bool disguised = false; // another error, which often is memory
};

class OomPart {
 public:
  // Errors: damaged fact tables.
  static Result<OomPart> make(const Facts& facts);
  ~OomPart();
  OomPart(OomPart&&) noexcept;
  OomPart& operator=(OomPart&&) noexcept;

  const std::vector<std::string>& literals() const;
  void line(std::string_view text, uint64_t number);
  std::unique_ptr<OomAnswer> end(); // null: no message tells of GPU memory that ran out

 private:
  struct State;
  explicit OomPart(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Is the lack of memory the root, and not something that was found before it?
bool leads(const OomAnswer& oom, const Explanation& explanation);

Confidence confidence_of(const OomAnswer& oom);

} // namespace gpuvet
