#include "judge/explain/conditions.hpp"

#include "base/regex.hpp"
#include "base/text.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

struct Value {
  std::string text, shown;
  bool hearsay = false;
};

std::vector<Value> values_of(const Operand& operand, const Evidence& evidence) {
  std::vector<Value> values;
  if (operand.kind == Operand::Kind::text) {
    values.push_back({operand.name, {}, false});
  } else if (operand.kind == Operand::Kind::line) {
    values.push_back({std::string(evidence.line), {}, false});
  } else if (operand.kind == Operand::Kind::field) {
    auto at = evidence.fields->find(operand.name);
    if (at != evidence.fields->end() && !at->second.empty())
      values.push_back({at->second, {}, false});
  } else {
    for (const KnownFact& fact : evidence.facts->of(operand.name))
      values.push_back({fact.value, fact_text(fact), is_hearsay(fact)});
  }
  return values;
}

// 8.9.2 = 8: the right side says how many parts count.
bool same_version(const Version& left, const Version& right) {
  for (size_t i = 0; i < right.parts.size(); ++i)
    if (left.part(i) != right.part(i)) return false;
  return true;
}

template <class T> bool holds(Comparison comparison, const T& left, const T& right, bool same) {
  switch (comparison) {
  case Comparison::equal:
    return same;
  case Comparison::not_equal:
    return !same;
  case Comparison::less:
    return left < right;
  case Comparison::at_most:
    return left <= right;
  case Comparison::greater:
    return left > right;
  case Comparison::at_least:
    return left >= right;
  case Comparison::matches:
  case Comparison::known:
    break;
  }
  return false;
}

// Are these versions as a whole, and not words that begin with a digit?
bool is_version(std::string_view text) {
  return !text.empty() && text.front() >= '0' && text.front() <= '9' && parse_version(text);
}

Truth truth_of(bool value) {
  return value ? Truth::yes : Truth::no;
}

Truth compare(const Condition& condition, const std::string& left, const std::string& right) {
  Comparison comparison = condition.comparison;
  if (comparison == Comparison::matches) {
    auto regex = Regex::compile(right);
    return regex ? truth_of(regex->found_in(left)) : Truth::unknown;
  }
  if (condition.capabilities) {
    auto a = parse_target(left), b = parse_target(right);
    if (!a || !b) return Truth::unknown;
    return truth_of(holds(comparison, a->sm, b->sm, a->sm == b->sm));
  }
  if (is_version(left) && is_version(right)) {
    Version a = *parse_version(left), b = *parse_version(right);
    return truth_of(holds(comparison, a, b, same_version(a, b)));
  }
  if (comparison != Comparison::equal && comparison != Comparison::not_equal) return Truth::unknown;
  return truth_of((lower_ascii(left) == lower_ascii(right)) == (comparison == Comparison::equal));
}

// Of several values, one that is equal or matches is enough; an order must hold for all.
bool one_is_enough(Comparison comparison) {
  return comparison == Comparison::equal || comparison == Comparison::matches;
}

std::string missing_of(const Condition& condition, const Evidence& evidence) {
  for (const Operand* operand : {&condition.left, &condition.right})
    if (operand->kind == Operand::Kind::fact && values_of(*operand, evidence).empty())
      return operand->name;
  return {};
}

ConditionAnswer judge_compare(const Condition& condition, const Evidence& evidence) {
  std::vector<Value> lefts = values_of(condition.left, evidence);
  if (condition.comparison == Comparison::known) {
    ConditionAnswer answer{truth_of(!lefts.empty()), {}, {}, false};
    if (!lefts.empty()) answer.shown = lefts.front().shown;
    return answer;
  }
  std::vector<Value> rights = values_of(condition.right, evidence);
  ConditionAnswer answer;
  if (lefts.empty() || rights.empty()) {
    answer.missing_fact = missing_of(condition, evidence);
    return answer;
  }
  size_t yes = 0, no = 0;
  for (const Value& left : lefts)
    for (const Value& right : rights) {
      Truth truth = compare(condition, left.text, right.text);
      if (truth == Truth::unknown) continue;
      bool first_of_kind = truth == Truth::yes ? yes++ == 0 : no++ == 0;
      if (!first_of_kind || (truth == Truth::no && yes > 0)) continue;
      answer.shown = left.shown;
      if (!right.shown.empty()) answer.shown += (left.shown.empty() ? "" : ", ") + right.shown;
      answer.hearsay = left.hearsay || right.hearsay;
    }
  if (yes && (!no || one_is_enough(condition.comparison)))
    answer.truth = Truth::yes;
  else if (no && !yes)
    answer.truth = Truth::no;
  return answer;
}

ConditionAnswer judge_seen(const Condition& condition, const Evidence& evidence) {
  const TextLine* line = evidence.text->seen(condition.id);
  if (!line) return {Truth::no, {}, {}, false};
  return {Truth::yes, fmt::format("line {}: {}", line->number, line->text), {}, false};
}

ConditionAnswer judge_check(const Condition& condition, const Evidence& evidence) {
  ConditionAnswer answer;
  const CheckResult* check = find_check(evidence.doctor, condition.id);
  if (!check || check->outcome.answer == Answer::unknown) return answer;
  bool fires = check->outcome.answer == Answer::fires;
  answer.truth = truth_of(fires == (condition.kind == Condition::Kind::check_fires));
  answer.shown = fires ? check->title : fmt::format("{}: {}", condition.id, check->outcome.why);
  return answer;
}

} // namespace

const CheckResult* find_check(const Diagnosis* doctor, const std::string& id) {
  if (!doctor) return nullptr;
  for (const CheckResult& check : doctor->checks)
    if (check.row->id == id) return &check;
  return nullptr;
}

ConditionAnswer judge_condition(const Condition& condition, const Evidence& evidence) {
  ConditionAnswer answer;
  if (condition.kind == Condition::Kind::compare)
    answer = judge_compare(condition, evidence);
  else if (condition.kind == Condition::Kind::seen)
    answer = judge_seen(condition, evidence);
  else
    answer = judge_check(condition, evidence);
  if (condition.negated && answer.truth != Truth::unknown)
    answer.truth = answer.truth == Truth::yes ? Truth::no : Truth::yes;
  return answer;
}

} // namespace gpuvet
