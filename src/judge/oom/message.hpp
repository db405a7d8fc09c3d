// One message: its lines put together, its fields read.
#pragma once

#include "judge/oom/grammar.hpp"
#include "model/oom.hpp"

#include <optional>
#include <utility>

namespace gpuvet {

// A message while its lines come in. Lines that a terminal or a person broke are put together with
// a blank between them.
struct OomGathering {
  size_t opening = 0; // of OomGrammar::openings
  std::string text;
  struct Piece {
    size_t at = 0; // where the line begins in `text`
    uint64_t line = 0;
  };
  std::vector<Piece> pieces;
};

// False: the message is over before this line, which was not added.
bool add_line(OomGathering& message, std::string_view line, uint64_t number);

// With the index of its template; nullopt: no template's mark is in it.
std::optional<std::pair<OomMessage, size_t>> read_message(const OomGrammar& grammar,
                                                          const OomGathering& gathered);

// Pieces that stand far below the opening.
void read_far(const OomGrammar& grammar, std::string_view line, uint64_t number,
              OomMessage& message);

} // namespace gpuvet
