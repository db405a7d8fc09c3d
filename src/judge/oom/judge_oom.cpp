#include "base/fill_text.hpp"
#include "judge/oom/arithmetic.hpp"
#include "judge/oom/decide.hpp"
#include "judge/oom/fixes.hpp"
#include "judge/oom/oom.hpp"
#include "judge/oom/words.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

const OomTemplate* template_of(const OomTables& tables, const OomMessage& message) {
  for (const OomTemplate& row : tables.templates)
    if (row.id == message.template_id) return &row;
  return nullptr;
}

// A compiler's warning that the program may not fit is no failure; it counts beside one.
bool is_warning(const OomMessage& message) {
  return message.template_id == "xla-remat";
}

size_t weight(const OomMessage& message, const OomTemplate& row) {
  size_t known = 0;
  for (const auto& [name, amount] : message.amounts)
    if (amount) ++known;
  known += message.others.size();
  switch (row.kind) {
  case OomKind::device:
  case OomKind::pool:
  case OomKind::startup:
  case OomKind::budget:
    return 10 + known;
  case OomKind::bare:
    return 5 + known;
  case OomKind::disguised:
    break;
  }
  return 1;
}

// The one that tells most; the first of several. Errors of libraries that found no room are
// consequences of any other.
const OomMessage* chosen(const OomEvidence& evidence, const OomTables& tables) {
  const OomMessage* best = nullptr;
  size_t most = 0;
  const bool fails = std::any_of(evidence.messages.begin(), evidence.messages.end(),
                                 [](const OomMessage& message) { return !is_warning(message); });
  for (const OomMessage& message : evidence.messages) {
    const OomTemplate* row = template_of(tables, message);
    if (row == nullptr || (is_warning(message) && !fails)) continue;
    const size_t has = weight(message, *row);
    if (has > most) {
      best = &message;
      most = has;
    }
  }
  return best;
}

struct Builder {
  const OomEvidence& evidence;
  const OomTables& tables;
  const OomMessage* message;

  bool suits(const OomFix& fix) const {
    return message
               ? fix_suits(fix, message->framework, message->template_id, evidence.expandable_set)
               : fix_suits(fix, "pytorch", "", evidence.expandable_set);
  }

  std::optional<OomVerdict> verdict(OomFinding finding) const {
    OomVerdict made;
    made.cause = find_oom_cause(tables, finding.cause);
    if (made.cause == nullptr) return std::nullopt;
    made.sureness = finding.sureness;
    finding.fields.emplace("alloc_conf", alloc_conf(tables, message));
    made.title = can_fill(made.cause->title, finding.fields)
                     ? fill_text(made.cause->title, finding.fields)
                     : made.cause->plain;
    made.evidence = std::move(finding.evidence);
    for (const OomFix& fix : made.cause->fixes)
      if (suits(fix) && can_fill(fix.command, finding.fields))
        made.fixes.push_back(fill_text(fix.command, finding.fields));
    return made;
  }
};

void add_notes(const OomEvidence& evidence, const OomTables& tables, OomReport& report) {
  std::vector<std::string>& notes = report.report.notes;
  if (report.message && !report.message->word("advice").empty() && !report.verdicts.empty() &&
      !report.verdicts.front().cause->note.empty())
    notes.push_back(fmt::format("the message's own advice ({}) misleads here: {}",
                                report.message->word("advice"),
                                report.verdicts.front().cause->note));
  if (report.message) {
    const OomBalance balance = balance_of(*report.message);
    if (balance.self_pid)
      notes.push_back(fmt::format("process {} is taken for this one, seen from outside of its "
                                  "container: it holds what the allocator holds and {} more",
                                  *balance.self_pid, size_text(balance.outside.value_or(0))));
    if (report.message->template_id == "torch-2.10" ||
        report.message->word("advice").find("PYTORCH_ALLOC_CONF") == 0)
      notes.push_back("PYTORCH_ALLOC_CONF was PYTORCH_CUDA_ALLOC_CONF before PyTorch 2.10");
  }
  if (evidence.expandable_set)
    notes.push_back("the log shows expandable_segments:True; that setting is on already");
  uint64_t more = evidence.messages_left;
  for (const OomMessage& message : evidence.messages)
    more += &message == report.message ? message.times - 1 : message.times;
  if (report.message && more > 0)
    notes.push_back(fmt::format("{} more such {} in the text; the one that tells most was judged",
                                more, more == 1 ? "message is" : "messages are"));
  for (const OomAside& aside : evidence.asides)
    for (const OomNot& row : tables.nots)
      if (row.id == aside.row)
        notes.push_back(fmt::format(
            "line {}{}: {}", aside.line,
            aside.times > 1 ? fmt::format(" and {} more", aside.times - 1) : "", row.meaning));
  for (const OomGrowth& growth : report.growth)
    if (!growth.rises && growth.values >= kFewestSamples)
      notes.push_back(fmt::format("{} does not grow: {} ({} values)", series_name(*growth.series),
                                  growth.why_not, growth.values));
}

std::string question_of(const OomReport& report, const OomTables& tables) {
  if (report.verdicts.empty()) return {};
  const OomTemplate* row = report.message ? template_of(tables, *report.message) : nullptr;
  if (report.outcome == OomOutcome::open && row && !row->question.empty()) return row->question;
  return report.verdicts.front().cause->measure;
}

