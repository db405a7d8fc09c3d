#include "base/compute_capability.hpp"

#include <cctype>

namespace gpuvet {
namespace {

std::string with_suffix(std::string_view prefix, Target target) {
  std::string name(prefix);
  name += std::to_string(target.sm);
  if (target.suffix) name += target.suffix;
  return name;
}

bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) {
  if (text.size() < prefix.size()) return false;
  for (size_t i = 0; i < prefix.size(); ++i)
    if (std::tolower(static_cast<unsigned char>(text[i])) != prefix[i]) return false;
  return true;
}

} // namespace

std::string sm_name(Target target) {
  return with_suffix("sm_", target);
}
std::string compute_name(Target target) {
  return with_suffix("compute_", target);
}

std::string cc_name(uint32_t sm) {
  return std::to_string(cc_major(sm)) + "." + std::to_string(cc_minor(sm));
}

std::optional<Target> parse_target(std::string_view text) {
  for (std::string_view prefix : {"compute_", "sm_", "sm"})
    if (starts_with_ignoring_case(text, prefix)) {
      text.remove_prefix(prefix.size());
      break;
    }
  Target target;
  if (!text.empty()) {
    char last = static_cast<char>(std::tolower(static_cast<unsigned char>(text.back())));
    if (last == 'a' || last == 'f') {
      target.suffix = last;
      text.remove_suffix(1);
    }
  }
  size_t dot = text.find('.');
  std::string digits(text.substr(0, dot));
  if (dot != std::string_view::npos) {
    std::string_view minor = text.substr(dot + 1);
    if (minor.size() != 1) return std::nullopt;
    digits += minor;
  }
  if (digits.size() < 2 || digits.size() > 3) return std::nullopt;
  for (char c : digits) {
    if (!std::isdigit(static_cast<unsigned char>(c))) return std::nullopt;
    target.sm = target.sm * 10 + static_cast<uint32_t>(c - '0');
  }
  if (target.sm < 10) return std::nullopt;
  return target;
}

} // namespace gpuvet
