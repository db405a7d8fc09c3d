#include "judge/policy/policy.hpp"

#include "base/regex.hpp"
#include "base/text.hpp"
#include "facts/packed.hpp"
#include "facts/pick/pick.hpp"
#include "judge/load/driver_needs.hpp"
#include "judge/load/find_device.hpp"
#include "judge/rules/alloc_conf.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace gpuvet {
namespace {

// What a key may hold.
enum class Holds : uint8_t { texts, text, flag };

struct KnownKey {
  std::string_view section, key;
  Holds holds;
};
constexpr KnownKey kKeys[] = {
    {"run", "native", Holds::texts},   {"run", "jit", Holds::texts},
    {"run", "driver", Holds::text},    {"run", "future-gpus", Holds::flag},
    {"size", "gpu-code", Holds::text}, {"size", "file", Holds::text},
    {"size", "total", Holds::text},    {"artefacts", "gpu-code-optional", Holds::flag},
};

// The most alike of some words; empty: none is.
std::string alike(std::string_view word, const std::vector<std::string>& words) {
  std::string best;
  size_t least = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string& known : words)
    if (size_t distance = edit_distance(word, known, least); distance < least) {
      least = distance;
      best = known;
    }
  return best;
}

struct Value {
  uint32_t line = 0;
  char kind = 's';
  std::string text;
};

class Reader {
 public:
  Reader(const Facts& facts, std::string file) : facts_(facts) { policy_.file = std::move(file); }

  Result<Policy> read(const PackedFile& packed) {
    auto rules = facts_.load_rules();
    if (!rules) return tl::unexpected<Error>(rules.error());
    rules_ = *rules;
    for (const PackedTable& table : packed.tables)
      if (!take_section(table)) return tl::unexpected<Error>(error_);
    if (!use_driver() || !use_gpus("native", true) || !use_gpus("jit", false) || !use_flags() ||
        !use_sizes() || !use_drivers_of_gpus() || !demands_something())
      return tl::unexpected<Error>(error_);
    return std::move(policy_);
  }

 private:
  bool refuse(uint32_t line, std::string what) {
    error_ = {std::move(what), fmt::format("{}:{}", policy_.file, line)};
    return false;
  }

  bool take_section(const PackedTable& table) {
    std::vector<std::string> sections;
    for (const KnownKey& known : kKeys)
      if (std::find(sections.begin(), sections.end(), known.section) == sections.end())
        sections.emplace_back(known.section);
    std::string name(table.name);
    bool known = std::find(sections.begin(), sections.end(), name) != sections.end();
    for (const PackedRow& row : table.rows)
      for (const PackedField& field : row.fields)
        if (!(known ? take_key(name, row.line, field)
                    : wrong_place(name, row.line, field, sections)))
          return false;
    if (!known)
      return refuse(1, fmt::format("no section is called [{}]{}", name, hint(name, sections)));
    return true;
  }

  static std::string hint(std::string_view word, const std::vector<std::string>& words) {
    std::string best = alike(word, words);
    return best.empty() ? ": there are " + joined(words) : fmt::format(": did you mean {}?", best);
  }

  bool wrong_place(const std::string& section, uint32_t line, const PackedField& field,
                   const std::vector<std::string>& sections) {
    if (!section.empty())
      return refuse(line,
                    fmt::format("no section is called [{}]{}", section, hint(section, sections)));
    for (const KnownKey& known : kKeys)
      if (known.key == field.key)
        return refuse(line, fmt::format("'{}' belongs in section [{}]", field.key, known.section));
    return refuse(line, fmt::format("no key is called '{}' outside of the sections", field.key));
  }

