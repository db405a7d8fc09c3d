#include "formats/recording/json_values.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace gpuvet {
namespace {

constexpr std::array<std::pair<AskState, std::string_view>, 6> kAskStates = {{
    {AskState::skipped, "skipped"},
    {AskState::no_library, "no_library"},
    {AskState::failed, "failed"},
    {AskState::answered, "answered"},
    {AskState::hung, "hung"},
    {AskState::crashed, "crashed"},
}};

const char* kind_in_words(Json::Kind kind) {
  switch (kind) {
  case Json::Kind::null:
    return "null";
  case Json::Kind::boolean:
    return "true or false";
  case Json::Kind::number:
    return "a number";
  case Json::Kind::text:
    return "a text";
  case Json::Kind::list:
    return "a list";
  case Json::Kind::object:
    break;
  }
  return "an object";
}

// "[12.345678] text", as dmesg writes it; "[12.345678 +500] text" where more like it were left out.
LogLine log_line(const std::string& text) {
  LogLine line{.seconds = std::nullopt, .text = text};
  if (!text.starts_with('[')) return line;
  size_t first = text.find_first_not_of(' ', 1), end = text.find(']');
  if (first == std::string::npos || end == std::string::npos || end <= first) return line;
  const char* stop_at = text.data() + end;
  double seconds = 0;
  auto [stop, error] = std::from_chars(text.data() + first, stop_at, seconds);
  if (error != std::errc{}) return line;
  uint64_t more = 0;
  if (stop_at - stop > 2 && stop[0] == ' ' && stop[1] == '+') {
    auto [last, fault] = std::from_chars(stop + 2, stop_at, more);
    if (fault == std::errc{}) stop = last;
  }
  if (stop != stop_at) return line;
  line.seconds = seconds;
  line.more = more;
  line.text = text.substr(std::min(end + (text.substr(end, 2) == "] " ? 2 : 1), text.size()));
  return line;
}

std::string shown(const LogLine& line) {
  if (!line.seconds) return line.text;
  const std::string more = line.more > 0 ? fmt::format(" +{}", line.more) : "";
  return fmt::format("[{:.6f}{}] {}", *line.seconds, more, line.text);
}

} // namespace

std::string in_words(const JsonPlace& place) {
  std::vector<const JsonPlace*> way;
  for (const JsonPlace* at = &place; at->outer; at = at->outer)
    way.push_back(at);
  std::string text;
  for (auto at = way.rbegin(); at != way.rend(); ++at) {
    if ((*at)->key.data() == nullptr)
      text += fmt::format("[{}]", (*at)->index);
    else
      text += (text.empty() ? "" : ".") + std::string((*at)->key);
  }
  return text;
}

std::string_view name_of(AskState state) {
  for (const auto& [value, name] : kAskStates)
    if (value == state) return name;
  return "";
}

bool expect(const Json& json, Json::Kind kind, const JsonPlace& at, JsonProblem& problem) {
  if (json.kind == kind) return true;
  return problem.set(
      fmt::format("{} is expected here, not {}", kind_in_words(kind), kind_in_words(json.kind)),
      at);
}

bool read_value(const Json& json, std::string& to, const JsonPlace& at, JsonProblem& problem) {
  if (!expect(json, Json::Kind::text, at, problem)) return false;
  to = json.text;
  return true;
}

bool read_value(const Json& json, bool& to, const JsonPlace& at, JsonProblem& problem) {
  if (!expect(json, Json::Kind::boolean, at, problem)) return false;
  to = json.boolean;
  return true;
}

bool read_value(const Json& json, double& to, const JsonPlace& at, JsonProblem& problem) {
  if (!expect(json, Json::Kind::number, at, problem)) return false;
  to = json.number;
  return true;
}

bool read_value(const Json& json, Target& to, const JsonPlace& at, JsonProblem& problem) {
  if (!expect(json, Json::Kind::text, at, problem)) return false;
  auto target = parse_target(json.text);
  if (!target) return problem.set("this is not a GPU target such as \"9.0\" or \"sm_90a\"", at);
  to = *target;
  return true;
}

