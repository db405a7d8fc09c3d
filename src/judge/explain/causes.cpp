#include "judge/explain/causes.hpp"

#include "base/text.hpp"
#include "judge/explain/fields.hpp"
#include "judge/oom/fixes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace gpuvet {
namespace {

using Fields = std::map<std::string, std::string>;

// What these look at changes from minute to minute: that it is in order now proves nothing about
// the time of the message.
constexpr std::array<std::string_view, 4> kMomentary = {"processes", "hardware", "xid", "fabric"};

// Where the doctor's check works its commands out from what it sees.
constexpr const char* kAskDoctor =
    "run gpuvet doctor on the machine, or gpuvet explain --here: it works out the command";

// All conditions together: one that is false decides, then one that is unknown.
struct Together {
  Truth truth = Truth::yes;
  bool hearsay = false;
  std::vector<std::string> shown, missing;
};

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (!text.empty() && std::find(list.begin(), list.end(), text) == list.end())
    list.push_back(text);
}

Together judge_all(const std::vector<Condition>& conditions, const Evidence& evidence) {
  Together all;
  for (const Condition& condition : conditions) {
    ConditionAnswer answer = judge_condition(condition, evidence);
    add_once(all.missing, answer.missing_fact);
    if (answer.truth == Truth::yes) {
      add_once(all.shown, answer.shown);
      all.hearsay = all.hearsay || answer.hearsay;
    } else if (answer.truth == Truth::no || all.truth == Truth::yes) {
      all.truth = answer.truth;
    }
  }
  return all;
}

void confirm_by_check(const CheckResult& check, const std::string& where, PossibleCause& cause) {
  bool sure = cause.state == CauseState::confirmed || check.outcome.missing.empty();
  cause.state = sure ? CauseState::confirmed : CauseState::likely;
  add_once(cause.evidence, where + check.title);
  for (const std::string& line : check.outcome.evidence)
    add_once(cause.evidence, line);
  cause.why = check.cause;
  if (!check.fixes.empty()) cause.fixes = check.fixes;
}

// What the doctor says of this machine about a cause that is a check of his.
void ask_doctor(const Surround& around, PossibleCause& cause) {
  const CheckResult* check = find_check(around.doctor, cause.row->id);
  if (!check) return;
  bool momentary =
      std::find(kMomentary.begin(), kMomentary.end(), cause.row->area) != kMomentary.end();
  if (check->outcome.answer == Answer::fires) {
    confirm_by_check(*check, "this machine: ", cause);
  } else if (cause.state == CauseState::open && !momentary &&
             check->outcome.answer != Answer::unknown) {
    cause.state = CauseState::excluded;
    cause.unlike = "this machine: " + check->outcome.why;
  }
}

void ask_text_machine(const Surround& around, PossibleCause& cause) {
  const CheckResult* check = find_check(around.text_machine, cause.row->id);
  if (check && check->outcome.answer == Answer::fires)
    confirm_by_check(*check, "the machine in the text: ", cause);
}

void judge_conditions(const CauseCandidate& candidate, const Evidence& evidence, bool alone,
                      PossibleCause& cause) {
  for (const Condition& condition : candidate.exclude) {
    ConditionAnswer answer = judge_condition(condition, evidence);
    add_once(cause.missing, answer.missing_fact);
    if (answer.truth != Truth::yes) continue;
    cause.state = CauseState::excluded;
    cause.unlike = answer.shown.empty() ? "the message itself" : answer.shown;
    return;
  }
  Together sure = judge_all(candidate.confirm, evidence);
  Together maybe = judge_all(candidate.likely, evidence);
  bool can_be_sure = !candidate.confirm.empty() || (alone && candidate.likely.empty());
  if (can_be_sure && sure.truth == Truth::yes) {
    cause.state = sure.hearsay ? CauseState::likely : CauseState::confirmed;
    cause.evidence = std::move(sure.shown);
  } else if (!candidate.likely.empty() && maybe.truth == Truth::yes) {
    cause.state = CauseState::likely;
    cause.evidence = std::move(maybe.shown);
  }
  if (cause.state == CauseState::confirmed) {
    cause.missing.clear();
    return;
  }
  for (const std::string& name : sure.missing)
    add_once(cause.missing, name);
  for (const std::string& name : maybe.missing)
    add_once(cause.missing, name);
}

