// The only file in formats that knows nlohmann-json.
#include "formats/json_read.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace gpuvet {
namespace {

constexpr size_t kDeepest = 64;
constexpr size_t kMostValues = size_t{1} << 20;

// Builds the tree while the document is parsed. The stack is ours, so nesting costs no recursion.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  Json root;
  std::string problem;

  bool null() override { return add({}); }
  bool boolean(bool value) override {
    Json json;
    json.kind = Json::Kind::boolean;
    json.boolean = value;
    return add(std::move(json));
  }
  bool number_integer(number_integer_t value) override {
    auto bits = static_cast<uint64_t>(value);
    return number(static_cast<double>(value), value < 0 ? ~bits + 1 : bits, value < 0);
  }
  bool number_unsigned(number_unsigned_t value) override {
    return number(static_cast<double>(value), value, false);
  }
  bool number_float(number_float_t value, const string_t&) override {
    Json json;
    json.kind = Json::Kind::number;
    json.number = value;
    return add(std::move(json));
  }
  bool string(string_t& value) override {
    Json text;
    text.kind = Json::Kind::text;
    text.text = value;
    return add(std::move(text));
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return open(Json::Kind::object); }
  bool start_array(size_t) override { return open(Json::Kind::list); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    stack_.back().keys.push_back(name);
    return true;
  }
  bool parse_error(size_t at, const std::string&, const nlohmann::detail::exception&) override {
    problem = "this is not JSON from byte " + std::to_string(at) + " on";
    return false;
  }

 private:
  bool number(double value, uint64_t magnitude, bool negative) {
    Json json;
    json.kind = Json::Kind::number;
    json.number = value;
    json.whole = true;
    json.negative = negative;
    json.magnitude = magnitude;
    return add(std::move(json));
  }

  bool add(Json value) {
    if (++values_ > kMostValues) {
      problem = "the JSON document has too many values";
      return false;
    }
    if (stack_.empty())
      root = std::move(value);
    else
      stack_.back().items.push_back(std::move(value));
    return true;
  }

  bool open(Json::Kind kind) {
    if (stack_.size() >= kDeepest) {
      problem = "the JSON document is nested too deeply";
      return false;
    }
    Json value;
    value.kind = kind;
    stack_.push_back(std::move(value));
    return true;
  }

  bool close() {
    Json done = std::move(stack_.back());
    stack_.pop_back();
    return add(std::move(done));
  }

  std::vector<Json> stack_;
  size_t values_ = 0;
};

} // namespace

const Json& Json::operator[](std::string_view key) const {
  static const Json none;
  auto at = std::find(keys.begin(), keys.end(), key);
  return at == keys.end() ? none : items[static_cast<size_t>(at - keys.begin())];
}

bool Json::has(std::string_view key) const {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

Result<Json> parse_json(std::string_view text, const std::string& where) {
  Builder builder;
  if (!nlohmann::json::sax_parse(text, &builder))
    return fail(builder.problem.empty() ? "this is not JSON" : builder.problem, where);
  return std::move(builder.root);
}

} // namespace gpuvet
