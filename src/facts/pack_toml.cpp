// The only file that includes toml++.
#include "facts/packed.hpp"

#include <fmt/core.h>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace gpuvet {
namespace {

struct Packer {
  std::string name;
  std::string out{packed_magic};
  std::string problem;
  uint32_t line = 0;

  bool refuse(const toml::node& node, std::string what) {
    if (node.source().begin.line) line = node.source().begin.line;
    problem = std::move(what);
    return false;
  }

  bool add_text(const toml::node& node, std::string_view text) {
    if (text.empty()) return refuse(node, "an empty text says nothing: leave the key out");
    for (char c : text)
      if (static_cast<unsigned char>(c) < 0x20)
        return refuse(node, "a text holds a line break or another control character");
    out += text;
    return true;
  }

  bool add_scalar(const toml::node& node, bool with_kind) {
    char kind = 's';
    std::string text;
    if (auto s = node.value_exact<std::string>()) {
      text = std::move(*s);
    } else if (auto i = node.value_exact<int64_t>()) {
      kind = 'n';
      text = fmt::format("{}", *i);
    } else if (auto d = node.value_exact<double>()) {
      kind = 'n';
      text = fmt::format("{}", *d);
    } else if (auto b = node.value_exact<bool>()) {
      kind = 'b';
      text = *b ? "true" : "false";
    } else {
      return refuse(node, "a value is neither text, number, true or false, nor a list of these");
    }
    if (with_kind) out += kind;
    return add_text(node, text);
  }

  bool add_field(std::string_view key, const toml::node& node) {
    for (char c : key)
      if (c == '=' || static_cast<unsigned char>(c) < 0x20)
        return refuse(node, "a key holds '=' or a control character");
    out += '\t';
    out += key;
    out += '=';
    const toml::array* list = node.as_array();
    if (!list) return add_scalar(node, true);
    out += 'l';
    for (const toml::node& item : *list) {
      if (!add_scalar(item, false)) return false;
      out += packed_item_end;
    }
    return true;
  }

  // A key of a settings file: one row for each value, with the line that the value is on.
  bool add_setting(const toml::key& key, const toml::node& node) {
    auto row = [&](uint32_t at) { out += fmt::format("R\t{}", at ? at : line); };
    uint32_t at = key.source().begin.line;
    line = at;
    const toml::array* list = node.as_array();
    if (!list) {
      row(at);
      if (!add_field(key.str(), node)) return false;
      out += '\n';
      return true;
    }
    row(at);
    out += fmt::format("\t{}=l\n", key.str()); // that it is there, also where the list is empty
    for (const toml::node& item : *list) {
      row(item.source().begin.line);
      if (item.is_array())
        return refuse(item, fmt::format("'{}' holds a list in a list", key.str()));
      if (!add_field(key.str(), item)) return false;
      out += '\n';
    }
    return true;
  }

  bool add_section(std::string_view section, const toml::table& table) {
    out += fmt::format("T\t{}\n", section);
    for (auto&& [key, value] : table) {
      if (value.is_table())
        return refuse(value, fmt::format("'{}' is a table where a value is wanted", key.str()));
      if (!add_setting(key, value)) return false;
    }
    return true;
  }

  bool add_table(std::string_view key, const toml::node& node) {
    const toml::array* rows = node.as_array();
    if (!rows) return refuse(node, fmt::format("'{}' is not a list of rows", key));
    out += fmt::format("T\t{}\n", key);
    for (const toml::node& item : *rows) {
      const toml::table* row = item.as_table();
      if (!row) return refuse(item, fmt::format("a row of '{}' is not a table", key));
      line = item.source().begin.line;
      out += fmt::format("R\t{}", line);
      for (auto&& [field, value] : *row)
        if (!add_field(field.str(), value)) return false;
      out += '\n';
    }
    return true;
  }
};

Error not_toml(const toml::parse_error& error, const std::string& name) {
  return {fmt::format("this is not valid TOML: {}", error.description()),
          fmt::format("{}:{}", name, error.source().begin.line)};
}

} // namespace

Result<std::string> pack_settings(std::string_view text, const std::string& name) {
  toml::parse_result parsed = toml::parse(text);
  if (!parsed) return tl::unexpected<Error>(not_toml(parsed.error(), name));
  Packer packer;
  packer.name = name;
  auto failed = [&] { return fail(packer.problem, fmt::format("{}:{}", name, packer.line)); };
  for (auto&& [key, node] : parsed.table()) {
    const toml::table* section = node.as_table();
    if (section && !packer.add_section(key.str(), *section)) return failed();
    if (section) continue;
    packer.line = key.source().begin.line;
    packer.out += "T\t\n"; // keys outside of sections stand in a table without a name
    if (!packer.add_setting(key, node)) return failed();
  }
  return std::move(packer.out);
}

Result<std::string> pack_toml(std::string_view text, const std::string& name) {
  toml::parse_result parsed = toml::parse(text);
  if (!parsed) return tl::unexpected<Error>(not_toml(parsed.error(), name));
  Packer packer;
  packer.name = name;
  for (auto&& [key, node] : parsed.table())
    if (!packer.add_table(key.str(), node))
      return fail(packer.problem, fmt::format("{}:{}", name, packer.line));
  return std::move(packer.out);
}

} // namespace gpuvet
