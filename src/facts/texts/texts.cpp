#include "facts/texts/texts.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

constexpr size_t kShortestLiteral = 4; // LiteralSet finds no shorter one

void check_literals(FactRow& row, const std::vector<std::string>& literals) {
  for (const std::string& literal : literals)
    if (literal.size() < kShortestLiteral)
      row.refuse("literal '" + literal + "' has fewer than 4 bytes");
}

TextSection section_of(FactRow& row) {
  TextSection section;
  section.id = row.text("id");
  section.begins = row.text("begins");
  section.ends = row.text_if("ends");
  section.literals = row.list("literals");
  if (section.literals.empty()) row.refuse("no literals");
  check_literals(row, section.literals);
  section.blank_ends = row.flag("blank_ends");
  section.head = row.flag("head");
  section.columns = row.flag("columns");
  section.lines = row.count("lines");
  section.example = row.text("example");
  section.source = row.source();
  return section;
}

TextRow text_of(FactRow& row, const TextTables& tables) {
  TextRow text;
  text.pattern = row.text("pattern");
  text.literals = row.list("literals");
  text.in = row.list("in");
  text.gives = row.list("gives");
  text.part = row.flag("part");
  text.said = row.flag("said");
  text.head = row.flag("head");
  text.alone = row.flag("alone");
  text.words = row.flag("words");
  text.example = row.text("example");
  text.expect = row.list("expect");
  text.source = row.source();
  check_literals(row, text.literals);
  if (text.literals.empty() == text.in.empty()) row.refuse("either literals or in");
  if (text.gives.empty()) row.refuse("gives nothing");
  for (const std::string& id : text.in) {
    auto is = [&](const TextSection& section) { return section.id == id; };
    if (std::none_of(tables.sections.begin(), tables.sections.end(), is))
      row.refuse("there is no section '" + id + "'");
  }
  return text;
}

} // namespace

void read_texts(FactFile& file, TextTables& tables) {
  for (const PackedRow& packed : file.rows("section")) {
    FactRow row(file, packed);
    tables.sections.push_back(section_of(row));
    row.end();
  }
  for (const PackedRow& packed : file.rows("text")) {
    FactRow row(file, packed);
    tables.rows.push_back(text_of(row, tables));
    row.end();
  }
  for (const PackedRow& packed : file.rows("column")) {
    FactRow row(file, packed);
    std::string name = row.text("name"), gives = row.text("gives"); // in this order
    tables.columns.push_back({std::move(name), std::move(gives), row.source()});
    row.end();
  }
  for (const PackedRow& packed : file.rows("veto")) {
    FactRow row(file, packed);
    std::string pattern = row.text("pattern"), example = row.text("example");
    tables.vetoes.push_back({std::move(pattern), std::move(example), row.source()});
    row.end();
  }
  for (const PackedRow& packed : file.rows("system")) {
    FactRow row(file, packed);
    TextOs system;
    system.name = row.text("name");
    system.id = row.text("id");
    system.packages = row.text_if("packages");
    system.source = row.source();
    row.end();
    tables.systems.push_back(std::move(system));
  }
}

} // namespace gpuvet