State state_of(const OomReport& report) {
  if (report.outcome == OomOutcome::none) return State::ok;
  return report.outcome == OomOutcome::found ? State::fault : State::warning;
}

std::string verdict_line(const OomReport& report, const OomTables& tables, bool grows) {
  if (report.outcome == OomOutcome::none) return "No GPU memory ran out in this text.";
  const OomVerdict& best = report.verdicts.front();
  const std::string subject = grows ? "GPU memory grows" : "GPU memory ran out";
  if (report.outcome == OomOutcome::open) {
    const OomTemplate* row = report.message ? template_of(tables, *report.message) : nullptr;
    if (row && row->kind == OomKind::disguised)
      return fmt::format("{} One of {} causes; decide with: {}", row->meaning,
                         report.verdicts.size(), report.question);
    return fmt::format("{}; the text does not tell which of {} {} it is. Decide with: {}", subject,
                       report.verdicts.size(), report.verdicts.size() == 1 ? "cause" : "causes",
                       report.question);
  }
  std::string text = fmt::format("{} ({}): {}.", subject, sureness_word(best.sureness), best.title);
  if (!best.fixes.empty()) text += " Mend: " + best.fixes.front();
  return text;
}

Finding finding_of(const OomVerdict& verdict) {
  Finding finding;
  finding.id = verdict.cause->id;
  finding.state = verdict.sureness == OomSureness::certain  ? State::fault
                  : verdict.sureness == OomSureness::likely ? State::warning
                                                            : State::unknown;
  finding.title =
      fmt::format("{}: {} [{}]", sureness_word(verdict.sureness), verdict.title, verdict.cause->id);
  finding.evidence = verdict.evidence;
  finding.evidence.push_back("measure next: " + verdict.cause->measure);
  finding.cause = verdict.cause->cause;
  finding.fixes = verdict.fixes;
  return finding;
}

void write_report(const OomEvidence& evidence, const OomTables& tables, OomReport& report) {
  report.report.state = state_of(report);
  const bool failed = report.message || std::any_of(evidence.tables.begin(), evidence.tables.end(),
                                                    [](const OomTable& table) {
                                                      return table.failures.value_or(0) > 0;
                                                    });
  report.report.verdict = verdict_line(report, tables, !failed);
  if (report.message) {
    Table table = arithmetic_table(*report.message, balance_of(*report.message));
    if (!table.rows.empty()) report.report.tables.push_back(std::move(table));
    const OomTemplate* row = template_of(tables, *report.message);
    if (row)
      report.report.notes.push_back(
          fmt::format("line {}: {} ({})", report.message->line, row->meaning, row->versions));
  }
  for (const OomVerdict& verdict : report.verdicts)
    report.report.findings.push_back(finding_of(verdict));
  add_notes(evidence, tables, report);
}

// A leak comes before "too much", and before what is only likely; what is proved comes before it.
void insert_growth(std::vector<OomFinding>& found, std::vector<OomFinding> growing) {
  for (const OomFinding& finding : growing) {
    auto same = [&](const OomFinding& other) { return other.cause == finding.cause; };
    found.erase(std::remove_if(found.begin(), found.end(), same), found.end());
  }
  auto place = std::find_if(found.begin(), found.end(), [](const OomFinding& other) {
    return other.sureness != OomSureness::certain;
  });
  found.insert(place, std::make_move_iterator(growing.begin()),
               std::make_move_iterator(growing.end()));
}

} // namespace

const char* sureness_word(OomSureness sureness) {
  switch (sureness) {
  case OomSureness::certain:
    return "certain";
  case OomSureness::likely:
    return "likely";
  case OomSureness::possible:
    break;
  }
  return "possible";
}

OomReport judge_oom(const OomEvidence& evidence, const OomTables& tables) {
  OomReport report;
  report.message = chosen(evidence, tables);
  std::optional<uint64_t> total;
  if (report.message) total = report.message->amount("total").bytes;
  for (const OomSeries& series : evidence.series)
    report.growth.push_back(judge_growth(series, total));

  std::vector<OomFinding> found;
  if (report.message)
    found = decide(*report.message, *template_of(tables, *report.message), tables);
  if (!report.message || found.empty())
    for (const OomTable& table : evidence.tables)
      if (found.empty()) found = decide(table);
  insert_growth(found, decide(report.growth, report.message != nullptr));
  std::stable_sort(found.begin(), found.end(), [](const OomFinding& a, const OomFinding& b) {
    return a.sureness < b.sureness;
  });

  const Builder builder{evidence, tables, report.message};
  for (OomFinding& finding : found)
    if (auto verdict = builder.verdict(std::move(finding)))
      report.verdicts.push_back(std::move(*verdict));
  if (report.verdicts.empty())
    report.outcome = OomOutcome::none;
  else if (report.verdicts.front().sureness == OomSureness::possible)
    report.outcome = OomOutcome::open;
  else
    report.outcome = OomOutcome::found;
  report.question = question_of(report, tables);
  write_report(evidence, tables, report);
  return report;
}

} // namespace gpuvet
