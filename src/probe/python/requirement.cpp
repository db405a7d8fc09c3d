#include "probe/python/requirement.hpp"

#include "base/text.hpp"
#include "base/version.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

constexpr size_t kLongestCondition = 4096;

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

std::string without_blanks(std::string_view text) {
  std::string result;
  for (char c : text)
    if (c != ' ' && c != '\t' && c != '(' && c != ')') result += c;
  return result;
}

struct Token {
  std::string text;
  bool quoted = false;
};

std::vector<Token> tokens_of(std::string_view text) {
  constexpr std::string_view kOperators = "<>=!~";
  std::vector<Token> tokens;
  for (size_t at = 0; at < text.size();) {
    char c = text[at];
    size_t end = at + 1;
    if (c == '\'' || c == '"') {
      end = std::min(text.find(c, at + 1), text.size());
      tokens.push_back({.text = std::string(text.substr(at + 1, end - at - 1)), .quoted = true});
      at = end + 1;
      continue;
    }
    if (kOperators.find(c) != std::string_view::npos)
      end = std::min(text.find_first_not_of(kOperators, at), text.size());
    else if (is_name_character(c))
      while (end < text.size() && is_name_character(text[end]))
        ++end;
    if (c != ' ' && c != '\t')
      tokens.push_back({.text = std::string(text.substr(at, end - at)), .quoted = false});
    at = end;
  }
  return tokens;
}

struct Surroundings {
  const std::map<std::string, std::string>& values;
  const std::set<std::string>& extras;
};

bool compared(const std::string& left, const std::string& operation, const std::string& right) {
  if (operation == "in") return holds_word(right, left);
  if (operation == "not in") return !holds_word(right, left);
  auto a = parse_version(left), b = parse_version(right);
  if (!a || !b) return (left == right) == (operation != "!=");
  if (operation == "<") return *a < *b;
  if (operation == "<=") return *a <= *b;
  if (operation == ">") return *a > *b;
  if (operation == ">=" || operation == "~=") return *a >= *b;
  if (operation == "!=") return !(*a == *b);
  return *a == *b;
}

bool comparison_holds(const Token& left, const std::string& operation, const Token& right,
                      const Surroundings& around) {
  const Token& variable = left.quoted ? right : left;
  if (variable.quoted) return true;
  if (variable.text == "extra") {
    bool wanted = around.extras.count(normalised_package((left.quoted ? left : right).text)) > 0;
    return operation == "!=" ? !wanted : wanted;
  }
  auto value = around.values.find(variable.text);
  if (value == around.values.end() || value->second.empty()) return true;
  return left.quoted ? compared(left.text, operation, value->second)
                     : compared(value->second, operation, right.text);
}

// Operators wait on one stack, truth values on another; "and" binds tighter than "or".
struct Evaluation {
  std::vector<bool> values;
  std::vector<char> waiting; // '(', '&', '|'
  bool broken = false;

  void apply() {
    char operation = waiting.back();
    waiting.pop_back();
    if (values.size() < 2) {
      broken = true;
      return;
    }
    bool right = values.back();
    values.pop_back();
    bool left = values.back();
    values.back() = operation == '&' ? left && right : left || right;
  }
  void push(char operation) {
    while (!waiting.empty() && !broken &&
           (waiting.back() == '&' || (waiting.back() == '|' && operation == '|')))
      apply();
    waiting.push_back(operation);
  }
  void close() {
    while (!waiting.empty() && waiting.back() != '(' && !broken)
      apply();
    if (waiting.empty())
      broken = true;
    else
      waiting.pop_back();
  }
};

} // namespace

std::string normalised_package(std::string_view name) {
  std::string result;
  for (char c : lower_ascii(name)) {
    bool separator = c == '-' || c == '_' || c == '.';
    if (!separator)
      result += c;
    else if (!result.ends_with('-'))
      result += '-';
  }
  return result;
}

Requirement parse_requirement(std::string_view text) {
  Requirement requirement;
  size_t semicolon = std::min(text.find(';'), text.size());
  requirement.condition = trimmed(text.substr(std::min(semicolon + 1, text.size())));
  text = trimmed(text.substr(0, semicolon));
  size_t end = 0;
  while (end < text.size() && is_name_character(text[end]))
    ++end;
  requirement.name = normalised_package(text.substr(0, end));
  text = trimmed(text.substr(end));
  if (text.starts_with('[')) {
    size_t close = std::min(text.find(']'), text.size());
    for (const std::string& extra : split_at(text.substr(1, close - 1), ','))
      requirement.extras.push_back(normalised_package(trimmed(extra)));
    text.remove_prefix(std::min(close + 1, text.size()));
  }
  if (!trimmed(text).starts_with('@')) requirement.versions = without_blanks(text); // not a URL
  return requirement;
}

bool condition_holds(std::string_view condition, const std::map<std::string, std::string>& values,
                     const std::set<std::string>& extras) {
  if (condition.size() > kLongestCondition) return true;
  const std::vector<Token> tokens = tokens_of(condition);
  const Surroundings around{.values = values, .extras = extras};
  Evaluation evaluation;
  for (size_t at = 0; at < tokens.size() && !evaluation.broken; ++at) {
    const Token& token = tokens[at];
    if (!token.quoted && token.text == "(") {
      evaluation.waiting.push_back('(');
    } else if (!token.quoted && token.text == ")") {
      evaluation.close();
    } else if (!token.quoted && (token.text == "and" || token.text == "or")) {
      evaluation.push(token.text == "and" ? '&' : '|');
    } else {
      bool negated = at + 2 < tokens.size() && tokens[at + 1].text == "not";
      size_t last = at + (negated ? 3 : 2);
      if (last >= tokens.size()) return true;
      std::string operation = negated ? "not in" : tokens[at + 1].text;
      evaluation.values.push_back(comparison_holds(token, operation, tokens[last], around));
      at = last;
    }
  }
  while (!evaluation.waiting.empty() && !evaluation.broken)
    evaluation.apply();
  return evaluation.broken || evaluation.values.size() != 1 || evaluation.values.front();
}

} // namespace gpuvet
