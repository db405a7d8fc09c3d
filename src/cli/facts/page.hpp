// What `gpuvet facts` answers: one page, shown as text or as JSON. The verdict comes first; a page
// that found nothing says what to type instead.
#pragma once

#include "base/text.hpp"
#include "cli/facts/json.hpp"
#include "facts/facts.hpp"
#include "model/report.hpp"
#include "render/terminal.hpp"

#include <string>
#include <utility>
#include <vector>

namespace gpuvet {

// A titled part of a page: lines "label  text", then a table. Either may be empty.
struct PageSection {
  std::string title;
  std::vector<std::pair<std::string, std::string>> lines;
  Table table;
};

struct FactsPage {
  bool found = true; // false: nothing fits, or more than one thing does
  std::string verdict;
  std::vector<PageSection> sections;
  std::vector<std::string> notes;
  JsonFields data; // beside schema, subject, query and verdict
};

std::string render_page(const FactsPage& page, const TextStyle& style);

// Columns from titles; a title that starts with '>' is right-aligned.
Table make_table(const std::vector<std::string>& titles);
void add_row(Table& table, const std::vector<std::string>& cells);

std::string or_unknown(const std::string& text); // "not established" for ""
std::string lower_case(std::string_view text);
std::string plain_number(double value); // "4800", "66.9"

// One page per subject; `query` empty: an overview.
Result<FactsPage> gpus_page(const Facts& facts, const std::string& query, bool features);
Result<FactsPage> toolkits_page(const Facts& facts, const std::string& query);
Result<FactsPage> drivers_page(const Facts& facts, const std::string& query);
Result<FactsPage> errors_page(const Facts& facts, const std::string& query);
Result<FactsPage> frameworks_page(const Facts& facts, const std::string& query);
Result<FactsPage> buildvars_page(const Facts& facts, const std::string& query);

// What a capability brings, appended to a page about it.
Result<bool> add_features(const Facts& facts, uint32_t sm, const Gpu* gpu, FactsPage& page);

} // namespace gpuvet
