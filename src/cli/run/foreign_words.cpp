#include "cli/run/foreign_words.hpp"

namespace gpuvet {

std::vector<std::string> with_foreign_words(int argc, const char* const* argv) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i)
    words.emplace_back(argv[i]);
  size_t at = 0;
  while (at < words.size() && words[at].starts_with('-'))
    at += words[at] == "--facts" ? size_t{2} : size_t{1}; // which has a value
  if (at >= words.size() || words[at] != "run") return words;
  ++at;
  while (at < words.size() && words[at].starts_with('-') && words[at] != "--")
    ++at; // options of run
  if (at < words.size() && words[at] == "--") words.erase(words.begin() + static_cast<long>(at));
  for (; at < words.size(); ++at)
    words[at].insert(0, 1, kForeignMark);
  return words;
}

std::string plain_word(std::string_view word) {
  if (word.starts_with(kForeignMark)) word.remove_prefix(1);
  return std::string(word);
}

} // namespace gpuvet
