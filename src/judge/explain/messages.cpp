#include "judge/explain/messages.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace gpuvet {
namespace {

// What lines look like that tell of a failure, for texts of which nothing else is known. Compiler
// command lines have "-Werror" in each line, so a bare "error" will not do.
constexpr std::array<std::string_view, 13> kErrorWords = {
    "error:",
    "Error:",
    "ERROR:",
    "fatal:",
    "fatal error",
    "Exception:",
    "FAILED:",
    "core dumped",
    "Aborted (",
    "Segmentation fault",
    "exit code ",
    "CUDA failure",
    "command not found",
};

// "fields" of two matches in one text: a message that says the same.
std::string key_of(const Signature& signature, const std::map<std::string, std::string>& fields) {
  std::string key = signature.id;
  for (const auto& [name, value] : fields)
    key.append(1, '\0').append(name).append(1, '=').append(value);
  return key;
}

TextLine kept_line(std::string_view text, uint64_t number) {
  return {number, std::string(trimmed(text.substr(0, MessageFinder::kLongestKept)))};
}

} // namespace

MessageFinder::MessageFinder(const SignatureTables& tables)
    : tables_(tables), patterns_(tables.signatures.size()) {
  std::map<std::string, std::vector<uint32_t>> owners;
  for (uint32_t i = 0; i < tables.signatures.size(); ++i)
    for (const std::string& literal : tables.signatures[i].literal)
      owners[literal].push_back(i);
  for (std::string_view word : kErrorWords)
    owners[std::string(word)]; // of no signature, unless it has one
  for (auto& [literal, signatures] : owners) {
    literals_.push_back(literal);
    owners_.push_back(std::move(signatures));
  }
  set_.emplace(literals_);
}

std::optional<std::map<std::string, std::string>> MessageFinder::match(size_t signature,
                                                                       std::string_view text) {
  Patterns& patterns = patterns_[signature];
  if (!patterns.compiled) {
    patterns.compiled = true;
    for (const std::string& pattern : tables_.signatures[signature].match)
      if (auto regex = Regex::compile(pattern)) patterns.regexes.push_back(std::move(*regex));
  }
  for (const Regex& regex : patterns.regexes)
    if (auto fields = regex.fields_in(text)) return fields;
  return std::nullopt;
}

void MessageFinder::line(std::string_view text, uint64_t number) {
  std::vector<uint32_t> found = set_->all_in(text);
  if (found.empty()) return;
  std::vector<uint32_t> signatures;
  for (uint32_t literal : found)
    signatures.insert(signatures.end(), owners_[literal].begin(), owners_[literal].end());
  std::sort(signatures.begin(), signatures.end());
  signatures.erase(std::unique(signatures.begin(), signatures.end()), signatures.end());

  // The first row counts, a clue only where nothing else matches.
  std::optional<std::map<std::string, std::string>> fields;
  const Signature* first = nullptr;
  for (uint32_t signature : signatures) {
    if (patterns_[signature].done) continue;
    auto matched = match(signature, text);
    try_done(signature, matched.has_value());
    if (!matched) continue;
    const Signature* row = &tables_.signatures[signature];
    if (auto at = seen_.find(row->id); at == seen_.end())
      seen_.emplace(row->id, kept_line(text, number));
    bool better = first && first->kind == MessageKind::clue && row->kind != MessageKind::clue;
    if (first && !better) continue;
    first = row;
    fields = std::move(matched);
  }
  if (first)
    add(*first, std::move(*fields), text, number);
  else if (signatures.empty())
    note_unknown(text, number);
  if (forget_) forget_literals();
}

void MessageFinder::try_done(uint32_t signature, bool matched) {
  Patterns& patterns = patterns_[signature];
  MessageKind kind = tables_.signatures[signature].kind;
  bool once = kind == MessageKind::clue || kind == MessageKind::benign;
  ++patterns.tries;
  if (!(once && matched) && patterns.tries < (once ? kMostTriesForClue : kMostTries)) return;
  patterns.done = true;
  forget_ = true;
}

// Literals of which all signatures are done.
void MessageFinder::forget_literals() {
  forget_ = false;
  std::vector<std::string> literals;
  std::vector<std::vector<uint32_t>> owners;
  for (size_t i = 0; i < literals_.size(); ++i) {
    const std::vector<uint32_t>& of = owners_[i];
    bool wanted = of.empty() ? unknown_count_ < kMostTries
                             : std::any_of(of.begin(), of.end(), [&](uint32_t signature) {
                                 return !patterns_[signature].done;
                               });
    if (!wanted) continue;
    literals.push_back(std::move(literals_[i]));
    owners.push_back(std::move(owners_[i]));
  }
  if (literals.size() == literals_.size()) {
    literals_ = std::move(literals);
    owners_ = std::move(owners);
    return;
  }
  literals_ = std::move(literals);
  owners_ = std::move(owners);
  set_.emplace(literals_);
  ++changes_;
}

void MessageFinder::add(const Signature& signature, std::map<std::string, std::string> fields,
                        std::string_view text, uint64_t number) {
  std::string key = key_of(signature, fields);
  auto at = index_.find(key);
  if (at == index_.end()) {
    if (messages_.size() >= kMostMessages) return;
    at = index_.emplace(std::move(key), messages_.size()).first;
    messages_.push_back({&signature, std::move(fields), {}, 0, 0});
  }
  Message& message = messages_[at->second];
  if (number <= message.last_line) return; // was given before
  message.last_line = number;
  ++message.count;
  if (message.lines.size() < kLinesKept) message.lines.push_back(kept_line(text, number));
}

std::vector<std::string> MessageFinder::prefilter() const {
  std::vector<std::string> literals;
  for (size_t i = 0; i < literals_.size(); ++i)
    if (literals_[i].size() >= kPrefilterLeast &&
        std::any_of(owners_[i].begin(), owners_[i].end(), [&](uint32_t signature) {
          return tables_.signatures[signature].kind != MessageKind::clue;
        }))
      literals.push_back(literals_[i]);
  return literals;
}

const TextLine* MessageFinder::seen(const std::string& id) const {
  auto at = seen_.find(id);
  return at == seen_.end() ? nullptr : &at->second;
}

void MessageFinder::end() {
  std::stable_sort(messages_.begin(), messages_.end(), [](const Message& a, const Message& b) {
    return a.lines.front().number < b.lines.front().number;
  });
  index_.clear();
}

void MessageFinder::note_unknown(std::string_view text, uint64_t number) {
  if (!unknown_.empty() && number <= unknown_.back().number) return;
  unknown_.push_back(kept_line(text, number));
  if (unknown_.size() > kLinesKept) unknown_.pop_front();
  if (++unknown_count_ == kMostTries) forget_ = true;
}

} // namespace gpuvet
