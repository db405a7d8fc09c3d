#include "judge/buildlog/log_report.hpp"

#include "base/text.hpp"
#include "judge/lint/code_image.hpp"
#include "judge/lint/entries.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

std::string target_name(const LoggedTarget& target) {
  return target.ptx ? compute_name(target.target) : sm_name(target.target);
}

std::string target_names(const std::vector<LoggedTarget>& list) {
  std::vector<std::string> names;
  for (const LoggedTarget& one : list)
    names.push_back(target_name(one));
  return joined(names);
}

bool holds(const std::vector<LoggedTarget>& list, const LoggedTarget& target) {
  return std::find(list.begin(), list.end(), target) != list.end();
}

// A list as its variable means it; one without a name as its spelling says.
Result<std::vector<LoggedTarget>> asked_targets(const std::string& text, const LintTables& tables) {
  size_t equals = text.find('=');
  std::string name = equals == text.npos ? std::string() : text.substr(0, equals);
  std::string value = equals == text.npos ? text : text.substr(equals + 1);
  if (name.starts_with("-D")) name = name.substr(2);
  if (size_t colon = name.find(':'); colon != name.npos) name = name.substr(0, colon);
  const LintVariable* variable = nullptr;
  for (const LintVariable& row : tables.variables)
    if (row.name == name) variable = &row;
  if (!name.empty() && !variable)
    return fail("gpuvet knows no variable of this name", "--asked " + text);
  std::string used;
  std::vector<ListEntry> entries = parse_entries(value, used);
  std::erase_if(entries, [](const ListEntry& entry) { return entry.text.empty(); });
  bool all = !entries.empty() && std::all_of(entries.begin(), entries.end(),
                                             [](const ListEntry& e) { return e.is_target; });
  if (!all)
    return fail("this is no list of architectures such as 8.0;8.6+PTX or 80;86", "--asked " + text);
  LintVariable guessed;
  // Numbers alone ask for machine code; PTX is asked for where CMake's words are used.
  bool cmake = std::any_of(entries.begin(), entries.end(), [](const ListEntry& entry) {
    return entry.real_only || entry.virtual_only;
  });
  bool prefixed = std::any_of(entries.begin(), entries.end(), [](const ListEntry& entry) {
    return entry.style == NumberStyle::machine || entry.style == NumberStyle::virtual_code;
  });
  guessed.ptx = cmake ? "cmake" : prefixed ? "prefix" : "plus";
  std::vector<LoggedTarget> made;
  for (const CodeTarget& one : code_targets(entries, variable ? *variable : guessed)) {
    bool only_ptx = prefixed && !variable && one.ptx;
    if (one.sass && !only_ptx) made.push_back({one.target, false});
    if (one.ptx) made.push_back({one.target, true});
  }
  std::sort(made.begin(), made.end());
  made.erase(std::unique(made.begin(), made.end()), made.end());
  return made;
}

void compare(LogVerdict& verdict, const std::vector<LoggedTarget>& asked) {
  for (const LoggedTarget& one : asked)
    if (!holds(verdict.made, one)) verdict.missing.push_back(one);
  for (const LoggedTarget& one : verdict.made)
    if (!holds(asked, one)) verdict.extra.push_back(one);
}

// With `all_ptx`: what clang makes where it embeds PTX beside the machine code. Its old driver does
// so by default, its new one only with --cuda-include-ptx.
Container container_of(const LoggedSet& set, bool all_ptx, const LoadRules& rules) {
  Container container;
  for (const LoggedTarget& one : set.targets) {
    container.images.push_back(code_image(one.target, one.ptx, rules));
    if (all_ptx && !one.ptx) container.images.push_back(code_image(one.target, true, rules));
  }
  return container;
}

LoadVerdict verdict_of(const LoggedSet& set, bool all_ptx, const LoadDevice& device,
                       const LoadRules& rules) {
  return load_container(container_of(set, all_ptx, rules), device, nullptr, {}, rules);
}

