#include "formats/recording/files.hpp"

#include "formats/recording/base64.hpp"

#include <fmt/core.h>

#include <charconv>

namespace gpuvet {
namespace {

using Kind = RecordedFile::Kind;

// The key that says what lies there; one of them stands in each entry.
struct KindKey {
  std::string_view key;
  Kind kind;
};
constexpr KindKey kKindKeys[] = {
    {"text", Kind::text},     {"lines", Kind::text},      {"base64", Kind::binary},
    {"link", Kind::link},     {"node", Kind::node},       {"unreadable", Kind::unreadable},
    {"hidden", Kind::hidden}, {"missing", Kind::missing}, {"present", Kind::present},
};

// Permission bits as chmod takes them, "0644".
bool read_mode(const std::string& text, uint32_t& mode, const JsonPlace& at, JsonProblem& problem) {
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, mode, 8);
  if (error != std::errc{} || stop != end || mode > 07777)
    return problem.set("permission bits are written in octal, such as \"0644\"", at);
  return true;
}

std::string joined_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines)
    text += line + "\n";
  return text;
}

bool read_node(const Json& json, RecordedFile& to, const JsonPlace& at, JsonProblem& problem) {
  std::vector<uint32_t> numbers;
  if (!read_value(json, numbers, at, problem)) return false;
  if (numbers.size() != 2) return problem.set("a node is written as [major, minor]", at);
  to.major = numbers[0];
  to.minor = numbers[1];
  return true;
}

bool read_kind(std::string_view key, const Json& json, RecordedFile& to, const JsonPlace& at,
               JsonProblem& problem) {
  if (key == "lines") {
    std::vector<std::string> lines;
    if (!read_value(json, lines, at, problem)) return false;
    to.content = joined_lines(lines);
    return true;
  }
  if (key == "node") return read_node(json, to, at, problem);
  if (key == "present") return read_value(json, to.size, at, problem);
  if (key == "missing") {
    bool missing = false;
    if (!read_value(json, missing, at, problem)) return false;
    return missing || problem.set("only true is meant here", at);
  }
  if (!read_value(json, to.content, at, problem)) return false;
  if (key != "base64") return true;
  auto bytes = from_base64(to.content);
  if (!bytes) return problem.set("this is not base64", at);
  to.content = std::move(*bytes);
  return true;
}

bool read_object(const Json& json, RecordedFile& to, const JsonPlace& at, JsonProblem& problem) {
  FieldReader reader(json, at, problem);
  bool told = false;
  for (const KindKey& entry : kKindKeys) {
    const Json* value = reader.take(entry.key);
    if (!value) continue;
    const JsonPlace here{.outer = &at, .key = entry.key};
    if (told) return problem.set("only one of text, link, node and so on can be true", here);
    told = true;
    to.kind = entry.kind;
    if (!read_kind(entry.key, *value, to, here, problem)) return false;
  }
  if (!told) return problem.set("one of text, lines, link, node and so on is needed", at);
  std::string mode;
  reader("mode", mode);
  reader("uid", to.uid);
  reader("gid", to.gid);
  reader("changed", to.changed);
  reader("open", to.open_error);
  reader("access", to.access_error);
  if (!reader.finish()) return false;
  return mode.empty() || read_mode(mode, to.mode, JsonPlace{.outer = &at, .key = "mode"}, problem);
}

Json list_of_lines(std::string_view text) {
  Json list = json_list();
  while (!text.empty()) {
    size_t end = text.find('\n');
    list.items.push_back(json_of(text.substr(0, end)));
    text.remove_prefix(end + 1);
  }
  return list;
}

bool is_text(const RecordedFile& file) {
  return (file.kind == Kind::text || file.kind == Kind::binary) && is_plain_text(file.content);
}

void set_kind(Json& json, const RecordedFile& file) {
  switch (file.kind) {
  case Kind::text:
  case Kind::binary:
    if (!is_text(file))
      set(json, "base64", json_of(base64(file.content)));
    else if (file.content.ends_with('\n'))
      set(json, "lines", list_of_lines(file.content));
    else
      set(json, "text", json_of(file.content));
    return;
  case Kind::link:
    set(json, "link", json_of(file.content));
    return;
  case Kind::node: {
    Json numbers = json_list();
    numbers.items = {to_json(file.major), to_json(file.minor)};
    set(json, "node", std::move(numbers));
    return;
  }
  case Kind::unreadable:
    set(json, "unreadable", json_of(file.content));
    return;
  case Kind::hidden:
    set(json, "hidden", json_of(file.content));
    return;
  case Kind::missing:
    set(json, "missing", json_of(true));
    return;
  case Kind::present:
    set(json, "present", json_of(file.size));
    return;
  }
}

} // namespace

bool read_value(const Json& json, RecordedFile& to, const JsonPlace& at, JsonProblem& problem) {
  to = {};
  if (json.kind == Json::Kind::text) {
    to.content = json.text;
    return true;
  }
  if (json.kind == Json::Kind::list) {
    std::vector<std::string> lines;
    if (!read_value(json, lines, at, problem)) return false;
    to.content = joined_lines(lines);
    return true;
  }
  return expect(json, Json::Kind::object, at, problem) && read_object(json, to, at, problem);
}

Json to_json(const RecordedFile& file) {
  Json json = json_object();
  set_kind(json, file);
  const RecordedFile usual;
  if (file.mode != usual.mode) set(json, "mode", json_of(fmt::format("{:04o}", file.mode)));
  if (file.uid != 0) set(json, "uid", json_of(file.uid));
  if (file.gid != 0) set(json, "gid", json_of(file.gid));
  if (file.changed != 0) set(json, "changed", json_of(file.changed));
  if (file.open_error) set(json, "open", to_json(*file.open_error));
  if (file.access_error) set(json, "access", to_json(*file.access_error));
  const bool plain = json.items.size() == 1 && is_text(file);
  return plain ? std::move(json.items.front()) : json;
}

void remove_below_missing(Recording& recording) {
  std::vector<std::string> folders;
  for (const auto& [path, file] : recording.files)
    if (file.kind == Kind::missing) folders.push_back(path + "/");
  for (const std::string& folder : folders) {
    auto below = [&](const std::string& path) { return path.starts_with(folder); };
    auto first = recording.files.lower_bound(folder);
    while (first != recording.files.end() && below(first->first))
      first = recording.files.erase(first);
    std::erase_if(recording.folders, [&](const std::string& path) { return below(path + "/"); });
    std::erase_if(recording.listings, [&](const auto& entry) { return below(entry.first + "/"); });
  }
}

} // namespace gpuvet