  bool take_key(const std::string& section, uint32_t line, const PackedField& field) {
    std::vector<std::string> keys;
    const KnownKey* found = nullptr;
    for (const KnownKey& known : kKeys) {
      if (known.section == section) keys.emplace_back(known.key);
      if (known.section == section && known.key == field.key) found = &known;
    }
    if (!found)
      return refuse(line, fmt::format("no key of [{}] is called '{}'{}", section, field.key,
                                      hint(field.key, keys)));
    bool list = field.kind == 'l';
    if (list && found->holds != Holds::texts)
      return refuse(line, fmt::format("'{}' takes one value, not a list", field.key));
    char wanted = found->holds == Holds::flag ? 'b' : 's';
    // A size may be a plain number of bytes, a driver a plain branch.
    bool number = field.kind == 'n' && found->holds == Holds::text;
    if (!list && field.kind != wanted && !number)
      return refuse(line, fmt::format("'{}' must be {}", field.key,
                                      wanted == 'b' ? "true or false" : "text in quotes"));
    std::vector<Value>& values = values_[section + "." + std::string(field.key)];
    if (!list) values.push_back({line, field.kind, std::string(field.value)});
    return true;
  }

  const Value* one(const std::string& key) const {
    auto at = values_.find(key);
    return at == values_.end() || at->second.empty() ? nullptr : &at->second.front();
  }

  bool use_driver() {
    const Value* value = one("run.driver");
    if (!value) return true;
    auto version = parse_version(value->text);
    bool plain = value->text.find_first_not_of("0123456789.") == std::string::npos;
    if (!version || !plain || version->major() < 300 || version->major() > 9999)
      return refuse(value->line, fmt::format("\"{}\" is not a driver version such as 535 or "
                                             "580.65.06",
                                             value->text));
    policy_.driver = make_driver(*rules_, value->text, *version);
    policy_.driver_line = value->line;
    return true;
  }

  bool use_gpus(const char* key, bool native) {
    auto at = values_.find(std::string("run.") + key);
    if (at == values_.end()) return true;
    for (const Value& value : at->second) {
      MigName mig = split_mig(value.text);
      auto device = find_device(mig.gpu, facts_);
      if (!device) return refuse(value.line, device.error().what);
      if (!mig.profile.empty() && !has_mig(device->sm, mig, value.line)) return false;
      for (const PolicyGpu& other : policy_.gpus)
        if (other.name == value.text)
          return refuse(value.line,
                        fmt::format("\"{}\" is named already in line {}", value.text, other.line));
      device->name = value.text;
      policy_.gpus.push_back({value.text, value.line, *device, native, {}});
    }
    return true;
  }

  // MIG: the slices have the GPU's capability; a profile on a card without MIG is a mistake.
  bool has_mig(uint32_t sm, const MigName& mig, uint32_t line) {
    auto tables = facts_.pick();
    if (!tables) {
      error_ = tables.error();
      return false;
    }
    for (const MigCapability& known : (*tables)->mig)
      if (known.sm == sm) return true;
    return refuse(line, fmt::format("{} (compute capability {}) has no MIG, so no profile {}",
                                    mig.gpu, cc_name(sm), mig.profile));
  }

  bool use_flags() {
    if (const Value* value = one("run.future-gpus"); value && value->text == "true")
      policy_.future_line = value->line;
    if (const Value* value = one("artefacts.gpu-code-optional"))
      policy_.code_optional = value->text == "true";
    return true;
  }

  bool use_sizes() {
    const std::pair<const char*, std::optional<SizeLimit>*> limits[] = {
        {"size.gpu-code", &policy_.gpu_code},
        {"size.file", &policy_.file_size},
        {"size.total", &policy_.total}};
    for (const auto& limit : limits) {
      const Value* value = one(limit.first);
      if (!value) continue;
      auto bytes = size_in_bytes(value->text);
      if (!bytes)
        return refuse(
            value->line,
            fmt::format("\"{}\" is not a size such as \"300 MB\" or \"1.5 GiB\"", value->text));
      *limit.second = SizeLimit{*bytes, value->line};
    }
    return true;
  }