LogDevice judge_device(const LoadDevice& device, const std::vector<LoggedSet>& sets,
                       const LoadRules& rules) {
  LogDevice made;
  made.device = device;
  for (const LoggedSet& set : sets) {
    if (set.targets.empty()) continue; // a default or a word: not known
    made.commands += set.commands;
    LoadVerdict verdict = verdict_of(set, false, device, rules);
    if (loads(verdict)) {
      made.serving += set.commands;
    } else if (set.compiler.starts_with("clang") && loads(verdict_of(set, true, device, rules))) {
      made.unsure += set.commands;
    } else if (made.reason.empty()) {
      made.reason = verdict.reason;
      made.without = set;
    }
  }
  return made;
}

std::string commands_text(const std::vector<LoggedSet>& sets) {
  uint64_t commands = 0;
  for (const LoggedSet& set : sets)
    commands += set.commands;
  return fmt::format("{} command{}", commands, commands == 1 ? "" : "s");
}

bool is_vague(const LoggedSet& set) {
  return set.targets.empty();
}

Table table_of(const LogVerdict& verdict) {
  Table table;
  table.columns = {{"target"},
                   {"code"},
                   {verdict.from_commands ? "commands" : "flags", Align::right},
                   {"first line", Align::right}};
  uint64_t all = 0;
  for (const LoggedSet& set : verdict.sets)
    all += set.commands;
  for (const LoggedTarget& one : verdict.made) {
    uint64_t commands = 0, line = 0;
    for (const LoggedSet& set : verdict.sets)
      if (holds(set.targets, one)) {
        commands += set.commands;
        if (line == 0) line = set.first_line;
      }
    table.rows.push_back(
        {{target_name(one)},
         {one.ptx ? "PTX" : "machine code"},
         {commands == all ? fmt::format("{}", commands) : fmt::format("{} of {}", commands, all)},
         {std::to_string(line)}});
  }
  return table;
}

void add_devices(Report& report, const LogVerdict& verdict) {
  for (const LogDevice& one : verdict.devices) {
    uint64_t failing = one.commands - one.serving - one.unsure;
    if (failing == 0) continue;
    Finding finding;
    finding.id = "gpu-not-served";
    finding.state = State::fault;
    finding.title = failing == one.commands
                        ? fmt::format("nothing that was made runs on {}", one.device.name)
                        : fmt::format("what {} of {} commands made does not run on {}", failing,
                                      one.commands, one.device.name);
    finding.evidence.push_back(fmt::format("line {}: {} makes {}", one.without.first_line,
                                           one.without.compiler,
                                           target_names(one.without.targets)));
    finding.cause = fmt::format("{} is {}, and there is {}", one.device.name,
                                cc_name(one.device.sm), one.reason);
    finding.fixes.push_back(
        fmt::format("add {} to the list of architectures and build again", cc_name(one.device.sm)));
    report.findings.push_back(std::move(finding));
  }
}

void add_asked(Report& report, const LogVerdict& verdict) {
  if (verdict.missing.empty()) return;
  Finding finding;
  finding.id = "asked-and-not-made";
  finding.state = State::fault;
  finding.title = "asked for and not made: " + target_names(verdict.missing);
  finding.evidence = {fmt::format("asked: {} ({})", verdict.asked, verdict.asked_from),
                      "made: " + target_names(verdict.made)};
  finding.cause = "the value did not reach the compiler: another setting wins, the variable is not "
                  "the one that the build reads, or an old configuration was kept";
  finding.fixes = {"configure in an empty build folder; gpuvet arch lint looks at the build files"};
  report.findings.push_back(std::move(finding));
}

void add_refusals(Report& report, const BuildLog& log) {
  for (const LoggedRemark& refused : log.refused) {
    Finding finding;
    finding.id = "architecture-refused";
    finding.state = State::fault;
    finding.title = refused.text;
    finding.evidence = {fmt::format(
        "line {}{}", refused.line,
        refused.times > 1 ? fmt::format(" and {} more", refused.times - 1) : std::string())};
    finding.cause = "the toolkit doesn't know the target: it is too old for it, or has dropped it";
    finding.fixes = {"gpuvet facts toolkits lists which toolkit knows which target"};
    report.findings.push_back(std::move(finding));
  }
}

