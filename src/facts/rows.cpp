#include "facts/rows.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

namespace gpuvet {
namespace {

std::string_view kind_name(char kind) {
  switch (kind) {
  case 's':
    return "a text";
  case 'n':
    return "a number";
  case 'b':
    return "true or false";
  default:
    return "a list";
  }
}

template <class T> std::optional<T> parse_number(std::string_view text) {
  T value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <class F> void each_item(std::string_view list, F use) {
  while (!list.empty()) {
    size_t end = list.find(packed_item_end);
    use(list.substr(0, end));
    list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
  }
}

} // namespace

FactFile::FactFile(PackedFile file) : file_(std::move(file)) {
  for (const PackedRow& packed : rows("source")) {
    std::string_view key, text;
    for (const PackedField& field : packed.fields) {
      if (field.key == "key") key = field.value;
      if (field.key == "text") text = field.value;
    }
    if (key.empty() || text.empty()) refuse(packed.line, "a source needs a key and a text");
    if (!sources_.emplace(key, text).second)
      refuse(packed.line, fmt::format("the source '{}' is there twice", key));
  }
}

const std::vector<PackedRow>& FactFile::rows(std::string_view table) {
  static const std::vector<PackedRow> none;
  asked_.push_back(table);
  auto found = std::find_if(file_.tables.begin(), file_.tables.end(),
                            [&](const PackedTable& t) { return t.name == table; });
  return found == file_.tables.end() ? none : found->rows;
}

std::string_view FactFile::source(std::string_view key) const {
  auto found = sources_.find(key);
  return found == sources_.end() ? std::string_view() : found->second;
}

void FactFile::refuse(uint32_t line, std::string what) {
  if (!error_) error_ = Error{std::move(what), fmt::format("{}:{}", file_.name, line)};
}

std::optional<Error> FactFile::end() {
  for (const PackedTable& table : file_.tables)
    if (std::find(asked_.begin(), asked_.end(), table.name) == asked_.end())
      refuse(table.rows.empty() ? 1 : table.rows.front().line,
             fmt::format("no table of this file is called '{}'", table.name));
  return error_;
}

const PackedField* FactRow::take(std::string_view key, char kind) {
  for (size_t i = 0; i < row_.fields.size(); ++i) {
    const PackedField& field = row_.fields[i];
    if (field.key != key) continue;
    if (i < 64) taken_ |= uint64_t{1} << i;
    if (field.kind == kind) return &field;
    refuse(fmt::format("'{}' must be {}, not {}", key, kind_name(kind), kind_name(field.kind)));
    return nullptr;
  }
  return nullptr;
}

const PackedField* FactRow::require(std::string_view key, char kind) {
  const PackedField* field = take(key, kind);
  if (!field) refuse(fmt::format("'{}' is missing", key));
  return field;
}

std::string FactRow::text(std::string_view key) {
  const PackedField* field = require(key, 's');
  return field ? std::string(field->value) : std::string();
}

std::string FactRow::text_if(std::string_view key) {
  const PackedField* field = take(key, 's');
  return field ? std::string(field->value) : std::string();
}

std::optional<double> FactRow::number_if(std::string_view key) {
  const PackedField* field = take(key, 'n');
  if (!field) return std::nullopt;
  auto value = parse_number<double>(field->value);
  if (!value) refuse(fmt::format("'{}' is not a number", key));
  return value;
}

std::optional<uint32_t> FactRow::count_if(std::string_view key) {
  const PackedField* field = take(key, 'n');
  if (!field) return std::nullopt;
  auto value = parse_number<uint32_t>(field->value);
  if (!value) refuse(fmt::format("'{}' is not a whole number", key));
  return value;
}

uint32_t FactRow::count(std::string_view key) {
  const PackedField* field = require(key, 'n');
  if (!field) return 0;
  auto value = parse_number<uint32_t>(field->value);
  if (!value) refuse(fmt::format("'{}' is not a whole number", key));
  return value.value_or(0);
}

bool FactRow::flag(std::string_view key, bool otherwise) {
  const PackedField* field = take(key, 'b');
  return field ? field->value == "true" : otherwise;
}

Version FactRow::version(std::string_view key) {
  const PackedField* field = require(key, 's');
  if (!field) return {};
  auto value = parse_version(field->value);
  if (!value) refuse(fmt::format("'{}' is not a version", key));
  return value.value_or(Version{});
}

std::vector<std::string> FactRow::list(std::string_view key) {
  std::vector<std::string> items;
  if (const PackedField* field = take(key, 'l'))
    each_item(field->value, [&](std::string_view item) { items.emplace_back(item); });
  return items;
}

std::vector<std::string> FactRow::texts(std::string_view key) {
  for (const PackedField& field : row_.fields)
    if (field.key == key && field.kind == 's') return {text(key)};
  return list(key);
}

std::vector<uint32_t> FactRow::counts(std::string_view key) {
  std::vector<uint32_t> items;
  const PackedField* field = take(key, 'l');
  if (!field) return items;
  each_item(field->value, [&](std::string_view item) {
    auto value = parse_number<uint32_t>(item);
    if (!value) refuse(fmt::format("'{}' holds something that is not a whole number", key));
    items.push_back(value.value_or(0));
  });
  return items;
}

std::vector<double> FactRow::numbers(std::string_view key) {
  std::vector<double> items;
  const PackedField* field = take(key, 'l');
  if (!field) return items;
  each_item(field->value, [&](std::string_view item) {
    auto value = parse_number<double>(item);
    if (!value) refuse(fmt::format("'{}' holds something that is not a number", key));
    items.push_back(value.value_or(0));
  });
  return items;
}

std::optional<std::vector<Target>> FactRow::targets_if(std::string_view key) {
  const PackedField* field = take(key, 'l');
  if (!field) return std::nullopt;
  std::vector<Target> targets;
  each_item(field->value, [&](std::string_view item) {
    auto target = parse_target(item);
    if (!target) refuse(fmt::format("'{}' in '{}' is not a compute capability", item, key));
    targets.push_back(target.value_or(Target{}));
  });
  return targets;
}

std::vector<std::string> FactRow::sources() {
  std::vector<std::string> texts;
  const PackedField* field = require("source", 'l');
  if (!field) return texts;
  each_item(field->value, [&](std::string_view key) {
    std::string_view text = file_.source(key);
    if (text.empty()) refuse(fmt::format("no source is called '{}'", key));
    texts.emplace_back(text);
  });
  if (texts.empty()) refuse("a fact without a source is no fact");
  return texts;
}

std::string FactRow::source() {
  std::string joined;
  for (const std::string& text : sources()) {
    if (!joined.empty()) joined += "; ";
    joined += text;
  }
  return joined;
}

void FactRow::refuse(std::string what) {
  file_.refuse(row_.line, std::move(what));
}

void FactRow::end() {
  if (row_.fields.size() > 64) refuse("a row has more than 64 keys");
  for (size_t i = 0; i < row_.fields.size() && i < 64; ++i)
    if (!(taken_ >> i & 1)) refuse(fmt::format("no key is called '{}'", row_.fields[i].key));
}

} // namespace gpuvet
