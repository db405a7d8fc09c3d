#include "judge/explain/explain.hpp"

#include "base/text.hpp"
#include "judge/explain/causes.hpp"
#include "judge/explain/fields.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace gpuvet {
namespace {

constexpr size_t kQuestions = 3;

// Facts that messages state are as good as facts that a report has.
void add_stated(const std::vector<Message>& messages, const Facts& facts, FactView& known) {
  for (const Message& message : messages) {
    if (message.signature->states.empty()) continue;
    std::map<std::string, std::string> fields = message.fields;
    derive_fields(fields, facts);
    for (const StatedFact& stated : message.signature->states)
      if (can_fill(stated.value, fields))
        known.add({stated.name, fill_text(stated.value, fields),
                   fmt::format("line {}", message.lines.front().number)});
  }
}

bool leads(MessageKind kind) {
  return kind == MessageKind::error || kind == MessageKind::warning;
}

bool names(const std::vector<std::string>& ids, const std::string& id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

// Was one of the signatures that this one follows found before it or in the same line?
std::optional<size_t> cause_before(const Explanation& explanation, size_t of) {
  const Message& message = *explanation.messages[of].message;
  const std::vector<std::string>& after = message.signature->after;
  for (size_t i = 0; i < explanation.messages.size(); ++i) {
    const Message& other = *explanation.messages[i].message;
    bool before = other.lines.front().number <= message.lines.front().number;
    if (i != of && before && leads(other.signature->kind) && names(after, other.signature->id))
      return i;
  }
  return std::nullopt;
}

// "xid-79" for a message of the kernel log about that code, whatever its causes are; else null.
const CheckRow* logged_xid(const ExplainedMessage& message, const CheckTables& checks) {
  const Signature& signature = *message.message->signature;
  if (!signature.id.starts_with("xid")) return nullptr;
  auto code = message.message->fields.find("code");
  std::string id = code == message.message->fields.end() ? signature.id : "xid-" + code->second;
  for (const CheckRow& row : checks.checks)
    if (row.area == "xid" && (id == row.id || id == row.id + "-logged")) return &row;
  return nullptr;
}

// A cause may hide another, as Xid 79 hides the codes that come along with it, in whatever order
// they were logged. That a code was logged is sure, whatever is behind it.
std::optional<size_t> hidden_by(const Explanation& explanation, size_t of,
                                const CheckTables& checks) {
  auto row_of = [&](const ExplainedMessage& message) -> const CheckRow* {
    if (const CheckRow* xid = logged_xid(message, checks)) return xid;
    bool sure =
        message.confidence == Confidence::certain || message.confidence == Confidence::likely;
    return sure ? message.causes.front().row : nullptr;
  };
  const CheckRow* row = row_of(explanation.messages[of]);
  if (!row) return std::nullopt;
  for (size_t i = 0; i < explanation.messages.size(); ++i) {
    const CheckRow* cause = i == of ? nullptr : row_of(explanation.messages[i]);
    if (cause && names(cause->hides, row->id) && !names(row->hides, cause->id)) return i;
  }
  return std::nullopt;
}

// A way from consequence to cause that comes back to itself is cut where it began.
void cut_circles(Explanation& explanation) {
  for (size_t i = 0; i < explanation.messages.size(); ++i) {
    std::set<size_t> way{i};
    for (auto at = explanation.messages[i].follows_from; at;
         at = explanation.messages[*at].follows_from)
      if (!way.insert(*at).second) {
        explanation.messages[i].follows_from.reset();
        break;
      }
  }
}

// The first error that follows from no other message; where there is none, the first warning.
std::optional<size_t> find_root(const Explanation& explanation) {
  std::set<size_t> explains;
  for (const ExplainedMessage& message : explanation.messages)
    if (message.follows_from && message.message->signature->kind == MessageKind::error)
      explains.insert(*message.follows_from);
  for (bool warnings : {false, true})
    for (size_t i = 0; i < explanation.messages.size(); ++i) {
      const ExplainedMessage& message = explanation.messages[i];
      if (message.follows_from) continue;
      MessageKind kind = message.message->signature->kind;
      if (kind == MessageKind::error || (kind == MessageKind::warning && explains.count(i)) ||
          (kind == MessageKind::warning && warnings))
        return i;
    }
  return std::nullopt;
}

void link_consequences(Explanation& explanation, const CheckTables& checks) {
  for (size_t i = 0; i < explanation.messages.size(); ++i) {
    if (!leads(explanation.messages[i].message->signature->kind)) continue;
    explanation.messages[i].follows_from = cause_before(explanation, i);
    if (!explanation.messages[i].follows_from)
      explanation.messages[i].follows_from = hidden_by(explanation, i, checks);
  }
  cut_circles(explanation);
  explanation.root = find_root(explanation);
  if (!explanation.root) return;
  for (ExplainedMessage& message : explanation.messages)
    if (message.message->signature->kind == MessageKind::consequence)
      message.follows_from = explanation.root;
}

const AskableFact* askable(const SignatureTables& tables, const std::string& name) {
  for (const AskableFact& fact : tables.facts) {
    std::string_view start(fact.name);
    bool open = start.ends_with('*');
    if (open) start.remove_suffix(1);
    if (open ? name.starts_with(start) : name == start) return &fact;
  }
  return nullptr;
}

void add_question(Explanation& explanation, DecidingQuestion question) {
  for (const DecidingQuestion& asked : explanation.questions)
    if (asked.question == question.question ||
        asked.command.find(question.command) != std::string::npos)
      return;
  if (explanation.questions.size() < kQuestions)
    explanation.questions.push_back(std::move(question));
}

// The row's own question first, then those for the facts that conditions missed.
void ask(Explanation& explanation, const SignatureTables& tables) {
  if (!explanation.root) return;
  const ExplainedMessage& root = explanation.messages[*explanation.root];
  if (root.confidence == Confidence::certain || root.confidence == Confidence::none) return;
  const Signature& signature = *root.message->signature;
  std::map<std::string, std::string> fields = root.message->fields;
  if (!signature.question.empty())
    add_question(explanation,
                 {fill_text(signature.question, fields), fill_text(signature.ask, fields)});
  for (const PossibleCause& cause : root.causes)
    for (const std::string& name : cause.missing) {
      const AskableFact* fact = askable(tables, name);
      if (!fact || fact->command.empty()) continue;
      std::string last = name.substr(name.find('.') + 1);
      add_question(explanation, {fill_text(fact->asks, {{"name", last}}),
                                 fill_text(fact->command, {{"name", last}})});
    }
}

} // namespace

std::string confidence_text(Confidence confidence, size_t causes) {
  switch (confidence) {
  case Confidence::certain:
    return "certain";
  case Confidence::likely:
    return "likely";
  case Confidence::one_of:
    return fmt::format("one of {}", causes);
  case Confidence::none:
    break;
  }
  return "not known";
}

std::string_view cause_state_name(CauseState state) {
  switch (state) {
  case CauseState::confirmed:
    return "certain";
  case CauseState::likely:
    return "likely";
  case CauseState::open:
    return "open";
  case CauseState::excluded:
    break;
  }
  return "excluded";
}

Result<Explanation> explain(const ExplainInput& input, const Facts& facts) {
  auto signatures = facts.signatures();
  if (!signatures) return tl::unexpected<Error>(signatures.error());
  auto checks = facts.checks();
  if (!checks) return tl::unexpected<Error>(checks.error());
  auto memory = facts.oom();
  if (!memory) return tl::unexpected<Error>(memory.error());
  const std::vector<Message>& messages = input.found->messages();
  FactView known(input.text_facts, input.machine_facts, facts);
  add_stated(messages, facts, known);
  std::map<std::string, std::string> words;
  if (!messages.empty()) words = fact_words(**signatures, known);
  Surround around{*signatures, *checks,     &facts,       &known,
                  &words,      input.found, input.doctor, input.text_machine,
                  *memory,     input.memory};
  Explanation explanation;
  for (const Message& message : messages)
    explanation.messages.push_back(weigh_causes(message, around));
  link_consequences(explanation, **checks);
  ask(explanation, **signatures);
  explanation.unknown_errors.assign(input.found->unknown_errors().begin(),
                                    input.found->unknown_errors().end());
  return explanation;
}

} // namespace gpuvet
