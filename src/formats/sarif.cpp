#include "formats/sarif.hpp"

#include "formats/json_write.hpp"

#include <fmt/core.h>

namespace gpuvet {
namespace {

Json message(std::string_view text) {
  Json json = json_object();
  set(json, "text", json_of(text));
  return json;
}

// A path as a URI reference (RFC 3986): only unreserved characters and '/' stand for themselves,
// so that a colon in the first segment is no scheme.
std::string uri_of(std::string_view path) {
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (char c : path) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                 c == '/' || c == '-' || c == '.' || c == '_' || c == '~';
    if (plain)
      uri += c;
    else
      uri += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return uri;
}

Json rule_json(const SarifRule& rule) {
  Json json = json_object();
  set(json, "id", json_of(rule.id));
  set(json, "shortDescription", message(rule.summary));
  if (!rule.help.empty()) set(json, "help", message(rule.help));
  return json;
}

Json location_json(const SarifResult& result) {
  Json artifact = json_object();
  set(artifact, "uri", json_of(uri_of(result.file)));
  Json physical = json_object();
  set(physical, "artifactLocation", std::move(artifact));
  if (result.line > 0) {
    Json region = json_object();
    set(region, "startLine", json_of(uint64_t{result.line}));
    if (result.column > 0) set(region, "startColumn", json_of(uint64_t{result.column}));
    set(physical, "region", std::move(region));
  }
  Json location = json_object();
  set(location, "physicalLocation", std::move(physical));
  return location;
}

Json result_json(const SarifResult& result, const std::vector<SarifRule>& rules) {
  Json json = json_object();
  set(json, "ruleId", json_of(result.rule));
  for (size_t i = 0; i < rules.size(); ++i)
    if (rules[i].id == result.rule) {
      set(json, "ruleIndex", json_of(uint64_t{i}));
      break;
    }
  set(json, "level", json_of(result.level));
  set(json, "message", message(result.message));
  Json locations = json_list();
  if (!result.file.empty()) locations.items.push_back(location_json(result));
  set(json, "locations", std::move(locations));
  return json;
}

} // namespace

std::string write_sarif(std::string_view command, const std::vector<SarifRule>& rules,
                        const std::vector<SarifResult>& results) {
  Json driver = json_object();
  set(driver, "name", json_of("gpuvet"));
  set(driver, "version", json_of(GPUVET_VERSION));
  Json listed = json_list();
  for (const SarifRule& rule : rules)
    listed.items.push_back(rule_json(rule));
  set(driver, "rules", std::move(listed));
  Json tool = json_object();
  set(tool, "driver", std::move(driver));

  Json automation = json_object(); // tells several commands' results of one commit apart
  set(automation, "id", json_of("gpuvet " + std::string(command) + "/"));

  Json run = json_object();
  set(run, "tool", std::move(tool));
  set(run, "automationDetails", std::move(automation));
  set(run, "columnKind", json_of("unicodeCodePoints"));
  Json list = json_list();
  for (const SarifResult& result : results)
    list.items.push_back(result_json(result, rules));
  set(run, "results", std::move(list));

  Json root = json_object();
  set(root, "$schema", json_of("https://json.schemastore.org/sarif-2.1.0.json"));
  set(root, "version", json_of("2.1.0"));
  Json runs = json_list();
  runs.items.push_back(std::move(run));
  set(root, "runs", std::move(runs));
  return write_json(root);
}

} // namespace gpuvet
