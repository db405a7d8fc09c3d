#include "facts/readers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>

namespace gpuvet {
namespace {

Severity severity(FactRow& row) {
  std::string word = row.text("severity");
  if (word == "info") return Severity::info;
  if (word == "warning") return Severity::warning;
  if (word == "error") return Severity::error;
  if (word != "blocker") row.refuse("'severity' is info, warning, error or blocker");
  return Severity::blocker;
}

// In the order of Safety.
constexpr std::array<std::string_view, 7> kSafetyNames = {
    "safe", "changes-files", "needs-root", "restarts-service", "reboot", "hardware", "provider"};

Safety safety(FactRow& row) {
  if (auto known = safety_of(row.text("safety"))) return *known;
  row.refuse("'safety' is safe, changes-files, needs-root, restarts-service, reboot, hardware or "
             "provider");
  return Safety::hardware;
}

CheckRow read_check(FactRow& row, const std::string& area) {
  CheckRow check;
  check.id = row.text("id");
  check.area = area;
  check.asks = row.text("asks");
  check.severity = severity(row);
  check.title = row.text("title");
  check.cause = row.text("cause");
  check.blame = row.text("blame");
  check.log = row.text_if("log");
  check.symptoms = row.list("symptoms");
  check.hides = row.list("hides");
  check.note = row.text_if("note");
  check.action = row.text_if("action");
  check.source = row.source();
  row.end();
  return check;
}

} // namespace

std::string_view safety_name(Safety safety) {
  return kSafetyNames.at(static_cast<size_t>(safety));
}

std::optional<Safety> safety_of(std::string_view name) {
  const auto* at = std::find(kSafetyNames.begin(), kSafetyNames.end(), name);
  if (at == kSafetyNames.end()) return std::nullopt;
  return static_cast<Safety>(at - kSafetyNames.begin());
}

CheckFix read_check_fix(FactRow& row) {
  CheckFix fix;
  fix.check = row.text("check");
  fix.command = row.text_if("command");
  if (std::string step = row.text_if("step"); !step.empty()) {
    if (!fix.command.empty()) row.refuse("a fix has a command or a step, not both");
    fix.prose = true;
    fix.command = step;
  }
  if (fix.command.empty()) row.refuse("a fix needs a command or a step");
  fix.safety = safety(row);
  fix.on = row.list("on");
  row.end();
  return fix;
}

void read_areas(FactFile& file, CheckTables& tables) {
  for (const PackedRow& packed : file.rows("area")) {
    FactRow row(file, packed);
    tables.areas.push_back({row.text("id"), row.text("title")});
    row.end();
  }
  for (const PackedRow& packed : file.rows("symptom")) {
    FactRow row(file, packed);
    Symptom symptom;
    symptom.id = row.text("id");
    symptom.title = row.text("title");
    symptom.decide = row.text("decide");
    symptom.source = row.source();
    row.end();
    tables.symptoms.push_back(std::move(symptom));
  }
}

void read_checks(FactFile& file, const std::string& area, CheckTables& tables) {
  size_t first = tables.checks.size();
  for (const PackedRow& packed : file.rows("check")) {
    FactRow row(file, packed);
    tables.checks.push_back(read_check(row, area));
  }
  for (const PackedRow& packed : file.rows("fix")) {
    FactRow row(file, packed);
    CheckFix fix = read_check_fix(row);
    auto at = std::find_if(tables.checks.begin() + static_cast<std::ptrdiff_t>(first),
                           tables.checks.end(),
                           [&](const CheckRow& check) { return check.id == fix.check; });
    if (at == tables.checks.end())
      row.refuse("there is no check '" + fix.check + "' in this file");
    else
      at->fixes.push_back(std::move(fix));
  }
}

namespace {

// What each of NVIDIA's words for an action asks for, in the form of fixes.
using Actions = std::map<std::string, std::vector<CheckFix>>;

Actions read_actions(FactFile& file) {
  Actions actions;
  for (const PackedRow& packed : file.rows("action")) {
    FactRow row(file, packed);
    std::vector<CheckFix>& fixes = actions[row.text("id")];
    row.text("title");
    if (std::string command = row.text_if("command"); !command.empty())
      fixes.push_back({{}, command, false, safety(row), {}});
    Safety of_steps = fixes.empty() ? Safety::safe : fixes.front().safety;
    for (const std::string& step : row.list("steps"))
      fixes.push_back({{}, step, true, of_steps, {}});
    row.source();
    row.end();
  }
  return actions;
}

// The command first, then the code's own steps, then those of its action.
std::vector<CheckFix> xid_fixes(FactRow& row, const std::string& id, const Actions& actions,
                                const std::string& action) {
  auto at = actions.find(action);
  if (at == actions.end()) {
    row.refuse("there is no action '" + action + "'");
    return {};
  }
  std::vector<CheckFix> fixes = at->second;
  auto first_step =
      std::find_if(fixes.begin(), fixes.end(), [](const CheckFix& fix) { return fix.prose; });
  for (const std::string& step : row.list("steps"))
    first_step = fixes.insert(first_step, {{}, step, true, Safety::safe, {}}) + 1;
  for (CheckFix& fix : fixes)
    fix.check = id;
  return fixes;
}

} // namespace

// An Xid is a check of the kernel log.
void read_xids(FactFile& file, CheckTables& tables) {
  const Actions actions = read_actions(file);
  for (const PackedRow& packed : file.rows("xid")) {
    FactRow row(file, packed);
    Xid xid;
    xid.code = row.count("code");
    xid.name = row.text("name");
    xid.meaning = row.text("meaning");
    xid.severity = severity(row);
    xid.action = row.text("action");
    xid.blame = row.text("blame");
    xid.with = row.counts("with");
    CheckRow check;
    check.id = fmt::format("xid-{}", xid.code);
    check.area = "xid";
    check.asks = fmt::format("has the driver logged Xid {} ({})?", xid.code, xid.name);
    check.severity = xid.severity;
    check.title = fmt::format("Xid {} on {{gpu}}: {}", xid.code, xid.name);
    check.cause = xid.meaning;
    check.blame = xid.blame;
    check.action = xid.action;
    check.fixes = xid_fixes(row, check.id, actions, xid.action);
    check.symptoms = row.list("symptoms");
    check.hides = row.list("hides");
    for (uint32_t other : xid.with)
      check.hides.push_back(fmt::format("xid-{}", other));
    xid.source = check.source = row.source();
    row.end();
    tables.checks.push_back(std::move(check));
    tables.xids.push_back(std::move(xid));
  }
}

} // namespace gpuvet
