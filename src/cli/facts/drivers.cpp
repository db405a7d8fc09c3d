#include "cli/facts/page.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

std::string capabilities_text(const ArchitectureEnd& end) {
  return fmt::format("{} ({} to {})", end.architecture, cc_name(end.first_sm),
                     cc_name(end.last_sm));
}

// Architectures that a branch no longer serves, and those that it is the last to serve.
std::vector<std::string> ended(const LoadRules& rules, uint32_t branch, bool last_here) {
  std::vector<std::string> names;
  for (const ArchitectureEnd& end : rules.ends)
    if (last_here ? end.last_branch == branch : end.last_branch < branch)
      names.push_back(capabilities_text(end));
  return names;
}

std::string last_architectures(const LoadRules& rules, uint32_t branch) {
  std::vector<std::string> names;
  for (const ArchitectureEnd& end : rules.ends)
    if (end.last_branch == branch) names.push_back(end.architecture);
  return joined(names, ", ");
}

std::string branch_json(const LoadRules& rules, const DriverBranch& branch) {
  return json_object({{"branch", json_number(branch.branch)},
                      {"cuda", json_text(to_string(branch.cuda))},
                      {"ptx_isa", json_text(to_string(branch.ptx_isa))},
                      {"dropped", json_texts(ended(rules, branch.branch, false))},
                      {"last_for", json_texts(ended(rules, branch.branch, true))},
                      {"confidence", json_text(branch.confidence)},
                      {"note", json_text(branch.note)},
                      {"source", json_text(branch.source)}});
}

FactsPage overview(const LoadRules& rules) {
  FactsPage page;
  page.verdict = fmt::format("{} driver branches, {} to {}.", rules.branches.size(),
                             rules.branches.front().branch, rules.branches.back().branch);
  PageSection section;
  section.table = make_table({">branch", ">CUDA up to", ">PTX ISA up to", "last branch for"});
  std::vector<std::string> rows;
  for (const DriverBranch& branch : rules.branches) {
    add_row(section.table, {std::to_string(branch.branch), to_string(branch.cuda),
                            to_string(branch.ptx_isa), last_architectures(rules, branch.branch)});
    rows.push_back(branch_json(rules, branch));
  }
  page.sections.push_back(std::move(section));
  PageSection floors;
  floors.title = "Minor version compatibility (machine code only)";
  floors.table = make_table({"programs of", "driver at least", "on Windows"});
  for (const MinorFloor& floor : rules.floors)
    add_row(floors.table, {fmt::format("CUDA {}.x", floor.cuda_major), floor.min_linux,
                           or_unknown(floor.min_windows)});
  page.sections.push_back(std::move(floors));
  page.notes = {"one driver: gpuvet facts drivers 535.104.05. Tegra systems get theirs with "
                "JetPack."};
  page.data = {{"branches", json_array(rows)}};
  return page;
}

// Programs of newer toolkits of the same major, by minor version compatibility.
std::string newer_minors(const LoadRules& rules, const DriverBranch& branch,
                         const Version& driver) {
  for (const MinorFloor& floor : rules.floors) {
    if (floor.cuda_major != branch.cuda.major()) continue;
    auto least = parse_version(floor.min_linux);
    bool branch_only = driver.parts.size() < 2;
    std::string text = fmt::format("of CUDA {}.x start, with machine code for the GPU; PTX and "
                                   "newer functions fail",
                                   floor.cuda_major);
    if (least && branch_only && driver.major() == least->major())
      return text + "; from " + floor.min_linux + " on";
    if (least && driver < *least) return "refused: needs " + floor.min_linux + " (error 35)";
    return text;
  }
  return "refused: error 35";
}

FactsPage one_driver(const LoadRules& rules, const DriverBranch& branch, const Version& driver,
                     const std::string& query) {
  FactsPage page;
  std::vector<std::string> dropped = ended(rules, branch.branch, false);
  std::vector<std::string> last = ended(rules, branch.branch, true);
  std::string as_cuda = to_string(branch.cuda);
  page.verdict = fmt::format("driver {}: CUDA up to {}, PTX ISA up to {}", query, as_cuda,
                             to_string(branch.ptx_isa));
  auto& lines = page.sections.emplace_back().lines;
  lines = {
      {"branch", std::to_string(branch.branch)},
      {"CUDA", as_cuda + " and older in full"},
      {"newer minors", newer_minors(rules, branch, driver)},
      {"PTX", to_string(branch.ptx_isa) + " and older; newer PTX gives error 222"},
      {"refuses",
       dropped.empty() ? "no architecture that the branches before served" : joined(dropped, ", ")},
  };
  if (!last.empty()) lines.emplace_back("last for", joined(last, ", "));
  lines.emplace_back("confidence", branch.confidence);
  lines.emplace_back("source", branch.source);
  if (!branch.note.empty()) page.notes.push_back(branch.note);
  page.data = {{"branches", json_array({branch_json(rules, branch)})}};
  return page;
}

// A branch that is not in the table: what its neighbours bound.
FactsPage unknown_driver(const LoadRules& rules, const std::string& query, uint32_t number) {
  FactsPage page;
  page.found = false;
  page.verdict = fmt::format("driver \"{}\" is not in the table: its CUDA version is not "
                             "established.",
                             query);
  const DriverBranch *below = nullptr, *above = nullptr;
  for (const DriverBranch& branch : rules.branches) {
    if (branch.branch < number) below = &branch;
    if (branch.branch > number && !above) above = &branch;
  }
  std::vector<std::string> rows;
  auto& lines = page.sections.emplace_back().lines;
  for (const DriverBranch* branch : {below, above}) {
    if (!branch || number < 100) continue;
    lines.emplace_back(branch == below ? "branch below" : "branch above",
                       fmt::format("{}: CUDA up to {}, PTX ISA up to {}", branch->branch,
                                   to_string(branch->cuda), to_string(branch->ptx_isa)));
    rows.push_back(branch_json(rules, *branch));
  }
  page.notes = {"type a branch such as 535, or a version such as 535.104.05."};
  page.data = {{"neighbours", json_array(rows)}};
  return page;
}

} // namespace

Result<FactsPage> drivers_page(const Facts& facts, const std::string& query) {
  auto rules = facts.load_rules();
  if (!rules) return tl::unexpected<Error>(rules.error());
  if (query.empty()) return overview(**rules);
  auto version = parse_version(query);
  uint32_t number = version ? version->major() : 0;
  for (const DriverBranch& branch : (*rules)->branches)
    if (branch.branch == number) return one_driver(**rules, branch, *version, query);
  return unknown_driver(**rules, query, number);
}

} // namespace gpuvet
