#include "cli/facts/page.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

std::string render_lines(const PageSection& section, const TextStyle& style) {
  int label_width = 0;
  for (const auto& [label, text] : section.lines)
    label_width = std::max(label_width, display_width(label));
  std::string out;
  for (const auto& [label, text] : section.lines) {
    std::string space(static_cast<size_t>(label_width + 2 - display_width(label)), ' ');
    int indent = label_width + 2;
    std::string line = label + space + wrap(printable(text), style.width - indent, indent);
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

} // namespace

std::string render_page(const FactsPage& page, const TextStyle& style) {
  Report head;
  head.verdict = page.verdict;
  head.state = page.found ? State::info : State::unknown;
  std::string text = render_terminal(head, style);
  for (const PageSection& section : page.sections) {
    text += "\n";
    if (!section.title.empty()) text += section.title + "\n";
    text += render_lines(section, style);
    if (!section.table.columns.empty()) {
      if (!section.lines.empty()) text += "\n";
      text += render_table(section.table, style);
    }
  }
  Report notes;
  notes.notes = page.notes;
  if (!page.notes.empty()) text += "\n" + render_terminal(notes, style);
  return text;
}

Table make_table(const std::vector<std::string>& titles) {
  Table table;
  for (const std::string& title : titles) {
    bool right = !title.empty() && title[0] == '>';
    table.columns.push_back({right ? title.substr(1) : title, right ? Align::right : Align::left});
  }
  return table;
}

void add_row(Table& table, const std::vector<std::string>& cells) {
  std::vector<Cell> row;
  for (const std::string& cell : cells)
    row.push_back({cell, State::info});
  table.rows.push_back(std::move(row));
}

std::string or_unknown(const std::string& text) {
  return text.empty() ? "not established" : text;
}

std::string lower_case(std::string_view text) {
  std::string out;
  for (char c : text)
    out += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return out;
}

std::string plain_number(double value) {
  return fmt::format("{:.6g}", value);
}

} // namespace gpuvet
