#include "judge/oom/amount.hpp"

#include "base/text.hpp"

#include <charconv>
#include <cmath>

namespace gpuvet {
namespace {

constexpr double kTwoTo64 = 18446744073709551616.0;
constexpr double kNear = 1e-4; // of 2^64: how far a rounded sentinel may lie
constexpr const char* kSentinel = "2^64 bytes, which stands for 'not available'";

struct Written {
  std::string digits; // without separators of thousands
  size_t decimals = 0;
  std::string_view unit;
};

Written split(std::string_view text) {
  Written written;
  size_t at = 0;
  bool point = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == ',' || c == '_') continue;
    const bool digit = c >= '0' && c <= '9';
    if (!digit && (c != '.' || point)) break;
    if (c == '.') point = true;
    if (digit && point) ++written.decimals;
    written.digits += c;
  }
  written.unit = trimmed(text.substr(at));
  return written;
}

uint64_t unit_bytes(std::string_view name, const std::vector<OomUnit>& units) {
  if (name.empty()) return 1;
  for (const OomUnit& unit : units)
    if (unit.name == name) return unit.bytes;
  return 0;
}

OomAmount unknown_amount(OomAmount amount, std::string why) {
  amount.bytes.reset();
  amount.rounding = 0;
  amount.why_unknown = std::move(why);
  return amount;
}

} // namespace

OomAmount parse_amount(std::string_view text, std::string_view unit,
                       const std::vector<OomUnit>& units) {
  text = trimmed(text);
  OomAmount amount;
  amount.written = std::string(text.substr(0, 64));
  if (text.starts_with('-'))
    return unknown_amount(std::move(amount), "a negative number was printed");
  const Written written = split(text);
  const uint64_t one = unit_bytes(written.unit.empty() ? unit : written.unit, units);
  if (written.digits.empty() || written.digits == "." || one == 0)
    return unknown_amount(std::move(amount), "no number of bytes was printed");
  if (written.unit.empty() && !unit.empty()) amount.written += " " + std::string(unit);

  const char* begin = written.digits.data();
  const char* end = begin + written.digits.size();
  uint64_t whole = 0;
  auto [rest, problem] = std::from_chars(begin, end, whole);
  if (problem == std::errc{} && rest == end && whole <= UINT64_MAX / one) {
    const uint64_t bytes = whole * one;
    if (bytes > UINT64_MAX - (uint64_t{1} << 20U))
      return unknown_amount(std::move(amount), kSentinel);
    amount.bytes = bytes;
    amount.rounding = one > 1 ? one / 2 : 0;
    return amount;
  }
  double value = 0;
  auto [rest_of_it, trouble] = std::from_chars(begin, end, value);
  if (trouble != std::errc{} && trouble != std::errc::result_out_of_range)
    return unknown_amount(std::move(amount), "no number of bytes was printed");
  if (trouble == std::errc::result_out_of_range &&
      written.digits.find_first_of("123456789") > written.digits.find('.'))
    trouble = std::errc{}; // so small that it is nothing
  value *= static_cast<double>(one);
  if (trouble == std::errc::result_out_of_range || !std::isfinite(value) ||
      value > kTwoTo64 * (1 + kNear))
    return unknown_amount(std::move(amount), "the number is larger than 2^64 bytes");
  if (value >= kTwoTo64 * (1 - kNear)) return unknown_amount(std::move(amount), kSentinel);
  amount.bytes = static_cast<uint64_t>(value + 0.5);
  const double step =
      static_cast<double>(one) * std::pow(10.0, -static_cast<double>(written.decimals));
  amount.rounding = static_cast<uint64_t>(step / 2);
  return amount;
}

} // namespace gpuvet