  // The oldest driver that a GPU can have in the field: the policy's, or the first that knows it.
  bool use_drivers_of_gpus() {
    if (!policy_.driver) return true;
    for (PolicyGpu& gpu : policy_.gpus) {
      gpu.driver = policy_.driver;
      Refusal refusal = driver_refuses(gpu.device, *policy_.driver, *rules_);
      if (refusal.reason.empty()) continue;
      gpu.driver.reset();
      for (const DriverBranch& branch : rules_->branches) {
        if (branch.branch <= policy_.driver->version.major()) continue;
        LoadDriver newer = make_driver(*rules_, std::to_string(branch.branch), {{branch.branch}});
        if (!driver_refuses(gpu.device, newer, *rules_).reason.empty()) continue;
        gpu.driver = newer;
        break;
      }
      if (!gpu.driver)
        return refuse(policy_.driver_line, fmt::format("this cannot be met on {} (line {}): {}",
                                                       gpu.name, gpu.line, refusal.reason));
      policy_.notes.push_back(fmt::format("{} is judged for driver {}: {}", gpu.name,
                                          gpu.driver->text, refusal.reason));
    }
    return true;
  }

  bool demands_something() {
    if (!policy_.gpus.empty() || policy_.future_line || policy_.gpu_code || policy_.file_size ||
        policy_.total)
      return true;
    return refuse(1, "the policy requires nothing: name GPUs under [run] native or jit, or sizes "
                     "under [size]");
  }

  const Facts& facts_;
  const LoadRules* rules_ = nullptr;
  Policy policy_;
  Error error_;
  std::map<std::string, std::vector<Value>> values_; // "run.native"
};

} // namespace

std::optional<uint64_t> size_in_bytes(std::string_view text) {
  text = trimmed(text);
  size_t end = text.find_first_not_of("0123456789.");
  std::string number(text.substr(0, end));
  std::string unit =
      end == std::string_view::npos ? std::string() : lower_ascii(trimmed(text.substr(end)));
  const std::pair<std::string_view, double> units[] = {
      {"", 1},     {"b", 1},        {"kb", 1e3},        {"mb", 1e6},
      {"gb", 1e9}, {"kib", 1024.0}, {"mib", 1048576.0}, {"gib", 1073741824.0}};
  auto found = std::find_if(std::begin(units), std::end(units),
                            [&](const auto& known) { return known.first == unit; });
  bool sound = !number.empty() && number.size() <= 15 && number.front() != '.' &&
               number.back() != '.' && std::count(number.begin(), number.end(), '.') <= 1;
  if (found == std::end(units) || !sound) return std::nullopt;
  double whole = 0, scale = 1;
  bool fraction = false;
  for (char c : number) {
    if (c == '.') {
      fraction = true;
      continue;
    }
    whole = whole * 10 + (c - '0');
    if (fraction) scale *= 10;
  }
  double bytes = std::floor(whole / scale * found->second);
  if (bytes < 1 || bytes > 1e18) return std::nullopt;
  return static_cast<uint64_t>(bytes);
}

MigName split_mig(std::string_view name) {
  static const auto pattern = Regex::compile(
      "(?i)^(?P<gpu>.+?)[ -]+(?:MIG[ -]+)?(?P<profile>[1-7](?:c\\.[1-7])?g\\.[0-9]+gb"
      "(?:\\+(?:me|gfx)(?:\\.all)?|-me)?)$");
  if (pattern)
    if (auto fields = pattern->fields_in(name)) return {(*fields)["gpu"], (*fields)["profile"]};
  return {std::string(name), {}};
}

Result<Policy> read_policy(std::string_view text, const std::string& file, const Facts& facts) {
  auto packed = pack_settings(text, file);
  if (!packed) return tl::unexpected<Error>(packed.error());
  auto tables = read_packed(*packed, file);
  if (!tables) return tl::unexpected<Error>(tables.error());
  return Reader(facts, file).read(*tables);
}

} // namespace gpuvet
