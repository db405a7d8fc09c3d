#include "formats/buildfile/shell_words.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

class Lexer {
 public:
  Lexer(std::string_view text, ShellDialect dialect) : text_(text), dialect_(dialect) {}

  std::vector<ShellCommand> run() {
    while (at_ < text_.size())
      step();
    end_word();
    end_command({}, text_.size());
    return std::move(commands_);
  }

 private:
  char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool script() const { return dialect_ != ShellDialect::words; }

  void begin_word() {
    if (in_word_) return;
    in_word_ = true;
    word_ = {};
    word_.begin = at_;
  }

  void put(char c, size_t at) {
    word_.text += c;
    word_.at.push_back(at);
  }

  void end_word() {
    if (!in_word_) return;
    in_word_ = false;
    word_.end = std::min(at_, text_.size());
    if (heredoc_next_) {
      heredocs_.push_back(word_.text);
      heredoc_next_ = false;
    } else if (drop_next_)
      drop_next_ = false;
    else
      command_.words.push_back(std::move(word_));
  }

  void end_command(std::string_view by, size_t at) {
    if (!command_.words.empty()) {
      command_.end = by;
      command_.end_at = at;
      commands_.push_back(std::move(command_));
    }
    command_ = {};
    drop_next_ = false;
  }

  // $NAME, ${...}, $(...): kept as written, up to its end.
  void reference() {
    size_t end = at_ + 1;
    char open = peek(1);
    if (open == '{' || open == '(') {
      char close = open == '{' ? '}' : ')';
      int depth = 0;
      for (; end < text_.size(); ++end) {
        if (text_[end] == open) ++depth;
        if (text_[end] == close && --depth == 0) break;
      }
      end = std::min(end + 1, text_.size());
    }
    while (at_ < end) {
      put(text_[at_], at_);
      ++at_;
    }
  }

  void single_quotes() {
    word_.quoted = true;
    for (++at_; at_ < text_.size() && text_[at_] != '\''; ++at_)
      put(text_[at_] == '$' ? kPlainDollar : text_[at_], at_);
    if (at_ < text_.size()) ++at_;
  }

  void double_quotes() {
    word_.quoted = true;
    for (++at_; at_ < text_.size() && text_[at_] != '"';) {
      char c = text_[at_];
      if (c == '\\' && at_ + 1 < text_.size()) {
        char next = text_[at_ + 1];
        if (next == '\n') {
          at_ += 2;
          continue;
        }
        if (next == '$' || next == '`' || next == '"' || next == '\\') {
          put(next == '$' ? kPlainDollar : next, at_ + 1);
          at_ += 2;
          continue;
        }
      }
      if (c == '$') {
        reference();
        continue;
      }
      put(c, at_);
      ++at_;
    }
    if (at_ < text_.size()) ++at_;
  }

  void skip_heredocs() {
    for (const std::string& end : heredocs_)
      while (at_ < text_.size()) {
        size_t stop = std::min(text_.find('\n', at_), text_.size());
        std::string_view line = trimmed(text_.substr(at_, stop - at_));
        at_ = std::min(stop + 1, text_.size());
        if (line == end) break;
      }
    heredocs_.clear();
  }

  void line_end() {
    end_word();
    end_command("\n", at_);
    ++at_;
    skip_heredocs();
  }

  void redirection() {
    bool out = peek() == '>';
    // The number before it is no word: "2>".
    if (in_word_ && !word_.quoted && decimal_number(word_.text))
      in_word_ = false;
    else
      end_word();
    bool heredoc = peek() == '<' && peek(1) == '<' && peek(2) != '<';
    if (heredoc && dialect_ == ShellDialect::script) {
      at_ += peek(2) == '-' ? 3u : 2u;
      heredoc_next_ = true;
      return;
    }
    while (peek() == '<' || peek() == '>' || peek() == '&' || peek() == '|')
      ++at_;
    drop_next_ = true;
    if (out) command_.to_file = true;
  }

  void operator_mark() {
    end_word();
    size_t begin = at_;
    char c = peek();
    ++at_;
    if ((c == '&' || c == '|' || c == ';') && peek() == c) ++at_;
    end_command(text_.substr(begin, at_ - begin), begin);
  }

  void step() {
    char c = peek();
    if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
      end_word_at_continuation();
      return;
    }
    if (c == '\n' && script()) return line_end();
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      end_word();
      ++at_;
      return;
    }
    if (c == '#' && !in_word_ && dialect_ == ShellDialect::script) {
      at_ = std::min(text_.find('\n', at_), text_.size());
      return;
    }
    if (script() && (c == '<' || c == '>') && peek(1) != '(') return redirection();
    if (script() && (c == ';' || c == '&' || c == '|' || c == '(' || c == ')')) {
      if (c == '&' && peek(1) == '>') {
        ++at_;
        return redirection();
      }
      return operator_mark();
    }
    bool fresh = !in_word_;
    begin_word();
    if (c == '\'' || c == '"') {
      if (fresh) word_.starts_quoted = true;
      return c == '\'' ? single_quotes() : double_quotes();
    }
    if (c == '$') return reference();
    if (c == '\\' && at_ + 1 < text_.size()) {
      word_.quoted = true;
      put(text_[at_ + 1] == '$' ? kPlainDollar : text_[at_ + 1], at_ + 1);
      at_ += 2;
      return;
    }
    put(c, at_);
    ++at_;
  }

  // A word goes on behind a continuation mark, as the shell has it.
  void end_word_at_continuation() { at_ += peek(1) == '\n' ? 2u : 3u; }

  std::string_view text_;
  ShellDialect dialect_;
  size_t at_ = 0;
  bool in_word_ = false, drop_next_ = false, heredoc_next_ = false;
  ShellWord word_;
  ShellCommand command_;
  std::vector<std::string> heredocs_;
  std::vector<ShellCommand> commands_;
};

} // namespace

std::vector<ShellCommand> shell_commands(const MappedText& script, ShellDialect dialect) {
  return Lexer(script.text, dialect).run();
}

} // namespace gpuvet
