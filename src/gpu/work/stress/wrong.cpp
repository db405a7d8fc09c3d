#include "gpu/work/stress/wrong.hpp"

#include "gpu/kernels/mix.hpp"
#include "gpu/work/stress/load.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace gpuvet {
namespace {

constexpr unsigned kRepeats = 8;

std::string places(const std::vector<uint32_t>& multiprocessors) {
  std::vector<uint32_t> sorted = multiprocessors;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::string text = sorted.size() == 1 ? "multiprocessor" : "multiprocessors";
  for (size_t at = 0; at < sorted.size(); ++at)
    text += fmt::format("{} {}", at == 0 ? "" : ",", sorted[at]);
  return text;
}

std::string what_was_seen(const WrongEvidence& evidence, const std::string& engine) {
  const WrongTile& wrong = evidence.wrong;
  std::string who = wrong.multiprocessor ? fmt::format(" multiprocessor {}", *wrong.multiprocessor)
                                         : std::string(" its multiprocessor");
  std::string more =
      wrong.tiles > 1 ? fmt::format(" (and {} tiles more)", wrong.tiles - 1) : std::string();
  switch (wrong.where) {
  case WrongWhere::multiprocessor:
    return fmt::format("tile {}{} of a product by {} was wrong when it left{}", wrong.tile, more,
                       engine, who);
  case WrongWhere::memory:
    return fmt::format(
        "tile {}{} of a product by {} was right when it left the multiprocessor, and "
        "wrong in memory afterwards",
        wrong.tile, more, engine);
  case WrongWhere::operands:
    return fmt::format("an operand in memory is no longer what was written, at its tile {}{}",
                       wrong.tile, more);
  case WrongWhere::golden:
    return fmt::format("the integer product of tile {} on the GPU's CUDA cores is not what the CPU "
                       "computes",
                       wrong.tile);
  case WrongWhere::unknown:
    break;
  }
  return fmt::format("tile {}{} of a product by {} is wrong in memory", wrong.tile, more, engine);
}

std::string what_repeats_showed(const WrongEvidence& evidence) {
  if (evidence.repeats == 0) return {};
  if (evidence.repeats_wrong == 0)
    return fmt::format("; computed {} times again it was right, so the fault comes and goes",
                       evidence.repeats);
  std::string text = fmt::format("; computed again it was wrong {} of {} times",
                                 evidence.repeats_wrong, evidence.repeats);
  if (!evidence.repeat_multiprocessors.empty())
    text += ", on " + places(evidence.repeat_multiprocessors);
  return text;
}

// ---- finding out

bool differs(TileHash left, TileHash right) {
  return left.sum != right.sum || left.mixed != right.mixed;
}

void read_difference(Load& load, WrongEvidence& evidence, const std::vector<float>& right) {
  const ProductTile place = place_of(load.shape, evidence.wrong.tile);
  std::vector<float> got(right.size());
  for (uint32_t row = 0; row < kTileRows; ++row) {
    uint64_t at = uint64_t{place.row + row} * load.shape.columns + place.column;
    load.bench.quietly(load.bench.cuda.cuMemcpyDtoHAsync_v2,
                       static_cast<void*>(got.data() + size_t{row} * kTileColumns),
                       load.c.at(at * sizeof(float)), size_t{kTileColumns} * sizeof(float),
                       CudaStream{load.stream});
  }
  load.bench.call(load.bench.cuda.cuStreamSynchronize, CudaStream{load.stream});
  for (size_t at = 0; at < got.size(); ++at) {
    uint32_t difference = bits_of(got[at]) ^ bits_of(right[at]);
    evidence.words += difference != 0;
    evidence.bits |= difference;
  }
}

void repeat(Load& load, WrongEvidence& evidence, TileHash right) {
  LoadHalf& half = load.halves[0];
  const uint32_t tile = evidence.wrong.tile;
  for (unsigned at = 0; at < kRepeats; ++at) {
    clear(load, half);
    CudaPointer hashes = hashes_at(load, half, 0);
    load.engine.multiply({load.a.at(), load.b.at(), load.c.at(),
                          load.engine.hashes_itself ? hashes : CudaPointer{0},
                          half.multiprocessors.at(), load.stream});
    CudaPointer memory = hashes_at(load, half, kSlotC);
    hash_memory(load, load.c.at(), load.shape.c_words(), load.shape.columns, memory);
    bool wrong = differs(read_hashes(load, memory)[tile], right);
    if (load.engine.hashes_itself) wrong |= differs(read_hashes(load, hashes)[tile], right);
    ++evidence.repeats;
    if (!wrong) continue;
    ++evidence.repeats_wrong;
    if (!load.engine.hashes_itself) continue;
    uint32_t multiprocessor = 0;
    load.bench.call(load.bench.cuda.cuMemcpyDtoHAsync_v2, static_cast<void*>(&multiprocessor),
                    half.multiprocessors.at(tile * sizeof(uint32_t)), sizeof(multiprocessor),
                    CudaStream{load.stream});
    load.bench.call(load.bench.cuda.cuStreamSynchronize, CudaStream{load.stream});
    evidence.repeat_multiprocessors.push_back(multiprocessor);
  }
}

// The operands hashed again: are they what they were at the start?
bool operands_changed(Load& load) {
  LoadHalf& half = load.halves[0];
  clear(load, half);
  auto changed = [&](const DeviceMemory& operand, uint64_t words, unsigned slot,
                     const DeviceMemory& wanted) {
    CudaPointer hashes = hashes_at(load, half, slot);
    hash_memory(load, operand.at(), words, kTileColumns, hashes);
    std::vector<TileHash> got = read_hashes(load, hashes), were = read_hashes(load, wanted.at());
    return !std::equal(got.begin(), got.end(), were.begin(),
                       [](TileHash left, TileHash right) { return !differs(left, right); });
  };
  return changed(load.a, load.shape.a_words() / 2, kSlotA, load.wanted_a) ||
         changed(load.b, load.shape.b_words() / 2, kSlotB, load.wanted_b);
}

void tell_words(Load& load, const WrongEvidence& evidence) {
  StepTeller& tell = load.bench.tell;
  const WrongTile& wrong = evidence.wrong;
  const ProductTile place = place_of(load.shape, wrong.tile);
  tell.word("tile", wrong.where == WrongWhere::operands
                        ? fmt::format("{} of an operand", wrong.tile)
                        : fmt::format("{} (rows from {}, columns from {})", wrong.tile, place.row,
                                      place.column));
  tell.word("multiprocessor", wrong.multiprocessor ? fmt::format("{}", *wrong.multiprocessor)
                                                   : std::string("unknown"));
  tell.word("bits", evidence.bits
                        ? fmt::format("{:#010x} in {} words", evidence.bits, evidence.words)
                        : std::string("unknown: the result was overwritten before"));
}

} // namespace

