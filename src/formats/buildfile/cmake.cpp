// CMakeLists.txt and *.cmake: commands and their arguments; what a command is inside of (if,
// function) is not followed.
#include "base/text.hpp"
#include "formats/buildfile/readers.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

struct Argument {
  Written value;
  size_t begin = 0, end = 0; // in the file, quotes included
};

struct CMakeCommand {
  std::string name; // lower case
  std::vector<Argument> arguments;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::optional<CMakeCommand> next() {
    CMakeCommand made;
    while (at_ < text_.size()) {
      skip_blanks_and_comments();
      size_t begin = at_;
      while (at_ < text_.size() && is_letter(text_[at_]))
        ++at_;
      if (at_ == begin) {
        ++at_;
        continue;
      }
      std::string name = lower_ascii(text_.substr(begin, at_ - begin));
      while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t'))
        ++at_;
      if (at_ >= text_.size() || text_[at_] != '(') continue;
      ++at_;
      made.name = std::move(name);
      read_arguments(made);
      return made;
    }
    return std::nullopt;
  }

 private:
  static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }

  // [[ ... ]] or [=[ ... ]=] at `at`: where it ends; 0: there is none.
  size_t bracket_end(size_t at, size_t& inner) const {
    if (at >= text_.size() || text_[at] != '[') return 0;
    size_t equals = at + 1;
    while (equals < text_.size() && text_[equals] == '=')
      ++equals;
    if (equals >= text_.size() || text_[equals] != '[') return 0;
    std::string close = "]" + std::string(equals - at - 1, '=') + "]";
    inner = equals + 1;
    size_t found = text_.find(close, inner);
    return found == text_.npos ? text_.size() : found + close.size();
  }

  void skip_blanks_and_comments() {
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (c == '#') {
        size_t inner = 0, end = bracket_end(at_ + 1, inner);
        at_ = end ? end : std::min(text_.find('\n', at_), text_.size());
      } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
        ++at_;
      else
        break;
    }
  }

  void read_arguments(CMakeCommand& command) {
    int depth = 1;
    while (at_ < text_.size() && depth > 0) {
      skip_blanks_and_comments();
      if (at_ >= text_.size()) return;
      char c = text_[at_];
      if (c == '(' || c == ')') {
        depth += c == '(' ? 1 : -1;
        ++at_;
        continue;
      }
      size_t begin = at_, inner = 0;
      Argument made;
      made.begin = begin;
      if (size_t end = bracket_end(at_, inner)) {
        size_t stop = end - std::min(end, inner - begin);
        made.value = {piece(inner, std::max(inner, stop)), true};
        at_ = end;
      } else if (c == '"') {
        quoted(made);
      } else
        plain(made);
      made.end = at_;
      command.arguments.push_back(std::move(made));
    }
  }

  MappedText piece(size_t begin, size_t end) const {
    MappedText made;
    made.add(text_.substr(begin, end - begin), begin);
    return made;
  }

  void quoted(Argument& made) {
    made.value.quoted = true;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;
        if (text_[at_] == '\n') continue;
      }
      made.value.text.add(text_.substr(at_, 1), at_);
    }
    if (made.value.text.from.empty())
      made.value.text.from.push_back(static_cast<uint32_t>(made.begin + 1));
    if (at_ < text_.size()) ++at_;
  }

  void plain(Argument& made) {
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '(' || c == ')' || c == '"')
        break;
      if (c == '\\' && at_ + 1 < text_.size()) ++at_;
      made.value.text.add(text_.substr(at_, 1), at_);
      ++at_;
    }
    if (at_ == made.begin) ++at_;
  }

  std::string_view text_;
  size_t at_ = 0;
};

class Reader {
 public:
  explicit Reader(Collector& found) : found_(found) {}

  void take(const CMakeCommand& command) {
    const auto& list = command.arguments;
    auto text_of = [&](size_t i) -> std::string_view {
      return i < list.size() ? std::string_view(list[i].value.text.text) : std::string_view();
    };
    for (const Argument& argument : list)
      if (argument.value.text.text.find("CMAKE_VERSION") != std::string::npos)
        found_.file.asks_cmake_version = true;
    if (command.name == "set") set(list);
    if (command.name == "cmake_minimum_required" && text_of(0) == "VERSION" && list.size() > 1)
      found_.mention(found_.file.cmakes, text_of(1), list[1].value.text, true);
    if (command.name == "find_package" && text_of(0) == "CUDAToolkit" && list.size() > 1) {
      bool exact = std::any_of(list.begin(), list.end(),
                               [](const Argument& a) { return a.value.text.text == "EXACT"; });
      if (text_of(1).find('.') != std::string_view::npos)
        found_.mention(found_.file.toolkits, text_of(1), list[1].value.text, !exact);
    }
    if (command.name == "list" && text_of(0) == "APPEND" && list.size() > 2)
      if (BuildSetting* setting = found_.variable(text_of(1), joined_from(list, 2, list.size()),
                                                  how("set", list[1].begin, list[1].end)))
        setting->several = true;
    if (command.name == "set_property" || command.name == "set_target_properties") property(list);
    if (command.name == "cuda_select_nvcc_arch_flags" && list.size() > 1)
      found_.variable("cuda_select_nvcc_arch_flags", joined_from(list, 1, list.size()),
                      how(command.name, list[0].begin, list[0].begin));
    if (command.name == "target_compile_options" || command.name == "add_compile_options" ||
        command.name == "target_link_options" || command.name == "list" || command.name == "string")
      options(list);
  }

