#include "cli/explain/explain_json.hpp"

#include "cli/oom/oom_json.hpp"
#include "formats/json_write.hpp"

namespace gpuvet {
namespace {

Json texts_json(const std::vector<std::string>& texts) {
  Json list = json_list();
  for (const std::string& text : texts)
    list.items.push_back(json_of(text));
  return list;
}

Json or_null(const std::string& text) {
  return text.empty() ? Json{} : json_of(text);
}

Json lines_json(const std::vector<TextLine>& lines) {
  Json list = json_list();
  for (const TextLine& line : lines) {
    Json json = json_object();
    set(json, "line", json_of(line.number));
    set(json, "text", json_of(line.text));
    list.items.push_back(std::move(json));
  }
  return list;
}

Json fixes_json(const PossibleCause& cause) {
  Json list = json_list();
  for (const Fix& fix : cause.fixes) {
    Json json = json_object();
    set(json, fix.prose ? "step" : "command", json_of(fix.text));
    set(json, "safety", json_of(safety_name(fix.safety)));
    list.items.push_back(std::move(json));
  }
  return list;
}

Json cause_json(const PossibleCause& cause) {
  Json json = json_object();
  set(json, "id", json_of(cause.row->id));
  set(json, "state", json_of(cause_state_name(cause.state)));
  set(json, "title", json_of(cause.title));
  set(json, "why", json_of(cause.why));
  set(json, "note", or_null(cause.row->note));
  set(json, "blame", json_of(cause.row->blame));
  set(json, "evidence", texts_json(cause.evidence));
  set(json, "against", or_null(cause.unlike));
  set(json, "missing", texts_json(cause.missing));
  set(json, "fixes", fixes_json(cause));
  return json;
}

Json fields_json(const Message& message) {
  Json json = json_object();
  for (const auto& [name, value] : message.fields)
    set(json, name, json_of(value));
  return json;
}

Json message_json(const ExplainedMessage& message, const Explanation& explanation) {
  Json json = json_object();
  set(json, "id", json_of(message.message->signature->id));
  set(json, "severity", json_of(message_kind_name(message.message->signature->kind)));
  set(json, "says", json_of(message.says));
  set(json, "misleading", or_null(message.misleading));
  set(json, "worked_out", texts_json(message.worked_out));
  set(json, "count", json_of(message.message->count));
  set(json, "lines", lines_json(message.message->lines));
  set(json, "fields", fields_json(*message.message));
  Json follows;
  if (message.follows_from)
    follows = json_of(explanation.messages[*message.follows_from].message->signature->id);
  set(json, "follows_from", std::move(follows));
  set(json, "confidence", json_of(confidence_text(message.confidence, message.causes.size())));
  Json causes = json_list();
  for (const PossibleCause& cause : message.causes)
    causes.items.push_back(cause_json(cause));
  for (const PossibleCause& cause : message.excluded)
    causes.items.push_back(cause_json(cause));
  set(json, "causes", std::move(causes));
  return json;
}

Json questions_json(const Explanation& explanation) {
  Json list = json_list();
  for (const DecidingQuestion& question : explanation.questions) {
    Json json = json_object();
    set(json, "question", json_of(question.question));
    set(json, "command", json_of(question.command));
    list.items.push_back(std::move(json));
  }
  return list;
}

Json facts_json(const std::vector<KnownFact>& facts) {
  Json list = json_list();
  for (const KnownFact& fact : facts) {
    Json json = json_object();
    set(json, "name", json_of(fact.name));
    set(json, "value", json_of(fact.value));
    set(json, "where", json_of(fact.where));
    list.items.push_back(std::move(json));
  }
  return list;
}

// The head of the document, where GPU memory that ran out is the root.
void set_oom(const OomAnswer& oom, Json& json) {
  Confidence confidence = confidence_of(oom);
  bool found = confidence == Confidence::certain || confidence == Confidence::likely;
  set(json, "text", json_of(oom.report.report.verdict));
  set(json, "confidence", json_of(confidence_text(confidence, oom.report.verdicts.size())));
  set(json, "message", json_of(oom.report.message->template_id));
  set(json, "cause", found ? json_of(oom.report.verdicts.front().cause->id) : Json{});
}

} // namespace

std::string explain_json(const Explanation& explanation, const OomAnswer* oom, const ReadText& read,
                         const std::vector<KnownFact>& facts, bool here) {
  const ExplainedMessage* root =
      explanation.root ? &explanation.messages[*explanation.root] : nullptr;
  bool found =
      root && (root->confidence == Confidence::certain || root->confidence == Confidence::likely);
  Json json = json_object();
  set(json, "schema", json_of("gpuvet-explain/1"));
  set(json, "version", json_of(GPUVET_VERSION));
  if (oom && leads(*oom, explanation)) {
    set_oom(*oom, json);
  } else {
    set(json, "text", json_of(explanation_line(explanation)));
    set(json, "confidence",
        json_of(confidence_text(overall_confidence(explanation), root ? root->causes.size() : 0)));
    set(json, "message", root ? json_of(root->message->signature->id) : Json{});
    set(json, "cause", found ? json_of(root->causes.front().row->id) : Json{});
  }
  set(json, "questions", questions_json(explanation));
  Json messages = json_list();
  for (const ExplainedMessage& message : explanation.messages)
    messages.items.push_back(message_json(message, explanation));
  set(json, "messages", std::move(messages));
  set(json, "oom", oom ? oom_json("", oom->evidence, oom->report) : Json{});
  set(json, "unknown_errors", lines_json(explanation.unknown_errors));
  set(json, "facts", facts_json(facts));
  set(json, "here", json_of(here));
  set(json, "lines", json_of(read.lines));
  set(json, "bytes", json_of(read.bytes));
  return write_json(json);
}

} // namespace gpuvet
