#include "formats/gpu/needle_search.hpp"

#include <bit>
#include <optional>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gpuvet {
namespace {

struct Literal {
  std::string_view text;
  Needle needle;
};

// The names sit in import tables or dlsym strings. "nvptx64-nvidia-cuda" is the target triple of
// LLVM's PTX back end: Triton, XLA, Numba and TVM generate code with it.
constexpr Literal kLiterals[] = {
    {"vrtcCompileProgram", Needle::nvrtc},      {"vJitLinkCreate", Needle::nvjitlink},
    {"vvmCompileProgram", Needle::nvvm},        {"vPTXCompilerCompile", Needle::ptx_compiler},
    {"vptx64-nvidia-cuda", Needle::nvptx_llvm}, {".shstrtab", Needle::section_names},
};

bool is_digit(uint8_t byte) {
  return byte >= '0' && byte <= '9';
}

// Full comparison at one offset that passed the two-byte test.
std::optional<Needle> recognise(Bytes window, size_t at) {
  auto word = window.read<uint32_t>(at);
  if (!word) return std::nullopt;
  switch (*word) {
  case 0xBA55ED50:
    return Needle::container;
  case 0x466243B1: {
    auto version = window.read<uint32_t>(at + 4);
    if (version && (*version == 1 || *version == 2)) return Needle::wrapper;
    return std::nullopt;
  }
  case 0x464C457F:
    return Needle::elf;
  case 0xAD10FF10:
    return Needle::offload;
  default:
    break;
  }
  Bytes rest = window.clamp(at, kNeedleReach);
  std::string_view text = rest.text();
  if (text.starts_with(".version ") && text.size() > 9 && is_digit(rest.data()[9]))
    return Needle::ptx_text;
  for (const Literal& literal : kLiterals)
    if (text.starts_with(literal.text)) return literal.needle;
  return std::nullopt;
}

bool could_start(uint8_t a, uint8_t b) {
  switch (a) {
  case 0x50:
    return b == 0xed;
  case 0xb1:
    return b == 0x43;
  case 0x7f:
    return b == 0x45;
  case 0x10:
    return b == 0xff;
  case '.':
    return b == 'v' || b == 's';
  case 'v':
    return b == 'r' || b == 'J' || b == 'v' || b == 'P' || b == 'p';
  default:
    return false;
  }
}

size_t next_candidate_plain(const uint8_t* data, size_t from, size_t end) {
  for (size_t i = from; i < end; ++i)
    if (could_start(data[i], data[i + 1])) return i;
  return end;
}

#if defined(__x86_64__)
// 32 positions at once: bit i of the result is could_start(data[i], data[i+1]).
__attribute__((target("avx2"))) uint32_t candidates_avx2(const uint8_t* data) {
  __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data));
  __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data + 1));
  auto pair = [&](int first, int second) __attribute__((target("avx2"))) {
    return _mm256_and_si256(_mm256_cmpeq_epi8(a, _mm256_set1_epi8(static_cast<char>(first))),
                            _mm256_cmpeq_epi8(b, _mm256_set1_epi8(static_cast<char>(second))));
  };
  auto second_is = [&](char c) __attribute__((target("avx2"))) {
    return _mm256_cmpeq_epi8(b, _mm256_set1_epi8(c));
  };
  __m256i after_v = _mm256_or_si256(
      _mm256_or_si256(_mm256_or_si256(second_is('r'), second_is('J')), second_is('v')),
      _mm256_or_si256(second_is('P'), second_is('p')));
  __m256i names = _mm256_and_si256(_mm256_cmpeq_epi8(a, _mm256_set1_epi8('v')), after_v);
  __m256i after_dot = _mm256_or_si256(second_is('v'), second_is('s'));
  __m256i dots = _mm256_and_si256(_mm256_cmpeq_epi8(a, _mm256_set1_epi8('.')), after_dot);
  __m256i any =
      _mm256_or_si256(_mm256_or_si256(_mm256_or_si256(pair(0x50, 0xed), pair(0xb1, 0x43)),
                                      _mm256_or_si256(pair(0x7f, 0x45), pair(0x10, 0xff))),
                      _mm256_or_si256(dots, names));
  return static_cast<uint32_t>(_mm256_movemask_epi8(any));
}

__attribute__((target("avx2"))) size_t next_candidate_avx2(const uint8_t* data, size_t from,
                                                           size_t end) {
  size_t i = from;
  for (; i + 33 <= end; i += 32)
    if (uint32_t mask = candidates_avx2(data + i))
      return i + static_cast<size_t>(std::countr_zero(mask));
  return next_candidate_plain(data, i, end);
}
#endif

// First i in [from, end) whose bytes i and i+1 could start a needle; `end` when none. Reads
// data[end] too.
size_t next_candidate(const uint8_t* data, size_t from, size_t end) {
#if defined(__x86_64__)
  static const bool avx2 = __builtin_cpu_supports("avx2");
  if (avx2) return next_candidate_avx2(data, from, end);
#endif
  return next_candidate_plain(data, from, end);
}

} // namespace

bool find_needle(Bytes window, size_t from, bool last, NeedleHit& hit) {
  size_t reach = last ? 1 : kNeedleReach;
  if (window.size() < reach) return false;
  size_t end = window.size() - reach;
  for (size_t i = from; (i = next_candidate(window.data(), i, end)) < end; ++i)
    if (auto needle = recognise(window, i)) {
      hit = {i, *needle};
      return true;
    }
  return false;
}

} // namespace gpuvet
