// Which known messages a text has. Lines come one by one; only those that hold a literal of a
// signature cost a regular expression, and a signature's expressions are compiled when one of its
// literals is first seen, so that several hundred signatures cost an ordinary log nothing.
#pragma once

#include "base/literal_set.hpp"
#include "base/regex.hpp"
#include "facts/signatures/signatures.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

struct TextLine {
  uint64_t number = 0; // from 1
  std::string text;
};

// A signature with the same words, however often.
struct Message {
  const Signature* signature = nullptr;
  std::map<std::string, std::string> fields; // named groups of the first match
  std::vector<TextLine> lines;               // the first few
  uint64_t count = 0;
  std::vector<const Signature*> also; // further signatures that match the first line
};

class MessageFinder {
 public:
  explicit MessageFinder(const SignatureTables& tables); // which must outlive this

  // For the prefilter of the log reader: a line without any of these has nothing to find.
  const std::vector<std::string>& literals() const { return literals_; }

  void line(std::string_view text, uint64_t number);

  const std::vector<Message>& messages() const { return messages_; } // by first line
  // The last lines that look like errors and match no signature.
  const std::deque<TextLine>& unknown_errors() const { return unknown_; }

  static constexpr size_t kMostMessages = 200;
  static constexpr size_t kLinesKept = 3;      // of a message, and of unknown errors
  static constexpr size_t kLongestKept = 2048; // bytes of a line

 private:
  struct Patterns {
    std::vector<Regex> regexes;
    bool compiled = false;
  };
  std::optional<std::map<std::string, std::string>> match(size_t signature, std::string_view text);
  void add(const Signature& signature, std::map<std::string, std::string> fields,
           std::vector<const Signature*> also, std::string_view text, uint64_t number);
  void note_unknown(std::string_view text, uint64_t number);

  const SignatureTables& tables_;
  std::vector<std::string> literals_;
  std::vector<std::vector<uint32_t>> owners_; // signatures of each literal; none: an error word
  std::optional<LiteralSet> set_;
  std::vector<Patterns> patterns_; // per signature
  std::vector<Message> messages_;
  std::map<std::string, size_t> index_; // signature and fields -> message
  std::deque<TextLine> unknown_;
};

} // namespace gpuvet
