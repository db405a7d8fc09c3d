// The arithmetic that kernels and host share: which data a test writes, and how a tile of C is
// folded into its hash. The same on every machine, so what a GPU wrote a CPU can check, and the
// reverse.
#pragma once

#ifdef __CUDACC__
#define GPUVET_BOTH __host__ __device__ __forceinline__
#else
#include <cstring>
#define GPUVET_BOTH inline
#endif

namespace gpuvet {

using Word = unsigned long long; // 8 bytes, the unit of memory tests

// The finaliser of splitmix64: every bit of x reaches every bit of the result.
GPUVET_BOTH Word mix64(Word x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

// What a test with this seed writes at a word.
GPUVET_BOTH Word word_value(Word index, Word seed) {
  return mix64(index + seed * 0x9E3779B97F4A7C15ull);
}

GPUVET_BOTH unsigned bits_of(float value) {
  unsigned bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

GPUVET_BOTH float float_of(unsigned bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// bf16 is the upper half of a float. Rounds to nearest, ties to even; not for NaN.
GPUVET_BOTH unsigned short bf16_of(float value) {
  unsigned bits = bits_of(value);
  return static_cast<unsigned short>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

// Exact for a bf16 that holds an integer below 2^22, without the slow conversion instruction:
// adding 1.5 * 2^23 leaves the integer in the low bits.
GPUVET_BOTH int int_of_bf16(unsigned short value) {
  float shifted = float_of(static_cast<unsigned>(value) << 16) + 12582912.0f;
  return static_cast<int>(bits_of(shifted)) - 0x4B400000;
}

// Operand `index` of a matrix, as bf16. `bound` 1 to 256: an integer, uniform in [-bound, bound];
// every 16th is never 0, so that no matrix is all zeros. `bound` 0: about normal(0, 1), the scaled
// sum of four uniform 16-bit numbers (whose standard deviation is 65536 / sqrt(3)).
GPUVET_BOTH unsigned short operand(Word index, Word seed, unsigned bound) {
  Word random = word_value(index, seed);
  if (bound == 0) {
    int sum = static_cast<int>((random & 0xFFFF) + ((random >> 16) & 0xFFFF) +
                               ((random >> 32) & 0xFFFF) + (random >> 48)) -
              131070;
    return bf16_of(static_cast<float>(sum) * (1.7320508f / 65536.0f));
  }
  int value =
      static_cast<int>(((random >> 32) * (2ull * bound + 1)) >> 32) - static_cast<int>(bound);
  if (value == 0 && index % 16 == 0) value = static_cast<int>(bound);
  return bf16_of(static_cast<float>(value));
}

// The largest bound with which every partial sum of a product over `inner` is an integer of at most
// 2^24, which fp32 holds exactly: then the result has the same bits in whatever order it is summed.
GPUVET_BOTH unsigned exact_bound(unsigned inner) {
  unsigned bound = 256; // bf16 holds integers up to 256
  while (bound > 1 && static_cast<Word>(bound) * bound * inner > 1u << 24)
    --bound;
  return bound;
}

// A word of C, as a tile's hash takes it: `place` is row * columns + column. Cheap, since it stands
// at the end of a matrix product: one multiplication to 64 bits with an odd number made from the
// place. A single changed word always changes the sum.
GPUVET_BOTH Word hash_word(unsigned place, unsigned bits) {
  return static_cast<Word>(bits) * ((place * 0x9E3779B1u) | 1u);
}

// What one thread has folded of a tile.
struct Fold {
  Word sum, mixed;
  GPUVET_BOTH void take(unsigned place, unsigned bits) {
    const Word word = hash_word(place, bits);
    sum += word;
    mixed ^= word;
  }
};

} // namespace gpuvet
