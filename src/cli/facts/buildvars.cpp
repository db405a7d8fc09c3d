#include "cli/facts/page.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

struct BuildFacts {
  const std::vector<BuildVariable>& tools;
  const std::vector<WrongVariable>& wrong;
  const std::vector<CMakeFeature>& cmake;
  const std::vector<ArchSpelling>& spellings;
};

std::string tool_json(const BuildVariable& tool) {
  return json_object({{"tool", json_text(tool.tool)},
                      {"variables", json_texts(tool.variables)},
                      {"number_format", json_text(tool.number_format)},
                      {"separator", json_text(tool.separator)},
                      {"ptx", json_text(tool.ptx_syntax)},
                      {"keywords", json_texts(tool.keywords)},
                      {"example", json_text(tool.example)},
                      {"since", json_text(tool.since)},
                      {"gotchas", json_texts(tool.gotchas)},
                      {"confidence", json_text(tool.confidence)},
                      {"sources", json_texts(tool.sources)}});
}

std::string wrong_json(const WrongVariable& wrong) {
  return json_object({{"name", json_text(wrong.name)},
                      {"truth", json_text(wrong.truth)},
                      {"use", json_texts(wrong.use)},
                      {"seen_in", json_text(wrong.seen_in)},
                      {"source", json_text(wrong.source)}});
}

PageSection spellings_section(const std::vector<ArchSpelling>& spellings) {
  PageSection section;
  section.title = "The same target in different tools";
  section.table = make_table({"target", "CMake", "PyTorch", "TensorFlow", "Spack"});
  auto shown = [](const std::string& text) { return text.empty() ? "-" : text; };
  for (const ArchSpelling& s : spellings)
    add_row(section.table,
            {s.meaning, shown(s.cmake), shown(s.torch), shown(s.tensorflow), shown(s.spack)});
  return section;
}

FactsPage overview(const BuildFacts& facts) {
  FactsPage page;
  page.verdict =
      fmt::format("{} build systems and how each is told the GPU targets.", facts.tools.size());
  PageSection section;
  section.table = make_table({"tool", "variable or option"});
  std::vector<std::string> rows, wrong;
  for (const BuildVariable& tool : facts.tools) {
    constexpr size_t room = 46;
    std::string names = joined(tool.variables, ", ");
    if (names.size() > room) names = tool.variables[0] + ", ...";
    add_row(section.table, {tool.tool, names});
    rows.push_back(tool_json(tool));
  }
  page.sections.push_back(std::move(section));
  page.sections.push_back(spellings_section(facts.spellings));
  for (const WrongVariable& variable : facts.wrong) {
    page.notes.push_back(
        fmt::format("{} does not exist: use {}.", variable.name, joined(variable.use, " or ")));
    wrong.push_back(wrong_json(variable));
  }
  page.notes.push_back("one tool with what goes wrong: gpuvet facts buildvars cmake.");
  page.data = {{"tools", json_array(rows)}, {"not_existing", json_array(wrong)}};
  return page;
}

// A variable that does not exist is an answer: it says what to use.
FactsPage correction(const BuildFacts& facts, const WrongVariable& wrong) {
  FactsPage page;
  page.verdict = fmt::format("{} does not exist: use {}.", wrong.name, joined(wrong.use, " or "));
  auto& lines = page.sections.emplace_back().lines;
  lines = {{"truth", wrong.truth}};
  if (!wrong.seen_in.empty()) lines.emplace_back("seen in", wrong.seen_in);
  for (const BuildVariable& tool : facts.tools)
    if (tool.variables == wrong.use) lines.emplace_back("example", tool.example);
  lines.emplace_back("source", wrong.source);
  page.data = {{"not_existing", json_array({wrong_json(wrong)})}};
  return page;
}

void add_cmake(const std::vector<CMakeFeature>& features, FactsPage& page) {
  PageSection section;
  section.title = "What a CMake version brought";
  section.table = make_table({"feature", "since", "remark"});
  std::vector<std::string> rows;
  for (const CMakeFeature& f : features) {
    std::string note = f.note;
    add_row(section.table, {f.feature, joined(f.versions, ", "), note.substr(0, note.find(';'))});
    rows.push_back(json_object({{"feature", json_text(f.feature)},
                                {"since", json_texts(f.versions)},
                                {"note", json_text(f.note)},
                                {"source", json_text(f.source)}}));
  }
  page.sections.push_back(std::move(section));
  page.data.emplace_back("cmake", json_array(rows));
}

