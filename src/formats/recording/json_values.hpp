// From values to JSON and back, for the fields that recordings are made of. Absent means "not
// known": writing leaves such a field out, reading leaves it as it was.
#pragma once

#include "formats/json_write.hpp"
#include "formats/recording/fields.hpp"

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

inline constexpr int kNotAsked = -1; // NvmlValue::error

// Where in the document, kept on the stack and put into words only when something is wrong.
struct JsonPlace {
  const JsonPlace* outer = nullptr;
  std::string_view key; // empty: `index` counts
  size_t index = 0;
};

std::string in_words(const JsonPlace& place); // "nvml.gpus[3].uuid"

// Every reader returns false once `problem` is set.
struct JsonProblem {
  std::string what, where;

  bool set(std::string sentence, const JsonPlace& place) {
    if (what.empty()) {
      what = std::move(sentence);
      where = in_words(place);
    }
    return false;
  }
};

std::string_view name_of(AskState state);

// --- reading ---------------------------------------------------------------------------------

bool read_value(const Json& json, std::string& to, const JsonPlace& at, JsonProblem& problem);
bool read_value(const Json& json, bool& to, const JsonPlace& at, JsonProblem& problem);
bool read_value(const Json& json, double& to, const JsonPlace& at, JsonProblem& problem);
bool read_value(const Json& json, Target& to, const JsonPlace& at, JsonProblem& problem);
bool read_value(const Json& json, AskState& to, const JsonPlace& at, JsonProblem& problem);
bool read_value(const Json& json, KernelLog& to, const JsonPlace& at, JsonProblem& problem);
bool read_whole(const Json& json, int64_t least, uint64_t most, uint64_t& bits, const JsonPlace& at,
                JsonProblem& problem);

template <std::integral T>
bool read_value(const Json& json, T& to, const JsonPlace& at, JsonProblem& problem) {
  uint64_t bits = 0;
  if (!read_whole(json, static_cast<int64_t>(std::numeric_limits<T>::min()),
                  static_cast<uint64_t>(std::numeric_limits<T>::max()), bits, at, problem))
    return false;
  to = static_cast<T>(bits);
  return true;
}

// Declared first, since they call each other.
template <class T>
bool read_value(const Json& json, std::vector<T>& to, const JsonPlace& at, JsonProblem& problem);
template <class T> bool read_value(const Json& json, std::map<std::string, T>& to,
                                   const JsonPlace& at, JsonProblem& problem);
template <class T>
bool read_value(const Json& json, std::optional<T>& to, const JsonPlace& at, JsonProblem& problem);
template <class T>
bool read_value(const Json& json, Observed<T>& to, const JsonPlace& at, JsonProblem& problem);
template <class T>
bool read_value(const Json& json, NvmlValue<T>& to, const JsonPlace& at, JsonProblem& problem);

// Calls itself with each field of an object; afterwards every key must have been asked for.
class FieldReader {
 public:
  FieldReader(const Json& object, const JsonPlace& at, JsonProblem& problem)
      : object_(object), at_(at), problem_(problem), asked_(object.keys.size(), false) {}

  // The field, when it is there; marks it as read.
  const Json* take(std::string_view key);

  template <class T> void operator()(std::string_view key, T& to) {
    const Json* json = problem_.what.empty() ? take(key) : nullptr;
    if (json)
      read_value(*json, to, JsonPlace{.outer = &at_, .key = key}, problem_);
    else
      if_absent(to);
  }

  bool finish();

 private:
  template <class T> static void if_absent(T&) {}
  template <class T> static void if_absent(NvmlValue<T>& to) { to.error = kNotAsked; }

  const Json& object_;
  const JsonPlace& at_;
  JsonProblem& problem_;
  std::vector<bool> asked_;
};

bool expect(const Json& json, Json::Kind kind, const JsonPlace& at, JsonProblem& problem);

// What an absent field means where it is not the value that the struct starts with.
template <class T> void before_reading(T&) {}
void before_reading(Asked& asked);
void before_reading(ElfFacts& elf);

template <class T>
concept HasFields = requires(FieldReader& reader, T& value) {
  fields(reader, value);
};

template <HasFields T>
bool read_value(const Json& json, T& to, const JsonPlace& at, JsonProblem& problem) {
  if (!expect(json, Json::Kind::object, at, problem)) return false;
  before_reading(to);
  FieldReader reader(json, at, problem);
  fields(reader, to);
  return reader.finish();
}

template <class T>
bool read_value(const Json& json, std::vector<T>& to, const JsonPlace& at, JsonProblem& problem) {
  if (!expect(json, Json::Kind::list, at, problem)) return false;
  to.clear();
  for (size_t i = 0; i < json.items.size(); ++i) {
    to.emplace_back();
    if (!read_value(json.items[i], to.back(), JsonPlace{.outer = &at, .index = i}, problem))
      return false;
  }
  return true;
}

