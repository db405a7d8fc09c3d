#include "formats/simple_yaml.hpp"

#include "base/text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace gpuvet {
namespace {

constexpr size_t kDeepest = 32, kMostValues = size_t{1} << 18;

std::string_view without_comment(std::string_view text) {
  if (text.starts_with('#')) return {};
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quote != 0) {
      if (c == '\\' && quote == '"') ++i;
      if (c == quote) quote = 0;
    } else if ((c == '"' || c == '\'') && (i == 0 || text[i - 1] == ' ')) {
      quote = c;
    } else if (c == '#' && i > 0 && text[i - 1] == ' ') {
      return trimmed(text.substr(0, i));
    }
  }
  return trimmed(text);
}

// Where a mapping's key ends: at a colon before a blank or the end. npos: no mapping.
size_t colon_of(std::string_view text) {
  size_t at = 0;
  if (text.starts_with('"') || text.starts_with('\'')) at = text.find(text[0], 1);
  for (at = text.find(':', at); at != std::string_view::npos; at = text.find(':', at + 1))
    if (at + 1 == text.size() || text[at + 1] == ' ') return at;
  return std::string_view::npos;
}

std::optional<std::string> double_quoted(std::string_view text) {
  std::string out;
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] == '"') return std::nullopt;
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    char next = text[++i];
    if (i + 1 == text.size()) return std::nullopt; // the last quote was escaped
    if (next != '"' && next != '\\' && next != '/') return std::nullopt;
    out += next;
  }
  return out;
}

std::optional<std::string> single_quoted(std::string_view text) {
  std::string out;
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    bool doubled = text[i] == '\'' && i + 2 < text.size() && text[i + 1] == '\'';
    if (text[i] == '\'' && !doubled) return std::nullopt;
    out += text[i];
    if (doubled) ++i;
  }
  return out;
}

Json text_value(std::string text) {
  Json value;
  value.kind = Json::Kind::text;
  value.text = std::move(text);
  return value;
}

// One value; nullopt: of a kind that is not read here.
std::optional<Json> scalar(std::string_view text) {
  Json value;
  if (text == "[]" || text == "{}") {
    value.kind = text == "[]" ? Json::Kind::list : Json::Kind::object;
    return value;
  }
  bool quoted = text.size() >= 2 && text.front() == text.back();
  if (text.front() == '"' || text.front() == '\'') {
    if (!quoted) return std::nullopt;
    auto content = text.front() == '"' ? double_quoted(text) : single_quoted(text);
    if (!content) return std::nullopt;
    return text_value(std::move(*content));
  }
  if (std::string_view("[]{}&*!|>@%`,?").find(text.front()) != std::string_view::npos)
    return std::nullopt;
  if (text == "null" || text == "~") return value;
  value = text_value(std::string(text));
  if (text == "true" || text == "false") {
    value.kind = Json::Kind::boolean;
    value.boolean = text == "true";
  } else if (auto number = decimal_number(text)) {
    value.kind = Json::Kind::number;
    value.number = static_cast<double>(*number);
    value.whole = true;
    value.magnitude = *number;
  }
  return value;
}

struct Open { // a mapping or list whose lines are being read
  Json value;
  size_t indent = 0;
  bool waiting = false; // for the value of its last key or item
};

class Builder {
 public:
  std::string problem;

  bool line(size_t indent, std::string_view text) {
    for (;;) {
      bool item = text == "-" || text.starts_with("- ");
      if (!make_place(indent, item)) return false;
      if (!item) return add_pair(text);
      if (!add_waiting()) return false;
      size_t skipped = std::min(text.find_first_not_of(' ', 1), text.size());
      text = text.substr(skipped);
      if (text.empty()) return true;
      bool nested = text == "-" || text.starts_with("- ") || colon_of(text) != text.npos;
      if (!nested) return add_scalar(text);
      indent += skipped; // "- name: x": the mapping begins at its first key
    }
  }

  Json finish() {
    while (stack_.size() > 1)
      close();
    if (stack_.empty()) return {};
    settle(stack_.back());
    return std::move(stack_.back().value);
  }

 private:
  bool fails(const char* why) {
    problem = why;
    return false;
  }

  // A key or item without a value has null.
  static void settle(Open& open) {
    if (open.waiting) open.value.items.emplace_back();
    open.waiting = false;
  }

  void close() {
    Open done = std::move(stack_.back());
    stack_.pop_back();
    settle(done);
    stack_.back().value.items.push_back(std::move(done.value));
    stack_.back().waiting = false;
  }

  // Closes what ended before this line, and opens the mapping or list that begins here. A list may
  // stand as deep as the key that it belongs to.
  bool make_place(size_t indent, bool item) {
    Json::Kind wanted = item ? Json::Kind::list : Json::Kind::object;
    while (stack_.size() > 1) {
      const Open& top = stack_.back();
      bool ended = top.indent > indent ||
                   (top.indent == indent && top.value.kind != wanted && (!item || !top.waiting));
      if (!ended) break;
      close();
    }
    if (!stack_.empty()) {
      const Open& top = stack_.back();
      if (top.indent == indent && top.value.kind == wanted) return true;
      bool below = indent > top.indent || (item && indent == top.indent);
      if (!top.waiting || !below) return fails("the indentation does not fit");
    }
    if (stack_.size() >= kDeepest) return fails("nested too deeply");
    Open open;
    open.value.kind = wanted;
    open.indent = indent;
    stack_.push_back(std::move(open));
    return true;
  }

  bool add_waiting() {
    if (++values_ > kMostValues) return fails("too many values");
    settle(stack_.back());
    stack_.back().waiting = true;
    return true;
  }

  bool add_scalar(std::string_view text) {
    auto value = scalar(text);
    if (!value) return fails("a kind of YAML that is not read here");
    stack_.back().value.items.push_back(std::move(*value));
    stack_.back().waiting = false;
    return true;
  }

  bool add_pair(std::string_view text) {
    size_t colon = colon_of(text);
    if (colon == std::string_view::npos || colon == 0) return fails("neither a key nor an item");
    if (!add_waiting()) return false;
    auto key = scalar(trimmed(text.substr(0, colon)));
    if (!key) return fails("a kind of YAML that is not read here");
    stack_.back().value.keys.push_back(key->text);
    std::string_view value = trimmed(text.substr(colon + 1));
    return value.empty() || add_scalar(value);
  }

  std::vector<Open> stack_;
  size_t values_ = 0;
};

} // namespace

Result<Json> parse_simple_yaml(std::string_view text, const std::string& where) {
  Builder builder;
  size_t number = 0;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    size_t indent = std::min(line.find_first_not_of(' '), line.size());
    if (indent < line.size() && line[indent] == '\t' && !trimmed(line).empty())
      return fail(fmt::format("line {}: indented by tabs", number), where);
    std::string_view content = without_comment(trimmed(line));
    if (content.empty() || (content == "---" && number == 1)) continue;
    if (content == "...") break;
    if (content == "---") return fail(fmt::format("line {}: a second document", number), where);
    if (!builder.line(indent, content))
      return fail(fmt::format("line {}: {}", number, builder.problem), where);
  }
  return builder.finish();
}

} // namespace gpuvet
