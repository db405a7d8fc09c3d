// A product was wrong: what can be found out about it before the test ends. The same tile is
// computed again several times, which tells a multiprocessor from memory and a fault that stays
// from one that passed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

struct Load;

enum class WrongWhere : uint8_t {
  unknown,        // only the result in memory was looked at
  multiprocessor, // the tile was wrong when it left the registers
  memory,         // it was right then, and wrong in memory afterwards
  operands,       // A or B in memory is not what was written
  golden,         // CUDA cores and CPU disagree about what is right
};

struct WrongTile {
  uint32_t tile = 0;  // of the result; of the operand where that is wrong
  uint32_t tiles = 1; // that were wrong at once
  WrongWhere where = WrongWhere::unknown;
  std::optional<uint32_t> multiprocessor; // that computed it
  bool still_there = false;               // C in memory is still that of the wrong product
};

struct WrongEvidence {
  WrongTile wrong;
  uint64_t words = 0; // of the tile in memory that were wrong
  uint32_t bits = 0;  // OR of their differences; 0: the result was overwritten before
  unsigned repeats = 0, repeats_wrong = 0;
  std::vector<uint32_t> repeat_multiprocessors; // of the wrong repeats
  bool operands_changed = false;                // seen at the end
};

// "Tile 5 of the product was wrong when it left multiprocessor 17; ...".
std::string sentence(const WrongEvidence& evidence, const std::string& engine);

// Finds out, tells words and readings, and throws StepStopped.
[[noreturn]] void report_wrong(Load& load, const WrongTile& wrong);

} // namespace gpuvet
