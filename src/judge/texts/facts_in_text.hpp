// Machine facts out of what people paste: reports of collect_env and its relatives, tables of
// nvidia-smi, lists of packages, answers of uname, nvcc, lspci, dmesg, and version numbers that
// stand in messages. Line by line, in constant memory, for text of any length.
//
// A fact is what some program printed about the machine, or what a person said about it; a version
// that is only asked for ("Collecting torch>=2.0") is none. What a later line contradicts is kept:
// there are then several facts of one name, each with its line.
#pragma once

#include "facts/texts/texts.hpp"
#include "model/known_fact.hpp"
#include "model/machine.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

// Literals of the lines that matter wherever they stand in a log; for the prefilter of LogText.
std::vector<std::string> fact_literals(const TextTables& tables);

class FactsInText {
 public:
  explicit FactsInText(const TextTables& tables); // which must outlive this
  ~FactsInText();
  FactsInText(FactsInText&&) noexcept;
  FactsInText& operator=(FactsInText&&) noexcept;

  // A plain line (without colours, time stamps, prefixes) and its number. Of a long log those
  // beyond its head may be left out that hold none of fact_literals().
  void line(std::string_view text, uint64_t number);

  // Literals that stood in 20,000 lines which told nothing new; such lines are left unread, so that
  // a log which has them in every line stays fast. `changes` tells how often the list became
  // longer. `look_again` empties it: for the end of a log.
  std::vector<std::string> idle_literals() const;
  uint64_t changes() const;
  void look_again();

  // So far, in the order of the lines; each value of a name once, at most kMostFacts. `where` is
  // "line 12"; "line 12 (said)" where a person wrote it.
  const std::vector<KnownFact>& facts() const;

  // The same as the doctor's machine, as far as its fields allow; what the text does not tell is
  // unknown ("not in the text"). Only what fires on it counts: an "ok" may be for want of
  // knowledge.
  Machine machine() const;

  static constexpr size_t kMostFacts = 4096;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A person's words count less than what programs print.
bool only_said(const KnownFact& fact);

} // namespace gpuvet
