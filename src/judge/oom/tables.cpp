#include "judge/oom/tables.hpp"

#include "base/text.hpp"
#include "judge/oom/amount.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

constexpr size_t kMostTables = 512;
constexpr uint64_t kTableLines = 80; // a table has about 45 lines

constexpr std::string_view kTitle = "memory summary, device ID ";

// The number after `word`, as in "CUDA OOMs: 3".
std::optional<uint64_t> number_after(std::string_view line, std::string_view word) {
  size_t at = line.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = trimmed(line.substr(at + word.size()));
  return decimal_number(rest.substr(0, rest.find_first_not_of("0123456789")));
}

OomAmount cell(const OomTables& rows, std::string_view text, uint64_t number) {
  OomAmount made = parse_amount(text, "", rows.units);
  made.line = number;
  return made;
}

} // namespace

void take_table_line(const OomTables& rows, std::string_view line, uint64_t number,
                     std::vector<OomTable>& tables) {
  if (size_t at = line.find(kTitle); at != std::string_view::npos) {
    if (tables.size() >= kMostTables) return;
    OomTable table;
    table.line = number;
    const std::string_view rest = line.substr(at + kTitle.size());
    table.device = std::string(rest.substr(0, rest.find_first_not_of("0123456789")));
    tables.push_back(std::move(table));
    return;
  }
  if (tables.empty() || number - tables.back().line > kTableLines) return;
  OomTable& table = tables.back();
  if (auto failures = number_after(line, "CUDA OOMs:"); failures && !table.failures) {
    table.failures = failures;
    table.retries = number_after(line, "cudaMalloc retries:");
    return;
  }
  const size_t bar = line.find('|');
  if (bar == std::string_view::npos) return;
  const std::vector<std::string> cells = split_at(line.substr(bar + 1), '|');
  if (cells.size() < 3) return;
  const std::string title(trimmed(cells[0]));
  auto is = [&](const OomTableRow& row) { return row.title == title; };
  auto row = std::find_if(rows.table_rows.begin(), rows.table_rows.end(), is);
  if (row == rows.table_rows.end() || table.now.count(row->meaning)) return;
  table.now[row->meaning] = cell(rows, cells[1], number);
  table.peak[row->meaning] = cell(rows, cells[2], number);
}

} // namespace gpuvet
