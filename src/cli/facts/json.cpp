#include "cli/facts/json.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace gpuvet {

using nlohmann::ordered_json;

std::string json_text(std::string_view text) {
  if (text.empty()) return "null";
  // A query may hold anything: bytes that are no UTF-8 are replaced.
  return ordered_json(text).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string json_number(std::optional<double> value) {
  return value ? fmt::format("{}", *value) : "null";
}

std::string json_flag(bool value) {
  return value ? "true" : "false";
}

std::string json_array(const std::vector<std::string>& values) {
  std::string out = "[";
  for (const std::string& value : values) {
    if (out.size() > 1) out += ',';
    out += value;
  }
  return out + "]";
}

std::string json_texts(const std::vector<std::string>& texts) {
  std::vector<std::string> values;
  for (const std::string& text : texts)
    values.push_back(json_text(text));
  return json_array(values);
}

std::string json_object(const JsonFields& fields) {
  std::string out = "{";
  for (const auto& [key, value] : fields) {
    if (out.size() > 1) out += ',';
    out += json_text(key) + ":" + value;
  }
  return out + "}";
}

std::string json_indented(const std::string& json) {
  return ordered_json::parse(json).dump(2);
}

} // namespace gpuvet
