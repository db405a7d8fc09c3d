// Which known messages a text has. Lines come one by one; only those that hold a literal of a
// signature cost a regular expression, and a signature's expressions are compiled when one of its
// literals is first seen, so that several hundred signatures cost an ordinary log nothing. What was
// seen often enough is no longer looked for: a clue needs one line, and a literal that a log has in
// each line must not make it slow.
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
  uint64_t last_line = 0;
};

class MessageFinder {
 public:
  explicit MessageFinder(const SignatureTables& tables); // which must outlive this

  // For the prefilter of a long log: long literals of what is still looked for, clues apart. Short
  // ones and clues stand in too many lines; they count where all lines are given, at the beginning
  // and the end of a text. `changes` tells how often the list became shorter.
  std::vector<std::string> prefilter() const;
  uint64_t changes() const { return changes_; }
  static constexpr size_t kPrefilterLeast = 9; // bytes; LiteralSet is fastest from here on

  // A line again, by its number, counts once.
  void line(std::string_view text, uint64_t number);

  void end(); // puts the messages into the order of their first lines
  const std::vector<Message>& messages() const { return messages_; }
  // The first line of each signature that matched, also where another one of the line counts as its
  // message; null: none did.
  const TextLine* seen(const std::string& id) const;
  // The last lines that look like errors and match no signature.
  const std::deque<TextLine>& unknown_errors() const { return unknown_; }

  static constexpr size_t kMostMessages = 200;
  static constexpr size_t kLinesKept = 3;      // of a message, and of unknown errors
  static constexpr size_t kLongestKept = 2048; // bytes of a line
  // Lines with its literal that are held against a signature; clues and benign lines, which need
  // one match, get fewer.
  static constexpr uint64_t kMostTries = 20000, kMostTriesForClue = 2000;

 private:
  struct Patterns {
    std::vector<Regex> regexes;
    bool compiled = false, done = false;
    uint64_t tries = 0;
  };
  std::optional<std::map<std::string, std::string>> match(size_t signature, std::string_view text);
  void add(const Signature& signature, std::map<std::string, std::string> fields,
           std::string_view text, uint64_t number);
  void try_done(uint32_t signature, bool matched);
  void forget_literals();
  void note_unknown(std::string_view text, uint64_t number);

  const SignatureTables& tables_;
  std::vector<std::string> literals_;
  std::vector<std::vector<uint32_t>> owners_; // signatures of each literal; none: an error word
  std::optional<LiteralSet> set_;
  std::vector<Patterns> patterns_; // per signature
  std::vector<Message> messages_;
  std::map<std::string, TextLine> seen_; // by id
  std::map<std::string, size_t> index_;  // signature and fields -> message
  std::deque<TextLine> unknown_;
  uint64_t unknown_count_ = 0, changes_ = 0;
  bool forget_ = false; // some signature is done since the literals were chosen
};

} // namespace gpuvet
