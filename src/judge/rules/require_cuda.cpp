#include "judge/rules/require_cuda.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <vector>

namespace gpuvet {
namespace {

bool holds(std::strong_ordering order, std::string_view sign) {
  if (sign == "=") return order == 0;
  if (sign == "!=") return order != 0;
  if (sign == "<") return order < 0;
  if (sign == "<=") return order <= 0;
  if (sign == ">") return order > 0;
  return order >= 0;
}

// One condition; properties that the toolkit does not know count as met.
RequirementState judge_condition(std::string_view text, const Properties& properties) {
  size_t at = text.find_first_of("<>=!");
  if (at == std::string_view::npos) return RequirementState::met;
  std::string_view name = text.substr(0, at), rest = text.substr(at);
  constexpr std::array<std::string_view, 6> signs = {"!=", "<=", ">=", "=", "<", ">"};
  const auto* sign = std::find_if(signs.begin(), signs.end(),
                                  [&](std::string_view one) { return rest.starts_with(one); });
  if (sign == signs.end()) return RequirementState::met;
  std::string_view value = rest.substr(sign->size());
  if (name == "brand") {
    if (properties.brand.empty()) return RequirementState::not_known;
    return holds(properties.brand <=> std::string(value), *sign) ? RequirementState::met
                                                                 : RequirementState::not_met;
  }
  const std::optional<Version>* mine = nullptr;
  if (name == "cuda") mine = &properties.cuda;
  if (name == "driver") mine = &properties.driver;
  if (name == "arch") mine = &properties.arch;
  std::optional<Version> wanted = parse_version(value);
  if (!mine || !wanted) return RequirementState::met;
  if (!*mine) return RequirementState::not_known;
  return holds(**mine <=> *wanted, *sign) ? RequirementState::met : RequirementState::not_met;
}

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

} // namespace

RequirementAnswer judge_requirement(std::string_view text, const Properties& properties) {
  RequirementAnswer answer;
  constexpr std::string_view plain = "cuda>=";
  if (size_t at = text.find(plain); at != std::string_view::npos) {
    std::string_view rest = text.substr(at + plain.size());
    answer.cuda = std::string(rest.substr(0, rest.find_first_of(" ,")));
  }
  std::vector<std::string_view> alternatives = parts_of(text, ' ');
  if (alternatives.empty()) return answer;
  bool open = false;
  for (std::string_view alternative : alternatives) {
    RequirementState all = RequirementState::met;
    for (std::string_view condition : parts_of(alternative, ',')) {
      RequirementState one = judge_condition(condition, properties);
      if (one == RequirementState::not_met) all = one;
      if (one == RequirementState::not_known && all == RequirementState::met) all = one;
    }
    if (all == RequirementState::met) return answer;
    open = open || all == RequirementState::not_known;
  }
  answer.state = open ? RequirementState::not_known : RequirementState::not_met;
  return answer;
}

} // namespace gpuvet
