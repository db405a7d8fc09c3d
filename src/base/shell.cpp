#include "base/shell.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

bool is_plain(char c) {
  bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return letter || std::string_view("_@%+=:,./-").find(c) != std::string_view::npos;
}

} // namespace

std::string shell_word(std::string_view text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  std::string word = "'";
  for (char c : text) {
    if (c == '\'')
      word += "'\\''";
    else if (c != '\0')
      word += c;
  }
  return word + "'";
}

std::string shell_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : " ") + shell_word(word);
  return text;
}

} // namespace gpuvet
