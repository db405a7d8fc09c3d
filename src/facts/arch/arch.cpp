#include "facts/arch/arch.hpp"

#include "base/text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace gpuvet {
namespace {

std::optional<Version> version_if(FactRow& row, std::string_view key) {
  std::string text = row.text_if(key);
  if (text.empty()) return std::nullopt;
  auto version = parse_version(text);
  if (!version) row.refuse(fmt::format("'{}' in '{}' is not a version", text, key));
  return version;
}

std::optional<Target> target_if(FactRow& row, std::string_view key) {
  std::string text = row.text_if(key);
  if (text.empty()) return std::nullopt;
  auto target = parse_target(text);
  if (!target) row.refuse(fmt::format("'{}' in '{}' is not a compute capability", text, key));
  return target;
}

Target target_of(FactRow& row, std::string_view key) {
  auto target = target_if(row, key);
  if (!target) row.refuse(fmt::format("'{}' is missing", key));
  return target.value_or(Target{});
}

// A column with a closed set of words.
std::string one_of(FactRow& row, std::string_view key, const std::set<std::string_view>& words) {
  std::string text = row.text_if(key);
  if (!words.count(text)) row.refuse(fmt::format("'{}' is no word for '{}'", text, key));
  return text;
}

ArchSystem read_system(FactRow& row) {
  ArchSystem system;
  system.id = row.text("id");
  system.names = row.list("names");
  system.tool = row.text("tool");
  system.form = one_of(row, "form",
                       {"list", "flags", "pairs", "specs", "two", "option", "arguments", "none"});
  system.number = one_of(row, "number", {"integer", "dotted", "prefixed", ""});
  system.suffixes = row.text_if("suffixes");
  system.split = row.text_if("split");
  system.join = row.text_if("join");
  system.ptx =
      one_of(row, "ptx", {"plus", "virtual", "prefix", "always", "highest", "code", "none", ""});
  system.dotted_too = row.flag("dotted_too");
  system.drops_dots = row.flag("drops_dots");
  system.one_digit = row.flag("one_digit");
  system.paren = row.flag("paren");
  system.takes = one_of(row, "takes", {"", "one", "one -arch"});
  system.words = row.text_if("words");
  system.set_by = one_of(row, "set_by", {"cmake", "environment", "argument", "file"});
  system.variable = row.text_if("variable");
  system.ptx_variable = row.text_if("ptx_variable");
  system.also_set = row.list("also_set");
  system.before = row.text_if("before");
  system.option = row.text_if("option");
  system.after = row.text_if("after");
  system.file = row.text_if("file");
  system.line = row.text_if("line");
  system.common = row.flag("common");
  system.cmake = row.flag("cmake");
  system.product = row.text_if("product");
  system.cannot = row.text_if("cannot");
  system.otherwise = row.text_if("otherwise");
  system.source = row.source();
  row.end();
  return system;
}

} // namespace

void read_arch(FactFile& file, ArchTables& tables) {
  for (const PackedRow& packed : file.rows("system")) {
    FactRow row(file, packed);
    tables.systems.push_back(read_system(row));
  }
  for (const PackedRow& packed : file.rows("word")) {
    FactRow row(file, packed);
    ArchWord word;
    word.set = row.text("set");
    word.word = row.text("word");
    word.meaning = one_of(row, "meaning", {"", "machine", "all", "all-major", "off", "release"});
    word.value = row.text_if("value");
    word.ptx = one_of(row, "ptx", {"", "major"});
    word.leaves_out = row.targets_if("leaves_out").value_or(std::vector<Target>{});
    word.first_toolkit = version_if(row, "first_toolkit");
    word.last_toolkit = version_if(row, "last_toolkit");
    word.source = row.source();
    if (word.meaning.empty() == word.value.empty())
      row.refuse("a keyword has a meaning or a value");
    row.end();
    tables.words.push_back(std::move(word));
  }
  for (const PackedRow& packed : file.rows("rewrite")) {
    FactRow row(file, packed);
    ArchRewrite rewrite;
    rewrite.system = row.text("system");
    rewrite.value = target_of(row, "value");
    rewrite.target = target_of(row, "target");
    rewrite.from = target_of(row, "from");
    rewrite.ptx = target_if(row, "ptx");
    rewrite.first_toolkit = version_if(row, "first_toolkit");
    rewrite.last_toolkit = version_if(row, "last_toolkit");
    rewrite.source = row.source();
    row.end();
    tables.rewrites.push_back(std::move(rewrite));
  }
  for (const PackedRow& packed : file.rows("accept")) {
    FactRow row(file, packed);
    ArchAccept accept;
    accept.product = row.text("product");
    accept.first_release = version_if(row, "first_release");
    accept.last_release = version_if(row, "last_release");
    accept.first_toolkit = version_if(row, "first_toolkit");
    accept.last_toolkit = version_if(row, "last_toolkit");
    accept.targets = row.targets_if("targets").value_or(std::vector<Target>{});
    accept.source = row.source();
    row.end();
    tables.accepts.push_back(std::move(accept));
  }
}

const ArchSystem* find_arch_system(const ArchTables& tables, std::string_view name) {
  std::string wanted = lower_ascii(name);
  for (const ArchSystem& system : tables.systems) {
    if (lower_ascii(system.id) == wanted || lower_ascii(system.tool) == wanted) return &system;
    for (const std::string& other : system.names)
      if (lower_ascii(other) == wanted) return &system;
  }
  return nullptr;
}

} // namespace gpuvet