 private:
  static Collector::How how(std::string_view command, size_t begin, size_t end) {
    return {SettingForm::definition, std::string(command), false, begin, end};
  }

  // Items [first, last) as one list. Where they are written side by side, the value has its ';' in
  // place of the blanks between.
  static Written joined_from(const std::vector<Argument>& list, size_t first, size_t last) {
    Written made;
    made.quoted = true; // nothing cuts a list off here
    for (size_t i = first; i < last; ++i) {
      const MappedText& item = list[i].value.text;
      if (i > first) {
        made.text.text += ';';
        made.text.from.push_back(static_cast<uint32_t>(list[i - 1].end));
      }
      made.text.text += item.text;
      if (!item.text.empty())
        made.text.from.insert(made.text.from.end(), item.from.begin(), item.from.end());
    }
    if (made.text.from.empty() && first < list.size())
      made.text.from.push_back(static_cast<uint32_t>(list[first].begin + 1));
    return made;
  }

  void set(const std::vector<Argument>& list) {
    if (list.size() < 2) return;
    const std::string& name = list[0].value.text.text;
    size_t last = list.size();
    bool cache = false;
    for (size_t i = 1; i < list.size(); ++i) {
      const std::string& word = list[i].value.text.text;
      if (word == "CACHE" || word == "PARENT_SCOPE") {
        cache = word == "CACHE";
        last = i;
        break;
      }
    }
    if (last < 2) return;
    Collector::How where = how("set", list[0].begin, list[0].end);
    where.fallback = cache;
    Written value = joined_from(list, 1, last);
    if (name.starts_with("ENV{") && name.ends_with("}")) {
      where.form = SettingForm::environment;
      found_.variable(std::string_view(name).substr(4, name.size() - 5), value, where);
      return;
    }
    if (!found_.variable(name, value, where) && name.find("FLAGS") != std::string::npos)
      for (size_t i = 1; i < last; ++i)
        found_.flags(list[i].value.text);
  }

  // ... PROPERTIES CUDA_ARCHITECTURES value, or PROPERTY CUDA_ARCHITECTURES values...
  void property(const std::vector<Argument>& list) {
    for (size_t i = 0; i + 1 < list.size(); ++i) {
      if (list[i].value.text.text != "CUDA_ARCHITECTURES") continue;
      bool one = std::none_of(list.begin(), list.end(),
                              [](const Argument& a) { return a.value.text.text == "PROPERTY"; });
      found_.variable("CUDA_ARCHITECTURES", joined_from(list, i + 1, one ? i + 2 : list.size()),
                      how("set_property", list[i].begin, list[i].end));
      return;
    }
  }

  // Compiler options, also inside $<$<COMPILE_LANGUAGE:CUDA>:...>
  void options(const std::vector<Argument>& list) {
    std::vector<Written> words;
    for (const Argument& argument : list) {
      MappedText text = argument.value.text;
      if (size_t colon = text.text.rfind(":-");
          text.text.starts_with("$<") && colon != std::string::npos)
        text = text.part(colon + 1,
                         text.text.ends_with('>') ? text.text.size() - 1 : text.text.size());
      if (text.text.starts_with("SHELL:")) text = text.part(6, text.text.size());
      if (text.text.find("arch") == std::string::npos &&
          text.text.find("code") == std::string::npos)
        continue;
      if (text.text.find(' ') != std::string::npos)
        found_.flags(text);
      else
        words.push_back({std::move(text), true});
    }
    if (!words.empty()) {
      words.insert(words.begin(), Written{});
      words.front().text.text = "options";
      words.front().text.from.assign(7, words[1].text.from.empty() ? 0 : words[1].text.from[0]);
      found_.words(words, {});
    }
  }

  Collector& found_;
};

} // namespace

void read_cmake(std::string_view text, Collector& found) {
  Lexer lexer(text);
  Reader reader(found);
  while (auto command = lexer.next())
    reader.take(*command);
}

} // namespace gpuvet