template <class T> bool read_value(const Json& json, std::map<std::string, T>& to,
                                   const JsonPlace& at, JsonProblem& problem) {
  if (!expect(json, Json::Kind::object, at, problem)) return false;
  to.clear();
  for (size_t i = 0; i < json.items.size(); ++i) {
    const JsonPlace here{.outer = &at, .key = json.keys[i]};
    auto [entry, is_new] = to.try_emplace(json.keys[i]);
    if (!is_new) return problem.set("this key stands here twice", here);
    if (!read_value(json.items[i], entry->second, here, problem)) return false;
  }
  return true;
}

template <class T>
bool read_value(const Json& json, std::optional<T>& to, const JsonPlace& at, JsonProblem& problem) {
  return read_value(json, to.emplace(), at, problem);
}

template <class T>
bool read_value(const Json& json, Observed<T>& to, const JsonPlace& at, JsonProblem& problem) {
  to = {};
  if (json.kind != Json::Kind::object || !(json.has("unknown") || json.has("value"))) {
    to.why_unknown.clear();
    return read_value(json, to.value.emplace(), at, problem);
  }
  FieldReader reader(json, at, problem);
  if (json.has("unknown")) {
    reader("unknown", to.why_unknown);
  } else {
    to.why_unknown.clear();
    reader("value", to.value.emplace());
    reader("source", to.source);
  }
  return reader.finish();
}

template <class T>
bool read_value(const Json& json, NvmlValue<T>& to, const JsonPlace& at, JsonProblem& problem) {
  to = {};
  if (json.kind != Json::Kind::object) return read_value(json, to.value.emplace(), at, problem);
  FieldReader reader(json, at, problem);
  reader("error", to.error);
  return reader.finish();
}

// --- writing: null means "leave it out" -------------------------------------------------------

Json to_json(const std::string& value);
Json to_json(bool value);
Json to_json(double value);
Json to_json(Target value);
Json to_json(AskState value);
Json to_json(const KernelLog& value);

template <std::integral T> Json to_json(T value) {
  if constexpr (std::is_same_v<T, uint64_t>)
    if (value == std::numeric_limits<uint64_t>::max()) return json_of("unlimited");
  if constexpr (std::is_signed_v<T>)
    return json_of(static_cast<int64_t>(value));
  else
    return json_of(static_cast<uint64_t>(value));
}

template <class T> Json to_json(const std::vector<T>& values);
template <class T> Json to_json(const std::map<std::string, T>& values);
template <class T> Json to_json(const std::optional<T>& value);
template <class T> Json to_json(const Observed<T>& value);
template <class T> Json to_json(const NvmlValue<T>& value);

bool is_left_out(const Json& json); // nothing in it

class FieldWriter {
 public:
  template <class T> void operator()(std::string_view key, const T& value) {
    Json json = to_json(value);
    if (!is_left_out(json) || is_told(value)) set(object, std::string(key), std::move(json));
  }

  Json object = json_object();

 private:
  // An empty list that NVML gave is an answer; left out it would mean that nobody asked.
  template <class T> static bool is_told(const T&) { return false; }
  template <class T> static bool is_told(const NvmlValue<T>& value) { return bool(value); }
};

template <HasFields T> Json to_json(const T& value) {
  FieldWriter writer;
  fields(writer, value);
  return std::move(writer.object);
}

template <class T> Json to_json(const std::vector<T>& values) {
  Json list = json_list();
  for (const T& value : values)
    list.items.push_back(to_json(value));
  return list;
}

template <class T> Json to_json(const std::map<std::string, T>& values) {
  Json object = json_object();
  for (const auto& [key, value] : values)
    set(object, key, to_json(value));
  return object;
}

template <class T> Json to_json(const std::optional<T>& value) {
  return value ? to_json(*value) : Json{};
}

template <class T> Json to_json(const Observed<T>& value) {
  Json json = json_object();
  if (!value) {
    if (value.why_unknown == Observed<T>{}.why_unknown) return {};
    set(json, "unknown", json_of(value.why_unknown));
    return json;
  }
  Json plain = to_json(*value);
  if (value.source.empty() && !is_left_out(plain)) return plain;
  set(json, "value", std::move(plain));
  if (!value.source.empty()) set(json, "source", json_of(value.source));
  return json;
}

template <class T> Json to_json(const NvmlValue<T>& value) {
  if (value) return to_json(*value);
  if (value.error == kNotAsked) return {};
  Json json = json_object();
  set(json, "error", to_json(value.error));
  return json;
}

} // namespace gpuvet
