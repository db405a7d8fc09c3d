#include "facts/oom/oom.hpp"

#include "facts/readers.hpp"
#include "facts/rows.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace gpuvet {
namespace {

template <class T, size_t N>
T word_of(FactRow& row, const char* key, const std::array<std::string_view, N>& words) {
  std::string word = row.text(key);
  const auto* at = std::find(words.begin(), words.end(), word);
  if (at != words.end()) return static_cast<T>(at - words.begin());
  row.refuse(std::string("'") + key + "' is none of the words that the file's head lists");
  return T{};
}

constexpr std::array<std::string_view, 6> kKinds = {"device",  "pool", "budget",
                                                    "startup", "bare", "disguised"};

void read_templates(FactFile& file, OomTables& tables) {
  for (const PackedRow& packed : file.rows("template")) {
    FactRow row(file, packed);
    OomTemplate made;
    made.id = row.text("id");
    made.framework = row.text("framework");
    made.versions = row.text("versions");
    made.kind = word_of<OomKind>(row, "kind", kKinds);
    made.literal = row.text("literal");
    made.opening = row.text("opening");
    made.mark = row.text_if("mark");
    made.unit = row.text_if("unit");
    made.meaning = row.text("meaning");
    made.question = row.text_if("question");
    made.causes = row.list("causes");
    made.example = row.list("example");
    made.reads = row.list("reads");
    made.source = row.source();
    row.end();
    tables.templates.push_back(std::move(made));
  }
  for (const PackedRow& packed : file.rows("field")) {
    FactRow row(file, packed);
    OomField made;
    made.framework = row.text("framework");
    made.literal = row.text("literal");
    made.pattern = row.text("pattern");
    made.unit = row.text_if("unit");
    made.far = row.flag("far");
    made.source = row.source();
    row.end();
    tables.fields.push_back(std::move(made));
  }
}

void read_lines(FactFile& file, OomTables& tables) {
  for (const PackedRow& packed : file.rows("not")) {
    FactRow row(file, packed);
    OomNot made;
    made.id = row.text("id");
    made.literal = row.text("literal");
    made.pattern = row.text("pattern");
    made.meaning = row.text("meaning");
    made.wins = row.flag("wins");
    made.example = row.list("example");
    made.source = row.source();
    row.end();
    tables.nots.push_back(std::move(made));
  }
  for (const PackedRow& packed : file.rows("table_row")) {
    FactRow row(file, packed);
    OomTableRow made;
    made.title = row.text("title");
    made.meaning = row.text("meaning");
    made.source = row.source();
    row.end();
    tables.table_rows.push_back(std::move(made));
  }
  for (const PackedRow& packed : file.rows("series")) {
    FactRow row(file, packed);
    OomSeriesRow made;
    made.id = row.text("id");
    made.literal = row.text("literal");
    made.pattern = row.text("pattern");
    made.what = row.text("what");
    made.unit = row.text_if("unit");
    made.key = row.text_if("key");
    made.example = row.list("example");
    made.reads = row.list("reads");
    made.source = row.source();
    row.end();
    tables.series.push_back(std::move(made));
  }
  for (const PackedRow& packed : file.rows("axis")) {
    FactRow row(file, packed);
    tables.axes.push_back({row.text("literal"), row.text("pattern"), row.source()});
    row.end();
  }
}

void read_words(FactFile& file, OomTables& tables) {
  for (const PackedRow& packed : file.rows("unit")) {
    FactRow row(file, packed);
    OomUnit made;
    made.name = row.text("name");
    made.bytes = uint64_t{1} << std::min<uint32_t>(row.count("power_of_two"), 63);
    made.source = row.source();
    row.end();
    tables.units.push_back(std::move(made));
  }
  for (const PackedRow& packed : file.rows("type")) {
    FactRow row(file, packed);
    OomType made;
    made.name = row.text("name");
    made.bytes = row.count("bytes");
    made.source = row.source();
    row.end();
    tables.types.push_back(std::move(made));
  }
  for (const PackedRow& packed : file.rows("shared")) {
    FactRow row(file, packed);
    tables.shared.push_back(
        {row.text("name"), row.count("least_gib"), row.count("most_gib"), row.source()});
    row.end();
  }
  for (const PackedRow& packed : file.rows("variable")) {
    FactRow row(file, packed);
    OomVariable made;
    made.name = row.text("name");
    made.formerly = row.text_if("formerly");
    made.since = row.text_if("since");
    made.framework = row.text("framework");
    made.source = row.source();
    row.end();
    tables.variables.push_back(std::move(made));
  }
}

// What the doctor's check of this id says, where the row leaves it to the check.
void take_from_check(FactRow& row, const CheckTables& checks, OomCause& cause) {
  auto is = [&](const CheckRow& check) { return check.id == cause.id; };
  auto at = std::find_if(checks.checks.begin(), checks.checks.end(), is);
  cause.of_check = at != checks.checks.end();
  if (cause.of_check != cause.cause.empty())
    row.refuse(cause.of_check
                   ? "'" + cause.id + "' is a check, which says why, whose it is and what mends it"
                   : "there is no check '" + cause.id + "', so 'cause' is missing");
  if (!cause.of_check) return;
  cause.cause = at->cause;
  cause.blame = at->blame;
  for (const CheckFix& fix : at->fixes) {
    cause.fixes.emplace_back();
    static_cast<CheckFix&>(cause.fixes.back()) = fix;
  }
  cause.source = at->source;
}

OomCause read_cause(FactRow& row, const CheckTables& checks) {
  OomCause made;
  made.id = row.text("id");
  made.title = row.text("title");
  made.plain = row.text_if("plain");
  made.cause = row.text_if("cause");
  made.measure = row.text("measure");
  made.note = row.text_if("note");
  take_from_check(row, checks, made);
  if (!made.of_check) {
    made.blame = row.text("blame");
    made.source = row.source();
  }
  if (made.plain.empty() && made.title.find('{') != std::string::npos)
    row.refuse("a title with {fields} needs 'plain', for where they are not known");
  row.end();
  return made;
}

void read_causes(FactFile& file, const CheckTables& checks, OomTables& tables) {
  for (const PackedRow& packed : file.rows("cause")) {
    FactRow row(file, packed);
    tables.causes.push_back(read_cause(row, checks));
  }
  for (const PackedRow& packed : file.rows("fix")) {
    FactRow row(file, packed);
    OomFix fix;
    fix.frameworks = row.list("frameworks");
    fix.unless = row.list("unless");
    static_cast<CheckFix&>(fix) = read_check_fix(row);
    auto is = [&](const OomCause& cause) { return cause.id == fix.check && !cause.of_check; };
    auto at = std::find_if(tables.causes.begin(), tables.causes.end(), is);
    if (at == tables.causes.end())
      row.refuse("there is no cause '" + fix.check + "' that is no check");
    else
      at->fixes.push_back(std::move(fix));
  }
  for (const PackedRow& packed : file.rows("framework")) {
    FactRow row(file, packed);
    tables.frameworks.push_back({row.text("id"), row.text("title")});
    row.end();
  }
}

} // namespace

