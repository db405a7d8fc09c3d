#include "facts/signatures/condition.hpp"

#include "base/text.hpp"

#include <fmt/core.h>

#include <array>

namespace gpuvet {
namespace {

struct ComparisonWord {
  std::string_view word;
  Comparison comparison;
};

// Longer words first, so that "<=" is not read as "<".
constexpr std::array<ComparisonWord, 6> kComparisons = {{{"!=", Comparison::not_equal},
                                                         {"<=", Comparison::at_most},
                                                         {">=", Comparison::at_least},
                                                         {"=", Comparison::equal},
                                                         {"<", Comparison::less},
                                                         {">", Comparison::greater}}};

// Takes the first word off the text; empty: there is none.
std::string_view take_word(std::string_view& text) {
  text = trimmed(text);
  size_t end = text.find(' ');
  std::string_view word = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : trimmed(text.substr(end));
  return word;
}

// "field NAME", "fact NAME", "line"; anything else is the text itself, all of it.
Operand take_operand(std::string_view& text) {
  std::string_view rest = text;
  std::string_view word = take_word(rest);
  if (word == "line") {
    text = rest;
    return {Operand::Kind::line, {}};
  }
  if (word == "field" || word == "fact") {
    Operand operand{word == "field" ? Operand::Kind::field : Operand::Kind::fact, {}};
    operand.name = std::string(take_word(rest));
    text = rest;
    return operand;
  }
  Operand operand{Operand::Kind::text, std::string(unquoted(trimmed(text)))};
  text = {};
  return operand;
}

bool read_comparison(std::string_view word, Condition& condition) {
  if (word == "matches" || word == "known") {
    condition.comparison = word == "known" ? Comparison::known : Comparison::matches;
    return true;
  }
  if (word.starts_with("sm")) {
    condition.capabilities = true;
    word.remove_prefix(2);
  }
  for (const ComparisonWord& known : kComparisons)
    if (word == known.word) {
      condition.comparison = known.comparison;
      return true;
    }
  return false;
}

tl::unexpected<Error> refuse(std::string_view text, const std::string& why) {
  return fail(fmt::format("condition '{}': {}", text, why));
}

Result<Condition> parse_compare(Condition condition, std::string_view rest) {
  std::string_view whole = rest;
  condition.left = take_operand(rest);
  if (condition.left.kind == Operand::Kind::text)
    return refuse(whole, "it begins with none of field, fact, line, seen, check, not");
  if (condition.left.name.empty() && condition.left.kind != Operand::Kind::line)
    return refuse(whole, "a name is missing");
  std::string_view word = take_word(rest);
  if (!read_comparison(word, condition))
    return refuse(whole, fmt::format("'{}' is none of = != < <= > >= sm= sm!= sm< sm<= sm> sm>= "
                                     "matches known",
                                     word));
  if (condition.comparison == Comparison::known) {
    if (!rest.empty()) return refuse(whole, "nothing follows after known");
    return condition;
  }
  if (rest.empty()) return refuse(whole, "there is nothing to compare with");
  if (condition.comparison == Comparison::matches) {
    condition.right = {Operand::Kind::text, std::string(rest)};
    return condition;
  }
  condition.right = take_operand(rest);
  if (condition.right.name.empty() && condition.right.kind != Operand::Kind::line)
    return refuse(whole, "a name is missing");
  if (!rest.empty()) return refuse(whole, fmt::format("'{}' is left over", rest));
  return condition;
}

} // namespace

Result<Condition> parse_condition(std::string_view text) {
  Condition condition;
  condition.text = std::string(trimmed(text));
  std::string_view rest = condition.text, after = rest;
  if (take_word(after) == "not") {
    condition.negated = true;
    rest = after;
  }
  after = rest;
  std::string_view word = take_word(after);
  if (word == "seen") {
    condition.kind = Condition::Kind::seen;
    condition.id = std::string(take_word(after));
    if (condition.id.empty() || !after.empty())
      return refuse(text, "seen is followed by the id of one signature");
    return condition;
  }
  if (word == "check") {
    condition.id = std::string(take_word(after));
    if (after != "fires" && after != "is ok")
      return refuse(text, "check ID is followed by fires, or by is ok");
    condition.kind = after == "fires" ? Condition::Kind::check_fires : Condition::Kind::check_ok;
    return condition;
  }
  return parse_compare(condition, std::string(rest));
}

} // namespace gpuvet
