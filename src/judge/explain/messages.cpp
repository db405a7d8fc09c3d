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

  std::optional<std::map<std::string, std::string>> fields;
  const Signature* first = nullptr;
  std::vector<const Signature*> also;
  for (uint32_t signature : signatures) {
    auto matched = match(signature, text);
    if (!matched) continue;
    const Signature* row = &tables_.signatures[signature];
    if (first) {
      also.push_back(row);
    } else {
      first = row;
      fields = std::move(matched);
    }
  }
  if (first)
    add(*first, std::move(*fields), std::move(also), text, number);
  else if (signatures.empty())
    note_unknown(text, number);
}

void MessageFinder::add(const Signature& signature, std::map<std::string, std::string> fields,
                        std::vector<const Signature*> also, std::string_view text,
                        uint64_t number) {
  std::string key = key_of(signature, fields);
  auto at = index_.find(key);
  if (at == index_.end()) {
    if (messages_.size() >= kMostMessages) return;
    at = index_.emplace(std::move(key), messages_.size()).first;
    messages_.push_back({&signature, std::move(fields), {}, 0, std::move(also)});
  }
  Message& message = messages_[at->second];
  ++message.count;
  if (message.lines.size() < kLinesKept)
    message.lines.push_back({number, std::string(trimmed(text.substr(0, kLongestKept)))});
}

void MessageFinder::note_unknown(std::string_view text, uint64_t number) {
  unknown_.push_back({number, std::string(trimmed(text.substr(0, kLongestKept)))});
  if (unknown_.size() > kLinesKept) unknown_.pop_front();
}

} // namespace gpuvet
