// setup.py and other Python that builds: assignments to os.environ, defaults of os.environ.get, and
// strings that are compiler or CMake options. Strings that are documentation are none of these.
#include "base/text.hpp"
#include "formats/buildfile/readers.hpp"

#include <algorithm>
#include <cctype>

namespace gpuvet {
namespace {

struct Token {
  enum class Kind : uint8_t { word, text, mark, line_end } kind = Kind::mark;
  std::string text; // of a word or mark
  Written value;    // of a string
  bool formatted = false, statement = false;
  size_t begin = 0, end = 0;
};

bool is_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    while (at_ < text_.size())
      step();
    return std::move(tokens_);
  }

 private:
  void push(Token token) {
    fresh_line_ = token.kind == Token::Kind::line_end;
    tokens_.push_back(std::move(token));
  }

  void step() {
    char c = text_[at_];
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
      return;
    }
    if (c == '\\' && at_ + 1 < text_.size()) {
      at_ += 2;
      return;
    }
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      if (c == '\n' && depth_ == 0 && !fresh_line_)
        push({Token::Kind::line_end, "\n", {}, false, false, at_, at_ + 1});
      ++at_;
      return;
    }
    if (c == '"' || c == '\'') return string("");
    if (is_letter(c)) {
      size_t begin = at_;
      while (at_ < text_.size() && is_letter(text_[at_]))
        ++at_;
      std::string_view word = text_.substr(begin, at_ - begin);
      if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'') && word.size() <= 2)
        return string(word);
      push({Token::Kind::word, std::string(word), {}, false, false, begin, at_});
      return;
    }
    if (c == '(' || c == '[' || c == '{') ++depth_;
    if ((c == ')' || c == ']' || c == '}') && depth_ > 0) --depth_;
    push({Token::Kind::mark, std::string(1, c), {}, false, false, at_, at_ + 1});
    ++at_;
  }

  void string(std::string_view prefix) {
    Token made;
    made.kind = Token::Kind::text;
    made.begin = at_;
    made.statement = fresh_line_;
    made.formatted = prefix.find_first_of("fF") != prefix.npos;
    bool raw = prefix.find_first_of("rR") != prefix.npos;
    std::string close(1, text_[at_]);
    if (text_.substr(at_).starts_with(close + close + close)) close = close + close + close;
    at_ += close.size();
    size_t begin = at_;
    while (at_ < text_.size() && !text_.substr(at_).starts_with(close)) {
      if (text_[at_] == '\n' && close.size() == 1) break; // not closed
      if (text_[at_] == '\\' && !raw && at_ + 1 < text_.size()) ++at_;
      made.value.text.add(text_.substr(at_, 1), at_);
      ++at_;
    }
    at_ = std::min(at_ + close.size(), text_.size());
    if (made.value.text.from.empty()) made.value.text.from.push_back(static_cast<uint32_t>(begin));
    made.value.quoted = true;
    made.end = at_;
    // A '$' in Python means nothing; a formatted or %-string is not known as a whole.
    std::string& text = made.value.text.text;
    std::replace(text.begin(), text.end(), '$', kPlainDollar);
    if (made.formatted && text.find('{') != std::string::npos)
      std::replace(text.begin(), text.end(), '{', '$');
    if (text.find("{}") != std::string::npos || text.find("%s") != std::string::npos ||
        text.find("%d") != std::string::npos) {
      std::replace(text.begin(), text.end(), '{', '$');
      std::replace(text.begin(), text.end(), '%', '$');
    }
    push(std::move(made));
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  bool fresh_line_ = true;
  std::vector<Token> tokens_;
};

class Reader {
 public:
  Reader(std::vector<Token> tokens, Collector& found) : tokens_(std::move(tokens)), found_(found) {}

  void run() {
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].kind == Token::Kind::text) string(i);
      if (tokens_[i].kind == Token::Kind::word) word(i);
    }
  }

 private:
  bool is(size_t i, std::string_view mark) const {
    return i < tokens_.size() && tokens_[i].kind != Token::Kind::text && tokens_[i].text == mark;
  }
  bool is_text(size_t i) const {
    return i < tokens_.size() && tokens_[i].kind == Token::Kind::text;
  }
  // A string that is an operand ("%", "+", ".format") is not known.
  bool stands_alone(size_t i) const {
    auto joins = [&](size_t k) {
      return is(k, "+") || is(k, "%") || is_text(k) ||
             (k < tokens_.size() && tokens_[k].kind == Token::Kind::word &&
              tokens_[k].text.starts_with('.'));
    };
    return !joins(i + 1) && (i == 0 || !(is(i - 1, "+") || is_text(i - 1)));
  }

  void assign(size_t name, size_t value, bool fallback) {
    const Written& key = tokens_[name].value;
    if (!is_text(value) || !stands_alone(value)) return;
    if (!found_.variable(key.text.text, tokens_[value].value,
                         {SettingForm::environment, "os.environ", fallback, key.text.offset(0),
                          key.text.offset(key.text.text.size())}))
      found_.flags(tokens_[value].value.text);
  }

  void word(size_t i) {
    const std::string& text = tokens_[i].text;
    if (text == "os.environ" || text == "environ") { // ["NAME"] = "value"
      if (is(i + 1, "[") && is_text(i + 2) && is(i + 3, "]") && is(i + 4, "=") && !is(i + 5, "="))
        assign(i + 2, i + 5, false);
      return;
    }
    bool setdefault = text.ends_with("environ.setdefault");
    if (setdefault || text.ends_with("environ.get") || text.ends_with("getenv")) {
      if (!is(i + 1, "(") || !is_text(i + 2)) return;
      if (is(i + 3, ",") && is(i + 5, ")")) assign(i + 2, i + 4, true);
      for (size_t k = i + 2; k < std::min(i + 5, tokens_.size()); ++k)
        taken_ = k;
    }
  }

  // Options in lists: "-gencode", "arch=compute_80,code=sm_80", or in one string.
  void string(size_t i) {
    const Token& token = tokens_[i];
    if (token.statement || i <= taken_) return;
    const std::string& text = token.value.text.text;
    if (!stands_alone(i) || text.size() > 2000 || text.find('\n') != std::string::npos) return;
    bool pair = text == "-gencode" || text == "--generate-code" || text == "-D";
    if (pair) {
      if (is(i + 1, ",") && is_text(i + 2) && stands_alone(i + 2)) {
        found_.words({command(token), token.value, tokens_[i + 2].value}, {});
        taken_ = i + 2;
      }
      return;
    }
    bool optional = text.starts_with("-gencode") || text.starts_with("--generate-code") ||
                    text.starts_with("-arch=sm_") || text.starts_with("-arch=compute_") ||
                    text.starts_with("--gpu-architecture=") ||
                    text.starts_with("-DCMAKE_CUDA_ARCHITECTURES") ||
                    text.starts_with("-DCUDA_ARCH");
    if (!optional) return;
    // In a list of arguments nothing splits it at ';'.
    if (text.find(' ') == std::string::npos)
      found_.words({command(token), token.value}, {});
    else
      found_.flags(token.value.text);
  }

  static Written command(const Token& token) {
    Written made;
    made.text.text = "options";
    made.text.from.assign(7, static_cast<uint32_t>(token.begin));
    return made;
  }

  std::vector<Token> tokens_;
  Collector& found_;
  size_t taken_ = 0;
};

} // namespace

void read_python(std::string_view text, Collector& found) {
  Reader(Lexer(text).run(), found).run();
}

} // namespace gpuvet
