#include "cli/ldd_json.hpp"

#include "judge/ldd/ldd_report.hpp"
#include "render/load_tree.hpp"

#include <nlohmann/json.hpp>

namespace gpuvet {
namespace {

using nlohmann::ordered_json;

const char* kind_name(AskedKind kind) {
  switch (kind) {
  case AskedKind::file:
    return "file";
  case AskedKind::soname:
    return "soname";
  case AskedKind::process:
    return "process";
  case AskedKind::package:
    break;
  }
  return "package";
}

const char* state_name(State state) {
  switch (state) {
  case State::ok:
    return "ok";
  case State::info:
    return "info";
  case State::warning:
    return "warning";
  case State::fault:
    return "fault";
  case State::not_applicable:
    return "not-applicable";
  case State::skipped:
    return "skipped";
  case State::unknown:
    break;
  }
  return "unknown";
}

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json() : ordered_json(text);
}

ordered_json edge_json(const LoadEdge& edge) {
  ordered_json json = {{"name", edge.name},
                       {"rule", rule_name(edge.rule)},
                       {"by", edge.by},
                       {"path", text_or_null(edge.path)},
                       {"real_path", text_or_null(edge.real_path)},
                       {"node", nullptr},
                       {"at_run_time", edge.at_run_time},
                       {"tried", ordered_json::array()},
                       {"elsewhere", edge.elsewhere}};
  if (edge.node != SIZE_MAX) json["node"] = edge.node;
  for (const Candidate& candidate : edge.tried)
    json["tried"].push_back({{"path", text_or_null(candidate.path)},
                             {"rule", rule_name(candidate.rule)},
                             {"why_not", text_or_null(candidate.why_not)}});
  return json;
}

ordered_json node_json(const LoadNode& node) {
  ordered_json json = {{"path", text_or_null(node.path)},
                       {"real_path", text_or_null(node.real_path)},
                       {"soname", text_or_null(node.soname)}};
  if (node.elf) {
    json["rpath"] = node.elf->rpath;
    json["runpath"] = node.elf->runpath;
  } else if (!node.path.empty()) {
    json["unknown"] = node.elf.why_unknown;
  }
  json["needs"] = ordered_json::array();
  for (const LoadEdge& edge : node.needs)
    json["needs"].push_back(edge_json(edge));
  return json;
}

ordered_json finding_json(const Finding& finding) {
  return {{"id", finding.id},       {"state", state_name(finding.state)},
          {"title", finding.title}, {"evidence", finding.evidence},
          {"cause", finding.cause}, {"fixes", finding.fixes}};
}

ordered_json subject_json(const LddSubject& subject) {
  ordered_json json = {{"asked", subject.asked},
                       {"kind", kind_name(subject.kind)},
                       {"missing", subject.tree.missing},
                       {"nodes", ordered_json::array()},
                       {"findings", ordered_json::array()},
                       {"notes", subject.tree.notes}};
  for (const LoadNode& node : subject.tree.nodes)
    json["nodes"].push_back(node_json(node));
  for (const Finding& finding : ldd_findings(subject))
    json["findings"].push_back(finding_json(finding));
  if (subject.kind == AskedKind::process) json["deleted"] = subject.deleted;
  if (subject.now) {
    json["now"] = ordered_json::array();
    for (const LoadNode& node : subject.now->nodes)
      json["now"].push_back({{"soname", text_or_null(node.soname)},
                             {"path", text_or_null(node.path)},
                             {"real_path", text_or_null(node.real_path)}});
  }
  return json;
}

} // namespace

std::string ldd_json(const LddResult& result, const Report& report) {
  ordered_json json = {{"schema", "gpuvet-ldd/1"},
                       {"gpuvet", GPUVET_VERSION},
                       {"verdict", report.verdict},
                       {"state", state_name(report.state)},
                       {"subjects", ordered_json::array()}};
  for (const LddSubject& subject : result.subjects)
    json["subjects"].push_back(subject_json(subject));
  json["notes"] = result.notes;
  json["errors"] = ordered_json::array();
  for (const Error& error : result.errors)
    json["errors"].push_back({{"what", error.what}, {"where", error.where}});
  // Names on a file system need not be UTF-8: bad bytes are replaced.
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

} // namespace gpuvet
