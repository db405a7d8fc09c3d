// pyproject.toml, as far as settings go: tables, keys, strings, arrays and inline tables.
#include "base/text.hpp"
#include "formats/buildfile/readers.hpp"

#include <algorithm>
#include <cctype>

namespace gpuvet {
namespace {

bool is_key_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}

class Reader {
 public:
  Reader(std::string_view text, Collector& found) : text_(text), found_(found) {}

  void run() {
    while (at_ < text_.size())
      step();
  }

 private:
  void step() {
    char c = text_[at_];
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '\n') {
      if (depth_ == 0) {
        key_.clear();
        in_value_ = false;
      }
      ++at_;
    } else if (c == '[' && !in_value_ && depth_ == 0) {
      table();
    } else if (c == '"' || c == '\'') {
      string();
    } else if (is_key_letter(c)) {
      word();
    } else {
      if (c == '=') in_value_ = true;
      if (c == '[' || c == '{') ++depth_;
      if ((c == ']' || c == '}') && depth_ > 0) --depth_;
      ++at_;
    }
  }

  // [tool.scikit-build]
  void table() {
    size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string_view line = text_.substr(at_, end - at_);
    size_t first = line.find_first_not_of('['), last = line.find(']');
    if (first != line.npos && last != line.npos && last > first)
      table_ = trimmed(line.substr(first, last - first));
    at_ = end;
  }

  // Is what ends at `end` a key: is there a '=' behind it?
  bool begins_value(size_t end) {
    if (in_value_ && depth_ == 0) return false;
    size_t next = text_.find_first_not_of(" \t", end);
    if (next == text_.npos || text_[next] != '=') return false;
    at_ = next + 1;
    in_value_ = true;
    return true;
  }

  void set_key(size_t begin, size_t end) {
    key_ = text_.substr(begin, end - begin);
    key_begin_ = begin;
    key_end_ = end;
  }

  void word() {
    size_t begin = at_, end = at_;
    while (end < text_.size() && is_key_letter(text_[end]))
      ++end;
    if (begins_value(end))
      set_key(begin, end);
    else
      at_ = end; // a number, a date, true
  }

  void string() {
    std::string close(1, text_[at_]);
    bool escapes = close == "\"";
    if (text_.substr(at_).starts_with(close + close + close)) close = close + close + close;
    size_t first = at_ + close.size();
    Written value;
    value.quoted = true;
    size_t end = first;
    while (end < text_.size() && !text_.substr(end).starts_with(close)) {
      if (text_[end] == '\\' && escapes && end + 1 < text_.size()) ++end;
      value.text.add(text_.substr(end, 1), end);
      ++end;
    }
    if (value.text.from.empty()) value.text.from.push_back(static_cast<uint32_t>(first));
    size_t behind = std::min(end + close.size(), text_.size());
    if (begins_value(behind)) return set_key(first, end);
    if (in_value_) take(value);
    at_ = behind;
  }

  void take(const Written& value) {
    std::string full = table_.empty() ? key_ : table_ + "." + key_;
    auto in_path = [&](std::string_view part) { return full.find(part) != std::string::npos; };
    size_t dot = key_.rfind('.');
    std::string_view name = std::string_view(key_).substr(dot == std::string::npos ? 0 : dot + 1);
    if (in_path("cmake.define"))
      found_.variable(name, value,
                      {SettingForm::definition, "cmake.define", false, key_begin_, key_end_});
    else if (in_path("environment") && name != "environment")
      found_.variable(name, value,
                      {SettingForm::environment, "environment", false, key_begin_, key_end_});
    // cibuildwheel: environment = "NAME=value NAME2='value'", before-build = "a script"
    else if (in_path("environment") || (in_path("cibuildwheel") && in_path("before")))
      found_.script(value.text);
    else if (in_path("cmake.args") || in_path("cmake-args"))
      found_.flags(value.text);
    else if (full == "build-system.requires")
      found_.versions_in(value.text);
  }

  std::string_view text_;
  Collector& found_;
  size_t at_ = 0;
  std::string table_, key_;
  size_t key_begin_ = 0, key_end_ = 0;
  bool in_value_ = false;
  int depth_ = 0;
};

} // namespace

void read_toml_settings(std::string_view text, Collector& found) {
  Reader(text, found).run();
}

} // namespace gpuvet
