#include "base/text.hpp"
#include "formats/buildfile/readers.hpp"

#include <algorithm>
#include <cctype>

namespace gpuvet {
namespace {

constexpr size_t kDeepest = 100; // levels of indentation

struct Line {
  size_t begin = 0, end = 0; // in the file, without the line feed
  size_t indent = 0;
};

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::vector<YamlScalar> run() {
    while (at_ < text_.size()) {
      Line line = next_line();
      if (blank(line)) continue;
      entry(line.begin + line.indent, line.end, line.indent);
    }
    return std::move(found_);
  }

 private:
  struct Level {
    size_t indent;
    std::string key;
  };

  Line next_line() {
    Line line;
    line.begin = at_;
    line.end = std::min(text_.find('\n', at_), text_.size());
    at_ = std::min(line.end + 1, text_.size());
    if (line.end > line.begin && text_[line.end - 1] == '\r') --line.end;
    while (line.begin + line.indent < line.end && text_[line.begin + line.indent] == ' ')
      ++line.indent;
    return line;
  }

  bool blank(const Line& line) const {
    std::string_view rest = trimmed(text_.substr(line.begin, line.end - line.begin));
    return rest.empty() || rest.front() == '#' || rest == "---" || rest.front() == '%';
  }

  void enter(size_t indent, std::string key) {
    // A list may stand as far left as the key that it belongs to.
    bool item = key == "-";
    while (!levels_.empty() &&
           (levels_.back().indent > indent ||
            (levels_.back().indent == indent && (!item || levels_.back().key == "-"))))
      levels_.pop_back();
    if (levels_.size() < kDeepest) levels_.push_back({indent, std::move(key)});
  }

  std::string path() const {
    std::string made;
    for (const Level& level : levels_)
      made += (made.empty() ? "" : "/") + level.key;
    return made;
  }

  // Where a key ends: at ": " or a ':' at the line's end, outside quotes; npos: no key.
  size_t key_end(size_t begin, size_t end) const {
    char quote = text_[begin] == '"' || text_[begin] == '\'' ? text_[begin] : '\0';
    for (size_t i = begin; i < end; ++i) {
      char c = text_[i];
      if (quote && i > begin) {
        if (c == quote) quote = '\0';
        continue;
      }
      if (quote) continue;
      if (c == '{' || c == '[' || (c == '#' && i > begin && text_[i - 1] == ' ')) {
        if (i == begin || c == '#') return text_.npos;
      }
      if (c == ':' && (i + 1 == end || text_[i + 1] == ' ' || text_[i + 1] == '\t')) return i;
    }
    return text_.npos;
  }

  void entry(size_t begin, size_t end, size_t indent) {
    while (begin < end && text_[begin] == '-' && (begin + 1 == end || text_[begin + 1] == ' ')) {
      enter(indent, "-");
      ++begin;
      ++indent;
      while (begin < end && text_[begin] == ' ') {
        ++begin;
        ++indent;
      }
    }
    if (begin >= end) return;
    size_t colon = key_end(begin, end);
    if (colon == text_.npos) return value(begin, end, indent, indent);
    enter(indent, std::string(unquoted(trimmed(text_.substr(begin, colon - begin)))));
    size_t start = colon + 1;
    while (start < end && (text_[start] == ' ' || text_[start] == '\t'))
      ++start;
    if (start < end && text_[start] != '#') value(start, end, indent, indent + 1);
  }

  void value(size_t begin, size_t end, size_t indent, size_t deeper) {
    char c = text_[begin];
    if (c == '&' || c == '!') { // an anchor or tag before the value
      begin = text_.find_first_of(" \t", begin);
      if (begin == text_.npos || begin >= end) return;
      while (begin < end && (text_[begin] == ' ' || text_[begin] == '\t'))
        ++begin;
      if (begin >= end) return;
      c = text_[begin];
    }
    if (c == '*') return; // an alias
    if (c == '|' || c == '>') return block(indent, c == '>');
    if (c == '[' || c == '{') return flow(begin);
    if (c == '"' || c == '\'') {
      quoted(begin, path());
      return;
    }
    plain(begin, end, deeper);
  }

  void block(size_t indent, bool folded) {
    YamlScalar made;
    made.path = path();
    made.block = true;
    size_t own = 0;
    while (at_ < text_.size()) {
      size_t before = at_;
      Line line = next_line();
      bool empty = trimmed(text_.substr(line.begin, line.end - line.begin)).empty();
      if (!empty && line.indent <= parent_indent(indent)) {
        at_ = before;
        break;
      }
      if (!empty && own == 0) own = line.indent;
      size_t skip = std::min(own, line.end - line.begin);
      if (!empty)
        made.value.text.add(text_.substr(line.begin + skip, line.end - line.begin - skip),
                            line.begin + skip);
      made.value.text.add(folded ? " " : "\n", line.end);
    }
    if (!made.value.text.from.empty()) found_.push_back(std::move(made));
  }

  // A block belongs to the key or item whose value it is: what is indented deeper than that.
  size_t parent_indent(size_t indent) const {
    return levels_.empty() ? indent : levels_.back().indent;
  }