FactsPage one_tool(const BuildFacts& facts, const BuildVariable& tool) {
  FactsPage page;
  page.verdict = fmt::format("{}: {}", tool.tool, joined(tool.variables, ", "));
  auto& lines = page.sections.emplace_back().lines;
  lines = {{"example", tool.example}, {"targets as", or_unknown(tool.number_format)}};
  if (!tool.separator.empty()) lines.emplace_back("separated by", tool.separator);
  lines.emplace_back("PTX", tool.ptx_syntax.empty() ? "cannot be asked for" : tool.ptx_syntax);
  if (!tool.keywords.empty()) lines.emplace_back("keywords", joined(tool.keywords, ", "));
  lines.emplace_back("since", or_unknown(tool.since));
  for (const std::string& gotcha : tool.gotchas)
    lines.emplace_back(gotcha == tool.gotchas.front() ? "mind" : "", gotcha);
  lines.emplace_back("confidence", tool.confidence);
  lines.emplace_back("sources", joined(tool.sources, "; "));
  page.data = {{"tools", json_array({tool_json(tool)})}};
  if (tool.tool.starts_with("CMake (CUDA")) add_cmake(facts.cmake, page);
  return page;
}

FactsPage several(const std::vector<const BuildVariable*>& tools, const std::string& query) {
  FactsPage page;
  page.verdict = fmt::format("\"{}\" fits {} build systems:", query, tools.size());
  PageSection section;
  section.table = make_table({"tool", "example"});
  std::vector<std::string> rows;
  for (const BuildVariable* tool : tools) {
    section.lines.emplace_back(tool->tool, tool->example);
    rows.push_back(tool_json(*tool));
  }
  section.table = {};
  page.sections.push_back(std::move(section));
  page.notes = {"type the whole name to see one in full."};
  page.data = {{"tools", json_array(rows)}};
  return page;
}

bool has_variable(const BuildVariable& tool, const std::string& key) {
  return std::any_of(tool.variables.begin(), tool.variables.end(),
                     [&](const std::string& name) { return normalised_name(name) == key; });
}

std::vector<const BuildVariable*> matching(const BuildFacts& facts, const std::string& query) {
  std::string key = normalised_name(query);
  std::vector<const BuildVariable*> exact, variable, start, part;
  for (const BuildVariable& tool : facts.tools) {
    std::string name = normalised_name(tool.tool);
    if (name == key) exact.push_back(&tool);
    if (has_variable(tool, key)) variable.push_back(&tool);
    if (name.starts_with(key)) start.push_back(&tool);
    if (name.find(key) != std::string::npos) part.push_back(&tool);
  }
  for (auto* found : {&exact, &variable, &start})
    if (!found->empty()) return *found;
  return part;
}

FactsPage none(const BuildFacts& facts, const std::string& query) {
  FactsPage page;
  page.found = false;
  page.verdict = fmt::format("no build system or variable is known as \"{}\".", query);
  std::vector<std::string> names;
  for (const BuildVariable& tool : facts.tools)
    names.push_back(tool.tool);
  page.notes = {"known: " + joined(names, ", ")};
  page.data = {{"known", json_texts(names)}};
  return page;
}

} // namespace

Result<FactsPage> buildvars_page(const Facts& facts, const std::string& query) {
  auto tools = facts.buildvars();
  if (!tools) return tl::unexpected<Error>(tools.error());
  auto wrong = facts.wrong_variables();
  if (!wrong) return tl::unexpected<Error>(wrong.error());
  auto cmake = facts.cmake_features();
  if (!cmake) return tl::unexpected<Error>(cmake.error());
  auto spellings = facts.arch_spellings();
  if (!spellings) return tl::unexpected<Error>(spellings.error());
  BuildFacts known{**tools, **wrong, **cmake, **spellings};

  if (query.empty()) return overview(known);
  std::string key = normalised_name(query);
  if (key.empty()) return none(known, query);
  for (const WrongVariable& variable : known.wrong)
    if (normalised_name(variable.name) == key) return correction(known, variable);
  std::vector<const BuildVariable*> found = matching(known, query);
  if (found.empty()) return none(known, query);
  // "cmake" means the language support, not the legacy module or the environment variable.
  auto language = std::find_if(found.begin(), found.end(), [](const BuildVariable* tool) {
    return tool->tool == "CMake (CUDA language)";
  });
  if (key == "cmake" && language != found.end()) return one_tool(known, **language);
  if (found.size() == 1) return one_tool(known, *found[0]);
  return several(found, query);
}

} // namespace gpuvet