std::string sentence(const WrongEvidence& evidence, const std::string& engine) {
  std::string text = what_was_seen(evidence, engine);
  if (evidence.bits)
    text += fmt::format(": {} word{} of 4 bytes, bits {:#010x}", evidence.words,
                        evidence.words == 1 ? "" : "s", evidence.bits);
  if (evidence.operands_changed && evidence.wrong.where != WrongWhere::operands)
    text += "; an operand in memory has changed since the start";
  else
    text += what_repeats_showed(evidence);
  return text;
}

void report_wrong(Load& load, const WrongTile& wrong) {
  load.bench.call(load.bench.cuda.cuStreamSynchronize, CudaStream{load.stream});
  WrongEvidence evidence;
  evidence.wrong = wrong;
  if (wrong.where != WrongWhere::operands && wrong.where != WrongWhere::golden) {
    const std::vector<float> right = golden_tile(load.shape, load.seeds, wrong.tile);
    if (wrong.still_there) read_difference(load, evidence, right);
    repeat(load, evidence, hash_of_tile(load.shape, wrong.tile, right));
  }
  evidence.operands_changed = operands_changed(load);
  tell_words(load, evidence);
  load.bench.tell.reading("checked", "1", load.checked);
  load.bench.tell.reading("mismatches", "1", wrong.tiles);
  Bench::wrong(sentence(evidence, load.engine.name));
}

} // namespace gpuvet
