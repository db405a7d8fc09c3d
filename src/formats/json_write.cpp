#include "formats/json_write.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace gpuvet {
namespace {

constexpr size_t kLine = 96; // columns

// Length of the UTF-8 sequence at `at`; 0: there is none.
size_t sequence_length(std::string_view text, size_t at) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return 1;
  size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() - at < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  const unsigned char second = byte(at + 1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool surrogate = first == 0xed && second > 0x9f;
  const bool too_high = first == 0xf4 && second > 0x8f;
  return overlong || surrogate || too_high ? 0 : length;
}

void write_text(std::string_view text, std::string& out) {
  out += '"';
  for (size_t at = 0; at < text.size();) {
    size_t length = sequence_length(text, at);
    const char c = text[at];
    if (length == 0)
      out += "\xef\xbf\xbd";
    else if (c == '"' || c == '\\')
      out.append({'\\', c});
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (length == 1 && (c < 0x20 || c == 0x7f))
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out.append(text.substr(at, length));
    at += length == 0 ? 1 : length;
  }
  out += '"';
}

void write_scalar(const Json& json, std::string& out) {
  switch (json.kind) {
  case Json::Kind::boolean:
    out += json.boolean ? "true" : "false";
    return;
  case Json::Kind::number:
    if (json.whole)
      out += fmt::format("{}{}", json.negative ? "-" : "", json.magnitude);
    else
      out += std::isfinite(json.number) ? fmt::format("{}", json.number) : "null";
    return;
  case Json::Kind::text:
    write_text(json.text, out);
    return;
  case Json::Kind::null:
  case Json::Kind::list:
  case Json::Kind::object:
    break;
  }
  out += "null";
}

bool is_scalar(const Json& json) {
  return json.kind != Json::Kind::list && json.kind != Json::Kind::object;
}

// The stack is ours, so that nesting costs no recursion.
class Writer {
 public:
  // `one_line`: no line feeds, and it gives up beyond `most` bytes.
  Writer(bool one_line, size_t most) : one_line_(one_line), most_(most) {}

  bool write(const Json& root) {
    begin(root);
    while (!stack_.empty()) {
      if (out.size() > most_) return false;
      Frame& top = stack_.back();
      if (top.next == top.json->items.size()) {
        end();
        continue;
      }
      size_t index = top.next++;
      separate(index);
      if (top.json->kind == Json::Kind::object) {
        write_text(top.json->keys[index], out);
        out += ": ";
      }
      begin(top.json->items[index]); // may move the stack: `top` ends here
    }
    return out.size() <= most_;
  }

  std::string out;

 private:
  struct Frame {
    const Json* json;
    size_t next;
  };

  void begin(const Json& json) {
    if (is_scalar(json)) return write_scalar(json, out);
    if (!one_line_) {
      Writer line(true, kLine - std::min(kLine, stack_.size()));
      if (line.write(json)) {
        out += line.out;
        return;
      }
    }
    out += json.kind == Json::Kind::object ? '{' : '[';
    stack_.push_back({&json, 0});
  }

  void separate(size_t index) {
    if (index > 0) out += one_line_ ? ", " : ",";
    if (!one_line_) out.append("\n").append(stack_.size(), ' ');
  }

  void end() {
    const Json& json = *stack_.back().json;
    stack_.pop_back();
    if (!one_line_ && !json.items.empty()) out.append("\n").append(stack_.size(), ' ');
    out += json.kind == Json::Kind::object ? '}' : ']';
  }

  std::vector<Frame> stack_;
  bool one_line_;
  size_t most_;
};

} // namespace

Json json_of(std::string_view text) {
  Json json;
  json.kind = Json::Kind::text;
  json.text = text;
  return json;
}

Json json_of(const char* text) {
  return json_of(std::string_view(text));
}

Json json_of(bool value) {
  Json json;
  json.kind = Json::Kind::boolean;
  json.boolean = value;
  return json;
}

Json json_of(uint64_t value) {
  Json json;
  json.kind = Json::Kind::number;
  json.number = static_cast<double>(value);
  json.whole = true;
  json.magnitude = value;
  return json;
}

Json json_of(int64_t value) {
  Json json = json_of(static_cast<uint64_t>(value));
  json.number = static_cast<double>(value);
  json.negative = value < 0;
  if (json.negative) json.magnitude = ~json.magnitude + 1;
  return json;
}

Json json_of(double value) {
  Json json;
  json.kind = Json::Kind::number;
  json.number = value;
  return json;
}

Json json_of(const std::vector<std::string>& texts) {
  Json json = json_list();
  for (const std::string& text : texts)
    json.items.push_back(json_of(text));
  return json;
}

Json json_or_null(std::string_view text) {
  return text.empty() ? Json{} : json_of(text);
}

Json json_list() {
  Json json;
  json.kind = Json::Kind::list;
  return json;
}

Json json_object() {
  Json json;
  json.kind = Json::Kind::object;
  return json;
}

void set(Json& object, std::string key, Json value) {
  object.keys.push_back(std::move(key));
  object.items.push_back(std::move(value));
}

std::string write_json(const Json& json) {
  Writer writer(false, SIZE_MAX);
  writer.write(json);
  return std::move(writer.out) + "\n";
}

std::string write_json_line(const Json& json) {
  Writer writer(true, SIZE_MAX);
  writer.write(json);
  return std::move(writer.out) + "\n";
}

bool is_plain_text(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    size_t length = sequence_length(text, at);
    if (length == 0 || text[at] == '\0') return false;
    at += length;
  }
  return true;
}

} // namespace gpuvet
