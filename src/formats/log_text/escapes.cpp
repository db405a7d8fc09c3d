#include "formats/log_text/escapes.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

constexpr char kEscape = '\x1b';

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

unsigned hex_value(char c) {
  if (c <= '9') return static_cast<unsigned>(c - '0');
  return static_cast<unsigned>((c | 0x20) - 'a') + 10;
}

// Length of "u001b" or "x1b" at the start of text, 0: none; value: what it stands for.
size_t hex_escape(std::string_view text, unsigned& value) {
  size_t digits = text.starts_with('u') ? 4 : text.starts_with('x') ? 2 : 0;
  if (digits == 0 || text.size() < digits + 1) return 0;
  value = 0;
  for (char c : text.substr(1, digits)) {
    if (!is_hex(c)) return 0;
    value = value * 16 + hex_value(c);
  }
  return digits + 1;
}

// Length of the ANSI sequence that begins with the escape character at text[0].
size_t ansi_length(std::string_view text) {
  if (text.size() < 2) return text.size();
  size_t at = 2;
  if (text[1] == '[') { // control sequence: parameters, then one letter
    while (at < text.size() && text[at] >= 0x20 && text[at] < 0x40)
      ++at;
    return std::min(at + 1, text.size());
  }
  if (text[1] == ']') { // title or link, ended by BEL or escape and backslash
    while (at < text.size() && text[at] != '\a' && text[at] != kEscape)
      ++at;
    if (at < text.size() && text[at] == kEscape) ++at;
    return std::min(at + 1, text.size());
  }
  return 2;
}

} // namespace

bool is_escaped(std::string_view line) {
  size_t first = line.find("\\n");
  if (line.find("\\\"") == std::string_view::npos && first == std::string_view::npos) return false;
  size_t begin = line.find_first_not_of(" \t");
  if (begin != std::string_view::npos && std::string_view("{[\"'").find(line[begin]) < 4)
    return true;
  if (line.find("b'") != std::string_view::npos || line.find(": \"") != std::string_view::npos ||
      line.find("\":\"") != std::string_view::npos)
    return true;
  // Two ends of lines, and not the folders of a Windows path: C:\new\nvidia.
  return first != std::string_view::npos && line.find("\\n", first + 2) != std::string_view::npos &&
         line.find(":\\") == std::string_view::npos;
}

void unescape(std::string_view line, std::string& text) {
  text.clear();
  for (size_t at = 0; at < line.size(); ++at) {
    if (line[at] != '\\' || at + 1 == line.size()) {
      text += line[at];
      continue;
    }
    unsigned value = 0;
    char next = line[at + 1];
    if (size_t length = hex_escape(line.substr(at + 1), value)) {
      text += value < 0x80 ? static_cast<char>(value) : '?';
      at += length;
    } else if (next == 'n' || next == 't' || next == 'r') {
      text += next == 't' ? '\t' : '\n';
      ++at;
    } else if (next == '"' || next == '\'' || next == '\\' || next == '/') {
      text += next;
      ++at;
    } else {
      text += line[at];
    }
  }
}

bool without_controls(std::string_view line, std::string& text) {
  auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t'; };
  if (std::none_of(line.begin(), line.end(), control)) return false;
  text.clear();
  for (size_t at = 0; at < line.size(); ++at) {
    if (line[at] == kEscape) {
      at += ansi_length(line.substr(at)) - 1;
    } else if (line[at] == '\b') {
      if (!text.empty()) text.pop_back();
    } else if (!control(line[at])) {
      text += line[at];
    }
  }
  return true;
}

} // namespace gpuvet
