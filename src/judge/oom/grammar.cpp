#include "judge/oom/grammar.hpp"

namespace gpuvet {
namespace {

// Where patterns say {size} and {number}.
constexpr std::string_view kNumber = "-?[0-9][0-9.,_]*";
constexpr std::string_view kSize = "-?[0-9][0-9.,_]* ?(?:bytes|byte|[KMGTPE]iB|[kKMGT]B|B)\\b";

std::string filled(std::string pattern) {
  for (const auto& [name, text] : {std::pair{std::string_view("{size}"), kSize},
                                   std::pair{std::string_view("{number}"), kNumber}})
    for (size_t at = pattern.find(name); at != std::string::npos;
         at = pattern.find(name, at + text.size()))
      pattern.replace(at, name.size(), text);
  return pattern;
}

// Names of the capturing groups by their numbers; number 0 is the whole match.
std::vector<std::string> group_names(std::string_view pattern) {
  std::vector<std::string> names(1);
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\') {
      ++i;
    } else if (in_class) {
      in_class = pattern[i] != ']';
    } else if (pattern[i] == '[') {
      in_class = true;
      if (i + 1 < pattern.size() && pattern[i + 1] == '^') ++i;
      if (i + 1 < pattern.size() && pattern[i + 1] == ']') ++i; // stands for itself
    } else if (pattern[i] == '(' && pattern.substr(i, 4) == "(?P<") {
      const size_t end = pattern.find('>', i);
      names.emplace_back(pattern.substr(i + 4, end - i - 4));
    } else if (pattern[i] == '(' && pattern.substr(i, 2) != "(?") {
      names.emplace_back();
    }
  }
  return names;
}

std::optional<Error> add(std::vector<OomPattern>& list, const std::string& pattern,
                         const std::string& literal) {
  auto made = OomPattern::compile(pattern, literal);
  if (!made) return made.error();
  list.push_back(std::move(*made));
  return std::nullopt;
}

std::optional<Error> add_openings(const OomTables& tables, OomGrammar& grammar) {
  std::vector<const std::string*> texts;
  for (size_t i = 0; i < tables.templates.size(); ++i) {
    const OomTemplate& row = tables.templates[i];
    size_t at = 0;
    while (at < texts.size() && *texts[at] != row.opening)
      ++at;
    if (at == texts.size()) {
      auto made = OomPattern::compile(row.opening, row.literal);
      if (!made) return made.error();
      grammar.openings.push_back({std::move(*made), {}});
      texts.push_back(&row.opening);
    }
    grammar.openings[at].templates.push_back(i);
    if (auto error = add(grammar.marks, row.mark, "")) return error;
  }
  return std::nullopt;
}

} // namespace

Result<OomPattern> OomPattern::compile(const std::string& pattern, std::string literal) {
  const std::string full = filled(pattern);
  auto regex = Regex::compile(full);
  if (!regex) return tl::unexpected<Error>(regex.error());
  return OomPattern(std::move(*regex), group_names(full), std::move(literal));
}

void OomPattern::each(std::string_view text, const Use& use) const {
  if (!may_match(text)) return;
  std::vector<OomGroup> groups;
  regex_.replaced(text, [&](const Regex::Groups& found) {
    groups.clear();
    for (size_t i = 1; i < found.size() && i < names_.size(); ++i)
      if (found[i].data() != nullptr && !names_[i].empty())
        groups.push_back({names_[i], found[i], static_cast<size_t>(found[i].data() - text.data())});
    use(static_cast<size_t>(found[0].data() - text.data()), groups);
    return std::string();
  });
}

Result<OomGrammar> compile_oom(const OomTables& tables) {
  OomGrammar grammar;
  grammar.tables = &tables;
  std::optional<Error> error = add_openings(tables, grammar);
  for (const OomField& row : tables.fields)
    if (!error) error = add(grammar.fields, row.pattern, row.literal);
  for (const OomNot& row : tables.nots)
    if (!error) error = add(grammar.nots, row.pattern, row.literal);
  for (const OomSeriesRow& row : tables.series)
    if (!error) error = add(grammar.series, row.pattern, row.literal);
  for (const OomSeriesRow& row : tables.series)
    if (!error) error = add(grammar.keys, row.key, "");
  for (const OomAxisRow& row : tables.axes)
    if (!error) error = add(grammar.axes, row.pattern, row.literal);
  if (error) return tl::unexpected<Error>(*error);
  std::vector<std::string> literals;
  for (const OomGrammar::Opening& opening : grammar.openings)
    literals.push_back(opening.pattern.literal());
  for (const std::vector<OomPattern>* list : {&grammar.nots, &grammar.series})
    for (const OomPattern& pattern : *list)
      literals.push_back(pattern.literal());
  grammar.literals.emplace(literals);
  return grammar;
}

} // namespace gpuvet