bool read_value(const Json& json, AskState& to, const JsonPlace& at, JsonProblem& problem) {
  if (!expect(json, Json::Kind::text, at, problem)) return false;
  const auto* found = std::find_if(kAskStates.begin(), kAskStates.end(),
                                   [&](const auto& entry) { return entry.second == json.text; });
  if (found == kAskStates.end())
    return problem.set("this is none of skipped, no_library, failed, answered, hung, crashed", at);
  to = found->first;
  return true;
}

bool read_value(const Json& json, KernelLog& to, const JsonPlace& at, JsonProblem& problem) {
  if (!expect(json, Json::Kind::object, at, problem)) return false;
  FieldReader reader(json, at, problem);
  std::vector<std::string> texts;
  reader("from", to.from);
  if (json.has("unknown")) {
    to.lines = unknown<std::vector<LogLine>>("");
    reader("unknown", to.lines.why_unknown);
    return reader.finish();
  }
  reader("lines", texts);
  reader("left_out", to.left_out);
  std::vector<LogLine> lines;
  lines.reserve(texts.size());
  for (const std::string& text : texts)
    lines.push_back(log_line(text));
  to.lines = known(std::move(lines), to.from);
  return reader.finish();
}

bool read_whole(const Json& json, int64_t least, uint64_t most, uint64_t& bits, const JsonPlace& at,
                JsonProblem& problem) {
  if (json.kind == Json::Kind::text && json.text == "unlimited" && most == UINT64_MAX) {
    bits = UINT64_MAX;
    return true;
  }
  if (!expect(json, Json::Kind::number, at, problem)) return false;
  if (!json.whole) return problem.set("a whole number is expected here", at);
  const uint64_t lowest = least < 0 ? ~static_cast<uint64_t>(least) + 1 : 0; // magnitude of it
  if (json.negative ? json.magnitude > lowest : json.magnitude > most)
    return problem.set("this number is out of range", at);
  bits = json.negative ? ~json.magnitude + 1 : json.magnitude;
  return true;
}

void before_reading(Asked& asked) {
  asked.problem.clear();
}

// What people write by hand is an ordinary library of this architecture.
void before_reading(ElfFacts& elf) {
  elf.has_dynamic = true;
  elf.machine = 62; // x86-64
}

const Json* FieldReader::take(std::string_view key) {
  for (size_t i = 0; i < object_.keys.size(); ++i) {
    if (object_.keys[i] != key) continue;
    if (asked_[i]) break;
    asked_[i] = true;
    return object_.items[i].kind == Json::Kind::null ? nullptr : &object_.items[i];
  }
  return nullptr;
}

bool FieldReader::finish() {
  for (size_t i = 0; problem_.what.empty() && i < asked_.size(); ++i) {
    if (asked_[i]) continue;
    const std::string& key = object_.keys[i];
    const auto first = std::find(object_.keys.begin(), object_.keys.end(), key);
    const bool twice = static_cast<size_t>(first - object_.keys.begin()) < i;
    problem_.set(twice ? "this key stands here twice" : "this key is not known here",
                 JsonPlace{.outer = &at_, .key = key});
  }
  return problem_.what.empty();
}

bool is_left_out(const Json& json) {
  const bool many = json.kind == Json::Kind::list || json.kind == Json::Kind::object;
  return json.kind == Json::Kind::null || (many && json.items.empty()) ||
         (json.kind == Json::Kind::text && json.text.empty());
}

Json to_json(const std::string& value) {
  return json_of(value);
}

Json to_json(bool value) {
  return json_of(value);
}

Json to_json(double value) {
  return json_of(value);
}

Json to_json(Target value) {
  std::string text = cc_name(value.sm);
  if (value.suffix) text += value.suffix;
  return json_of(text);
}

Json to_json(AskState value) {
  return json_of(name_of(value));
}

Json to_json(const KernelLog& value) {
  Json json = json_object();
  if (!value.from.empty()) set(json, "from", json_of(value.from));
  if (!value.lines) {
    set(json, "unknown", json_of(value.lines.why_unknown));
    return json;
  }
  Json lines = json_list();
  for (const LogLine& line : *value.lines)
    lines.items.push_back(json_of(shown(line)));
  set(json, "lines", std::move(lines));
  if (value.left_out > 0) set(json, "left_out", json_of(value.left_out));
  return json;
}

} // namespace gpuvet
