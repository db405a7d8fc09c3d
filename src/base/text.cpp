#include "base/text.hpp"

#include <charconv>

namespace gpuvet {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\v\f";

std::optional<uint64_t> number(std::string_view text, int base) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  auto [stopped, error] = std::from_chars(text.data(), end, value, base);
  if (text.empty() || error != std::errc{} || stopped != end) return std::nullopt;
  return value;
}

} // namespace

std::string_view trimmed(std::string_view text) {
  size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (size_t at = text.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    size_t end = text.find_first_of(kBlanks, at);
    words.emplace_back(text.substr(at, end == std::string_view::npos ? end : end - at));
    at = end == std::string_view::npos ? end : text.find_first_not_of(kBlanks, end);
  }
  return words;
}

std::vector<std::string> split_at(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::pair<std::string, std::string>> key_and_value(std::string_view text,
                                                                 char separator) {
  size_t at = text.find(separator);
  if (at == std::string_view::npos) return std::nullopt;
  return std::pair(std::string(trimmed(text.substr(0, at))),
                   std::string(trimmed(text.substr(at + 1))));
}

std::optional<uint64_t> decimal_number(std::string_view text) {
  return number(text, 10);
}

std::optional<uint64_t> hexadecimal_number(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  return number(text, 16);
}

std::string_view unquoted(std::string_view text) {
  bool quoted = text.size() >= 2 && text.front() == text.back() &&
                (text.front() == '"' || text.front() == '\'');
  return quoted ? text.substr(1, text.size() - 2) : text;
}

bool holds_word(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

std::string lower_ascii(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

} // namespace gpuvet
