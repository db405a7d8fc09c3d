#include "render/terminal.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace gpuvet {
namespace {

constexpr std::string_view kGap = "  ";
constexpr int kLeastPath = 12; // columns that a shortened first column keeps

std::string_view colour_of(State state) {
  switch (state) {
  case State::ok:
    return "\x1b[32m";
  case State::warning:
    return "\x1b[33m";
  case State::fault:
    return "\x1b[31m";
  case State::unknown:
    return "\x1b[35m";
  case State::info:
  case State::not_applicable:
  case State::skipped:
    break;
  }
  return "";
}

std::string painted(std::string text, State state, const TextStyle& style) {
  std::string_view colour = style.colour ? colour_of(state) : "";
  if (colour.empty() || text.empty()) return text;
  return std::string(colour) + text + "\x1b[0m";
}

std::string bold(const std::string& text, const TextStyle& style) {
  return style.colour && !text.empty() ? "\x1b[1m" + text + "\x1b[0m" : text;
}

std::vector<int> column_widths(const Table& table) {
  std::vector<int> widths;
  for (const Column& column : table.columns)
    widths.push_back(display_width(column.title));
  for (const auto& row : table.rows)
    for (size_t i = 0; i < row.size() && i < widths.size(); ++i)
      widths[i] = std::max(widths[i], display_width(printable(row[i].text)));
  return widths;
}

std::string padded(const std::string& shown, int taken, int width, Align align) {
  std::string space(static_cast<size_t>(std::max(0, width - taken)), ' ');
  return align == Align::right ? space + shown : shown + space;
}

void trim_right(std::string& line) {
  line.erase(line.find_last_not_of(' ') + 1);
}

// Cells of a wrapped column go on below themselves.
std::string wrapped_cell(const std::string& text, const std::vector<int>& widths, size_t column,
                         const TextStyle& style) {
  int before = 0;
  for (size_t i = 0; i < column; ++i)
    before += widths[i] + static_cast<int>(kGap.size());
  return wrap(text, style.width - before, before);
}

std::string table_line(const Table& table, const std::vector<int>& widths,
                       const std::vector<Cell>& cells, bool header, const TextStyle& style) {
  std::string line;
  for (size_t i = 0; i < widths.size(); ++i) {
    if (i) line += kGap;
    std::string text = i < cells.size() ? printable(cells[i].text) : std::string();
    if (i == 0) text = shorten_left(text, widths[0]);
    if (table.columns[i].wraps) text = wrapped_cell(text, widths, i, style);
    int taken = display_width(text);
    text = header ? bold(text, style)
                  : painted(text, i < cells.size() ? cells[i].state : State::info, style);
    line += padded(text, taken, widths[i], table.columns[i].align);
  }
  trim_right(line);
  return line + "\n";
}

std::string render_finding(const Finding& finding, const TextStyle& style) {
  std::string text = painted(wrap(printable(finding.title), style.width, 4), finding.state, style);
  text += "\n";
  for (const std::string& line : finding.evidence)
    text += "    " + wrap(printable(line), style.width - 4, 6) + "\n";
  if (!finding.cause.empty())
    text += "  why:  " + wrap(printable(finding.cause), style.width - 8, 8) + "\n";
  for (const std::string& fix : finding.fixes)
    text += "  mend: " + wrap(printable(fix), style.width - 8, 8) + "\n";
  return text;
}

} // namespace

int display_width(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string printable(std::string_view text) {
  std::string out;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  return out;
}

std::string shorten_left(std::string_view text, int width) {
  if (display_width(text) <= width) return std::string(text);
  size_t at = text.size();
  for (int left = std::max(1, width - 3); at > 0 && left > 0;) {
    --at;
    if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80) --left;
  }
  return "..." + std::string(text.substr(at));
}

std::string wrap(std::string_view text, int width, int indent) {
  std::string out;
  int room = std::max(20, width), used = 0;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find(' ', at), text.size());
    std::string_view word = text.substr(at, end - at);
    int length = display_width(word);
    if (used > 0 && used + 1 + length > room) {
      out += "\n" + std::string(static_cast<size_t>(indent), ' ');
      used = 0;
    }
    if (used > 0) {
      out += ' ';
      ++used;
    }
    out += word;
    used += length;
    at = end + 1;
  }
  return out;
}

std::string render_table(const Table& table, const TextStyle& style) {
  if (table.columns.empty()) return {};
  std::vector<int> widths = column_widths(table);
  int total = std::accumulate(widths.begin(), widths.end(), 0) +
              static_cast<int>(kGap.size() * (widths.size() - 1));
  if (total > style.width && !table.columns.back().wraps)
    widths[0] = std::max(kLeastPath, widths[0] - (total - style.width));
  std::vector<Cell> titles;
  for (const Column& column : table.columns)
    titles.push_back({column.title, State::info});
  bool titled = std::any_of(titles.begin(), titles.end(),
                            [](const Cell& cell) { return !cell.text.empty(); });
  std::string text = titled ? table_line(table, widths, titles, true, style) : "";
  for (const auto& row : table.rows)
    text += table_line(table, widths, row, false, style);
  return text;
}

std::string render_terminal(const Report& report, const TextStyle& style) {
  std::string text;
  auto part = [&](const std::string& more) {
    if (more.empty()) return;
    if (!text.empty()) text += "\n";
    text += more;
  };
  if (!report.verdict.empty())
    part(
        bold(painted(wrap(printable(report.verdict), style.width, 0), report.state, style), style) +
        "\n");
  for (const Table& table : report.tables)
    part(render_table(table, style));
  for (const Finding& finding : report.findings)
    part(render_finding(finding, style));
  for (const Table& table : report.closing)
    part(render_table(table, style));
  std::string notes;
  for (const std::string& note : report.notes)
    notes += "note: " + wrap(printable(note), style.width - 6, 6) + "\n";
  part(notes);
  return text;
}

} // namespace gpuvet