bool fits_system(const CheckFix& fix, const std::set<std::string>& tags) {
  return fix.on.empty() || tags.empty() ||
         std::any_of(fix.on.begin(), fix.on.end(),
                     [&](const std::string& tag) { return tags.count(tag) > 0; });
}

// What the grammar of memory read in this message's line; null: it is no message of that kind.
const OomMessage* memory_message(const Message& message, const Surround& around) {
  if (!around.memory_seen) return nullptr;
  for (const TextLine& line : message.lines)
    for (const OomMessage& seen : around.memory_seen->messages)
      if (seen.line == line.number) return &seen;
  return nullptr;
}

// Is the fix one for the framework and version that wrote the message? Where those are not known,
// `remark` says for which it is.
bool fits_memory(const OomFix& fix, const OomMessage* message, const Surround& around,
                 std::string& remark) {
  bool expandable = around.memory_seen && around.memory_seen->expandable_set;
  if (message) return fix_suits(fix, message->framework, message->template_id, expandable);
  if (fix.frameworks.empty()) return fix_suits(fix, "", "", expandable);
  remark = frameworks_of(fix, *around.memory);
  return !remark.empty() && fix_suits(fix, fix.frameworks.front(), "", expandable);
}

// The message's own ways out first. One that names what is not known is for another case.
std::vector<Fix> fixes_for(const CauseCandidate& candidate, const CheckRow& row,
                           const Fields& fields, const std::set<std::string>& tags,
                           const OomMessage* memory, const Surround& around) {
  std::vector<Fix> fixes;
  for (const std::string& text : candidate.mend)
    if (can_fill(text, fields)) fixes.push_back({fill_text(text, fields), false, Safety::safe});
  const OomCause* of_memory = find_oom_cause(*around.memory, row.id);
  for (size_t i = 0; i < row.fixes.size(); ++i) {
    const CheckFix& fix = row.fixes[i];
    if (!fits_system(fix, tags) || !can_fill(fix.command, fields)) continue;
    std::string remark; // the rows of a cause of memory have the same fixes, and for whom they are
    if (of_memory && !fits_memory(of_memory->fixes[i], memory, around, remark)) continue;
    std::string text = fill_text(fix.command, fields);
    if (!fix.on.empty() && tags.empty()) text += fmt::format("  (on {})", joined(fix.on, " or "));
    if (!remark.empty()) text += fmt::format("  (for {})", remark);
    bool general = !can_fill(first_choices(fix.command), fields); // a step, with no names in it
    fixes.push_back({std::move(text), fix.prose || general, fix.safety});
  }
  return fixes;
}

// The texts of rows may name fields that only the doctor's check gives; then the row's own words
// would have holes, and its cause without them says enough.
std::string title_of(const CauseCandidate& candidate, const CheckRow& row, const Fields& fields) {
  if (!candidate.title.empty()) return fill_text(candidate.title, fields);
  return fill_text(row.title, fields);
}

// A mangled name in plain words, and whose it is.
void tell_symbol(const Fields& fields, std::vector<std::string>& lines) {
  auto text = [&](const char* name) {
    auto at = fields.find(name);
    return at == fields.end() ? std::string() : at->second;
  };
  std::string plain = text("symbol_plain"), owner = text("symbol_owner"), abi = text("symbol_abi");
  if (plain.empty()) return;
  std::string line = plain == text("symbol") ? std::string() : "the symbol is " + plain;
  if (!owner.empty()) line += fmt::format("{}of {}", line.empty() ? "the symbol is " : ", ", owner);
  if (!abi.empty())
    line += fmt::format("{}with the std::string of the {} C++ ABI", line.empty() ? "" : ", ", abi);
  add_once(lines, line);
}

// A cause may stand in several rows, each with its own conditions: the best of them speaks for it.
void take_cause(PossibleCause cause, std::vector<PossibleCause>& causes) {
  for (PossibleCause& known : causes) {
    if (known.row != cause.row) continue;
    std::vector<std::string> missing = known.missing;
    if (cause.state < known.state) known = std::move(cause);
    if (known.state != CauseState::confirmed)
      for (const std::string& name : missing)
        add_once(known.missing, name);
    return;
  }
  causes.push_back(std::move(cause));
}