  void plain(size_t begin, size_t end, size_t deeper) {
    YamlScalar made;
    made.path = path();
    size_t stop = comment_start(begin, end);
    made.value.text.add(trimmed(text_.substr(begin, stop - begin)), begin);
    // Lines that are indented deeper go on with it.
    while (at_ < text_.size()) {
      size_t before = at_;
      Line line = next_line();
      std::string_view rest =
          text_.substr(line.begin + line.indent, line.end - line.begin - line.indent);
      if (blank(line) || line.indent < deeper || rest.starts_with("- ") ||
          key_end(line.begin + line.indent, line.end) != text_.npos) {
        at_ = before;
        break;
      }
      made.value.text.add(" ", line.begin + line.indent - 1);
      size_t last = comment_start(line.begin + line.indent, line.end);
      made.value.text.add(
          trimmed(text_.substr(line.begin + line.indent, last - line.begin - line.indent)),
          line.begin + line.indent);
    }
    made.value.number = is_number(made.value.text.text);
    if (!made.value.text.from.empty()) found_.push_back(std::move(made));
  }

  // With a zero at its end, which a number loses: 8.0, 9.10.
  static bool is_number(std::string_view text) {
    size_t dot = text.find('.');
    return dot != text.npos && text.ends_with('0') && decimal_number(text.substr(0, dot)) &&
           decimal_number(text.substr(dot + 1));
  }

  size_t comment_start(size_t begin, size_t end) const {
    for (size_t i = begin + 1; i < end; ++i)
      if (text_[i] == '#' && (text_[i - 1] == ' ' || text_[i - 1] == '\t')) return i;
    return end;
  }

  size_t quoted(size_t begin, const std::string& where) {
    YamlScalar made;
    made.path = where;
    made.value.quoted = true;
    char quote = text_[begin];
    size_t i = begin + 1;
    for (; i < text_.size(); ++i) {
      if (text_[i] == quote) {
        if (quote == '\'' && i + 1 < text_.size() && text_[i + 1] == '\'')
          ++i;
        else
          break;
      }
      if (quote == '"' && text_[i] == '\\' && i + 1 < text_.size()) ++i;
      made.value.text.add(text_.substr(i, 1), i);
    }
    if (made.value.text.from.empty())
      made.value.text.from.push_back(static_cast<uint32_t>(begin + 1));
    found_.push_back(std::move(made));
    size_t end = std::min(i + 1, text_.size());
    if (end > at_) at_ = std::min(text_.find('\n', end), text_.size());
    return end;
  }

  // [a, "b"], {NAME: value}: over several lines, nested lists as one.
  void flow(size_t begin) {
    std::vector<std::string> keys;
    std::string key;
    auto where = [&] {
      std::string made = path();
      for (const std::string& one : keys)
        if (!one.empty()) made += "/" + one;
      return key.empty() ? made + "/-" : made + "/" + key;
    };
    size_t i = begin;
    while (i < text_.size()) {
      char c = text_[i];
      if (c == '[' || c == '{') {
        if (keys.size() >= kDeepest) break;
        keys.push_back(key);
        key.clear();
        ++i;
      } else if (c == ']' || c == '}') {
        if (keys.empty()) break;
        key = keys.back();
        keys.pop_back();
        ++i;
        if (keys.empty()) break;
      } else if (c == ',') {
        key.clear();
        ++i;
      } else if (c == '#' && i > 0 && text_[i - 1] == ' ') {
        i = std::min(text_.find('\n', i), text_.size());
      } else if (std::isspace(static_cast<unsigned char>(c)) != 0 || c == ':') {
        ++i;
      } else if (c == '"' || c == '\'') {
        size_t close = text_.find(c, i + 1);
        size_t next = close == text_.npos ? close : text_.find_first_not_of(" \t", close + 1);
        if (next != text_.npos && text_[next] == ':') {
          key = text_.substr(i + 1, close - i - 1);
          i = next + 1;
        } else
          i = quoted(i, where());
      } else {
        size_t end = i;
        while (end < text_.size() && text_[end] != ',' && text_[end] != ']' && text_[end] != '}' &&
               text_[end] != '\n' &&
               !(text_[end] == ':' && end + 1 < text_.size() && text_[end + 1] == ' ')) {
          if (text_.substr(end).starts_with("${{")) {
            size_t close = text_.find("}}", end);
            end = close == text_.npos ? text_.size() : close + 2;
          } else
            ++end;
        }
        if (end < text_.size() && text_[end] == ':') {
          key = trimmed(text_.substr(i, end - i));
        } else {
          YamlScalar made;
          made.path = where();
          made.value.text.add(trimmed(text_.substr(i, end - i)), i);
          made.value.number = is_number(made.value.text.text);
          found_.push_back(std::move(made));
        }
        i = std::max(end, i + 1);
      }
    }
    if (i > at_) at_ = std::min(text_.find('\n', i), text_.size());
  }

  std::string_view text_;
  size_t at_ = 0;
  std::vector<Level> levels_;
  std::vector<YamlScalar> found_;
};

} // namespace

std::vector<YamlScalar> yaml_scalars(std::string_view text) {
  return Scanner(text).run();
}

} // namespace gpuvet
