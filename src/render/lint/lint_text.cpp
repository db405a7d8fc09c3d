#include "render/lint/lint_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace gpuvet {
namespace {

constexpr size_t kShownBefore = 24; // columns before the mark that stay when a line is cut

std::string_view level_name(LintLevel level) {
  constexpr std::array<std::string_view, 3> names = {"note", "warning", "error"};
  return names[static_cast<size_t>(level)];
}

std::string painted(const TextStyle& style, std::string_view colour, const std::string& text) {
  return style.colour ? fmt::format("\x1b[{}m{}\x1b[0m", colour, text) : text;
}

std::string_view colour_of(LintLevel level) {
  constexpr std::array<std::string_view, 3> colours = {"1;36", "1;33", "1;31"};
  return colours[static_cast<size_t>(level)];
}

std::string_view line_of(std::string_view text, uint32_t number) {
  size_t at = 0;
  for (uint32_t line = 1; line < number; ++line) {
    at = text.find('\n', at);
    if (at == text.npos) return {};
    ++at;
  }
  std::string_view line = text.substr(at, text.find('\n', at) - at);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// Text in characters, so that marks stand under what they mean.
std::vector<std::string> characters(std::string_view text) {
  std::vector<std::string> made;
  for (char c : text) {
    if ((static_cast<unsigned char>(c) & 0xc0) == 0x80 && !made.empty())
      made.back() += c;
    else
      made.emplace_back(1, c);
  }
  for (std::string& one : made)
    one = one == "\t" ? " " : printable(one);
  return made;
}

// The line, cut to the width around the mark, and the marks below it.
void put_source(std::string& out, const LintFinding& finding, std::string_view source,
                const TextStyle& style) {
  std::string number = std::to_string(finding.at.line);
  std::string margin(number.size() + 1, ' ');
  std::vector<std::string> line = characters(line_of(source, finding.at.line));
  size_t first = finding.at.column > 0 ? finding.at.column - 1 : 0;
  first = std::min(first, line.size());
  size_t length = std::max<size_t>(1, finding.at.end - finding.at.begin);
  length = std::min(length, std::max<size_t>(1, line.size() - first));
  size_t room = static_cast<size_t>(std::max(style.width, 40)) - margin.size() - 3;
  size_t from = 0;
  if (line.size() > room && first + length > room)
    from = first > kShownBefore ? first - kShownBefore : 0;
  std::string shown = from > 0 ? "..." : "";
  if (from > 0) from += 3;
  size_t to = std::min(line.size(), from + room - shown.size());
  for (size_t i = from; i < to; ++i)
    shown += line[i];
  size_t mark = first - std::min(first, from) + (from > 0 ? 3 : 0);
  length = std::min(length, room > mark ? room - mark : 1);
  std::string bar = painted(style, "1;34", "|");
  out += fmt::format("{}{}\n", margin, bar);
  out += fmt::format("{} {} {}\n", painted(style, "1;34", number), bar, shown);
  std::string marks = std::string(length, '^');
  std::string label = finding.label.empty() ? "" : " " + finding.label;
  if (mark + length + label.size() <= room) {
    out += fmt::format("{}{} {}{}\n", margin, bar, std::string(mark, ' '),
                       painted(style, colour_of(finding.level), marks + label));
    return;
  }
  out += fmt::format("{}{} {}{}\n", margin, bar, std::string(mark, ' '),
                     painted(style, colour_of(finding.level), marks));
  size_t start = std::min(mark, room > label.size() ? room - label.size() : 0);
  if (!label.empty())
    out += fmt::format("{}{} {}{}\n", margin, bar, std::string(start, ' '),
                       painted(style, colour_of(finding.level), label.substr(1)));
}

void put_remark(std::string& out, const std::string& margin, std::string_view word,
                const std::string& text, const TextStyle& style) {
  if (text.empty()) return;
  std::string head = fmt::format("{}= {}: ", margin, word);
  int indent = static_cast<int>(head.size());
  out += head + wrap(printable(text), style.width - indent, indent) + "\n";
}

} // namespace

std::string render_lint(const LintedFile& file, const TextStyle& style) {
  std::string out;
  for (const LintFinding& finding : file.findings) {
    std::string head = fmt::format("{}[{}]", level_name(finding.level), finding.rule);
    std::string title = wrap(head + ": " + printable(finding.message), style.width - 2, 2);
    out += painted(style, colour_of(finding.level), head) + title.substr(head.size()) + "\n";
    std::string margin(std::to_string(finding.at.line).size() + 1, ' ');
    out += fmt::format("{}{} {}:{}:{}\n", margin.substr(1), painted(style, "1;34", "-->"),
                       printable(file.path), finding.at.line, finding.at.column);
    put_source(out, finding, file.text, style);
    put_remark(out, margin, "why", finding.why, style);
    put_remark(out, margin, "help", finding.help, style);
    out += "\n";
  }
  return out;
}

std::string finding_counts(const std::vector<LintedFile>& files) {
  std::array<size_t, 3> counts{};
  for (const LintedFile& file : files)
    for (const LintFinding& finding : file.findings)
      ++counts[static_cast<size_t>(finding.level)];
  std::string made;
  for (LintLevel level : {LintLevel::error, LintLevel::warning, LintLevel::note}) {
    size_t n = counts[static_cast<size_t>(level)];
    if (n == 0) continue;
    if (!made.empty()) made += ", ";
    made += fmt::format("{} {}{}", n, level_name(level), n == 1 ? "" : "s");
  }
  return made.empty() ? "nothing to mend" : made;
}

} // namespace gpuvet