bool of_one_cause(const std::vector<CauseCandidate>& candidates) {
  return std::all_of(candidates.begin(), candidates.end(), [&](const CauseCandidate& candidate) {
    return candidate.cause == candidates.front().cause;
  });
}

void split_off_excluded(ExplainedMessage& explained) {
  auto stays = [](const PossibleCause& cause) { return cause.state != CauseState::excluded; };
  auto out = std::stable_partition(explained.causes.begin(), explained.causes.end(), stays);
  explained.excluded.assign(std::make_move_iterator(out),
                            std::make_move_iterator(explained.causes.end()));
  explained.causes.erase(out, explained.causes.end());
}

// A cause's words without the sentences that name what only the doctor's check knows.
std::string told(const std::string& text, const Fields& words) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find(". ", at);
    end = end == std::string::npos ? text.size() : end + 1;
    std::string sentence = text.substr(at, end - at);
    if (can_fill(sentence, words)) {
      if (!out.empty()) out += ' ';
      out += fill_text(sentence, words);
    }
    at = end + (end < text.size() ? 1 : 0);
  }
  return out;
}

void weigh(ExplainedMessage& explained) {
  split_off_excluded(explained);
  auto better = [](const PossibleCause& a, const PossibleCause& b) { return a.state < b.state; };
  std::stable_sort(explained.causes.begin(), explained.causes.end(), better);
  if (explained.causes.empty()) return;
  CauseState best = explained.causes.front().state;
  auto of_best = static_cast<size_t>(
      std::count_if(explained.causes.begin(), explained.causes.end(),
                    [&](const PossibleCause& cause) { return cause.state == best; }));
  if (best == CauseState::confirmed)
    explained.confidence = Confidence::certain;
  else if (of_best == 1 && (best == CauseState::likely || explained.causes.size() == 1))
    explained.confidence = Confidence::likely;
  else
    explained.confidence = Confidence::one_of;
}

} // namespace

const CheckRow* find_cause(const std::string& id, const CheckTables& checks,
                           const SignatureTables& signatures) {
  for (const std::vector<CheckRow>* rows : {&checks.checks, &signatures.causes})
    for (const CheckRow& row : *rows)
      if (row.id == id) return &row;
  return nullptr;
}

std::map<std::string, std::string> fact_words(const SignatureTables& tables,
                                              const FactView& known) {
  Fields words;
  for (const AskableFact& fact : tables.facts) {
    std::vector<KnownFact> values = known.of(fact.name);
    if (values.size() == 1) words.emplace(fact.name, values.front().value);
  }
  return words;
}

ExplainedMessage weigh_causes(const Message& message, const Surround& around) {
  const Signature& signature = *message.signature;
  ExplainedMessage explained;
  explained.message = &message;
  Fields fields = message.fields;
  derive_fields(fields, *around.facts);
  Evidence evidence{&fields, around.known, around.text, around.doctor, message.lines.front().text};
  Fields words = fields;
  words.insert(around.words->begin(), around.words->end());
  words.emplace("gpu", "a GPU"); // that the kernel log names and words of a person do not
  const OomMessage* memory = memory_message(message, around);
  words.emplace("alloc_conf", alloc_conf(*around.memory, memory));
  explained.says = fill_text(signature.says, words);
  tell_symbol(fields, explained.worked_out);
  explained.misleading = fill_text(signature.misleading, words);
  std::set<std::string> tags = system_tags(*around.known);
  bool alone = of_one_cause(signature.candidates);
  for (const CauseCandidate& candidate : signature.candidates) {
    PossibleCause cause;
    cause.row = find_cause(fill_text(candidate.cause, fields), *around.checks, *around.signatures);
    if (!cause.row) continue;
    cause.title = title_of(candidate, *cause.row, words);
    cause.why = told(cause.row->cause, words);
    cause.fixes = fixes_for(candidate, *cause.row, words, tags, memory, around);
    judge_conditions(candidate, evidence, alone, cause);
    if (cause.state != CauseState::excluded) {
      ask_text_machine(around, cause);
      ask_doctor(around, cause);
    }
    if (cause.fixes.empty() && cause.row->area != "cause" && !cause.row->fixes.empty())
      cause.fixes.push_back({kAskDoctor, true, Safety::safe});
    take_cause(std::move(cause), explained.causes);
  }
  weigh(explained);
  return explained;
}

} // namespace gpuvet