void read_oom(FactFile& file, const CheckTables& checks, OomTables& tables) {
  read_templates(file, tables);
  read_lines(file, tables);
  read_words(file, tables);
  read_causes(file, checks, tables);
}

std::vector<std::string> oom_literals(const OomTables& tables) {
  std::set<std::string> all = {"memory.used", "memory summary, device",   "Cur Usage",
                               "CUDA OOMs",   "expandable_segments:True", " MiB"};
  for (const OomTemplate& row : tables.templates)
    all.insert(row.literal);
  for (const OomField& row : tables.fields)
    all.insert(row.literal);
  for (const OomNot& row : tables.nots)
    all.insert(row.literal);
  for (const OomSeriesRow& row : tables.series)
    all.insert(row.literal);
  for (const OomTableRow& row : tables.table_rows)
    all.insert(row.title);
  return {all.begin(), all.end()};
}

CheckRow cause_row(const OomCause& cause) {
  CheckRow row;
  row.id = cause.id;
  row.area = "cause";
  row.title = cause.plain.empty() ? cause.title : cause.plain;
  row.cause = cause.cause;
  row.blame = cause.blame;
  row.fixes.assign(cause.fixes.begin(), cause.fixes.end());
  row.source = cause.source;
  return row;
}

const OomCause* find_oom_cause(const OomTables& tables, const std::string& id) {
  for (const OomCause& cause : tables.causes)
    if (cause.id == id) return &cause;
  return nullptr;
}

} // namespace gpuvet