void add_notes(Report& report, const BuildLog& log, const LogVerdict& verdict) {
  for (const LoggedSet& set : verdict.sets) {
    if (!is_vague(set)) continue;
    report.notes.push_back(
        set.word.empty()
            ? fmt::format(
                  "{} command{} from line {} on name no target: {} takes its default, which "
                  "depends on the toolkit",
                  set.commands, set.commands == 1 ? "" : "s", set.first_line, set.compiler)
            : fmt::format(
                  "{} command{} from line {} on say '{}': which targets those are depends on "
                  "the {}",
                  set.commands, set.commands == 1 ? "" : "s", set.first_line, set.word,
                  set.word == "native" ? "GPU of the machine that built" : "toolkit"));
  }
  for (const LoggedRemark& one : log.detected)
    report.notes.push_back(fmt::format("line {}: {}", one.line, one.text));
  for (const LogDevice& one : verdict.devices)
    if (one.unsure > 0)
      report.notes.push_back(fmt::format(
          "unknown for {}: {} of {} commands serve it only if clang embedded PTX, which depends on "
          "its version; gpuvet scan tells from the product",
          one.device.name, one.unsure, one.commands));
  uint64_t shown = 0;
  for (const LoggedSet& set : log.sets)
    shown += set.commands;
  if (log.silent_objects > shown)
    report.notes.push_back(fmt::format("{} CUDA object{} from line {} on {} compiled without "
                                       "showing the command; ninja -v or make "
                                       "VERBOSE=1 shows it",
                                       log.silent_objects, log.silent_objects == 1 ? "" : "s",
                                       log.first_silent_line,
                                       log.silent_objects == 1 ? "was" : "were"));
  if (!verdict.extra.empty())
    report.notes.push_back("made beside what was asked for: " + target_names(verdict.extra));
  if (log.cut) report.notes.push_back("the log has more different commands than gpuvet keeps");
}

} // namespace

Result<LogVerdict> judge_log(const BuildLog& log, const LogAsked& asked, const LintTables& tables,
                             const LoadRules& rules) {
  LogVerdict verdict;
  verdict.from_commands = !log.sets.empty();
  verdict.sets = verdict.from_commands ? log.sets : log.announced;
  for (const LoggedSet& set : verdict.sets)
    verdict.made.insert(verdict.made.end(), set.targets.begin(), set.targets.end());
  std::sort(verdict.made.begin(), verdict.made.end());
  verdict.made.erase(std::unique(verdict.made.begin(), verdict.made.end()), verdict.made.end());
  bool vague = std::any_of(verdict.sets.begin(), verdict.sets.end(), is_vague);
  if (!asked.asked.empty()) {
    auto targets = asked_targets(asked.asked, tables);
    if (!targets) return tl::unexpected(targets.error());
    verdict.asked = asked.asked;
    verdict.asked_from = "--asked";
    if (!verdict.sets.empty() && !vague) compare(verdict, *targets);
  } else if (log.asked.size() == 1) {
    // Words and several values are not compared: which of them counts isn't known.
    if (auto targets = asked_targets(log.asked.front().text, tables)) {
      verdict.asked = log.asked.front().text;
      verdict.asked_from = fmt::format("line {}", log.asked.front().line);
      if (!verdict.sets.empty() && !vague) compare(verdict, *targets);
    }
  }
  for (const LoadDevice& device : asked.gpus)
    verdict.devices.push_back(judge_device(device, verdict.sets, rules));
  return verdict;
}

Report log_report(const BuildLog& log, const LogVerdict& verdict) {
  Report report;
  report.state = State::ok;
  if (!verdict.made.empty()) report.tables.push_back(table_of(verdict));
  add_asked(report, verdict);
  add_devices(report, verdict);
  add_refusals(report, log);
  add_notes(report, log, verdict);
  if (verdict.sets.empty()) {
    report.state = report.findings.empty() ? State::unknown : State::fault;
    report.verdict =
        report.findings.empty()
            ? "unknown: the log holds no compiler command with GPU targets; build with "
              "ninja -v, make VERBOSE=1 or bazel build -s"
            : "the compiler refused an architecture";
    return report;
  }
  std::string made =
      verdict.made.empty() ? "targets that the log does not name" : target_names(verdict.made);
  report.verdict = verdict.from_commands
                       ? fmt::format("the build made {} ({})", made, commands_text(verdict.sets))
                       : fmt::format("the build system announced {}; no compiler command shows "
                                     "that it was made",
                                     made);
  if (!report.findings.empty())
    report.state = State::fault;
  else if (verdict.made.empty())
    report.state = State::unknown;
  return report;
}

} // namespace gpuvet
