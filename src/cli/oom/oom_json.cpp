#include "cli/oom/oom_json.hpp"

#include "formats/json_write.hpp"
#include "judge/oom/balance.hpp"

namespace gpuvet {
namespace {

Json text_list(const std::vector<std::string>& texts) {
  Json list = json_list();
  for (const std::string& text : texts)
    list.items.push_back(json_of(text));
  return list;
}

Json bytes_or_null(const std::optional<uint64_t>& bytes) {
  return bytes ? json_of(*bytes) : Json{};
}

Json bytes_or_null(const OomBytes& bytes) {
  if (!bytes) return {};
  return *bytes < 0 ? json_of(static_cast<int64_t>(*bytes))
                    : json_of(static_cast<uint64_t>(*bytes));
}

const char* outcome_name(OomOutcome outcome) {
  switch (outcome) {
  case OomOutcome::found:
    return "found";
  case OomOutcome::open:
    return "open";
  case OomOutcome::none:
    break;
  }
  return "none";
}

const char* axis_name(OomAxis axis) {
  switch (axis) {
  case OomAxis::step:
    return "step";
  case OomAxis::second:
    return "second";
  case OomAxis::sample:
    break;
  }
  return "sample";
}

Json amount_json(const OomAmount& amount) {
  Json json = json_object();
  set(json, "bytes", bytes_or_null(amount.bytes));
  if (amount)
    set(json, "rounding_bytes", json_of(amount.rounding));
  else
    set(json, "why_unknown", json_of(amount.why_unknown));
  set(json, "written", json_of(amount.written));
  set(json, "line", json_of(amount.line));
  return json;
}

Json message_json(const OomMessage& message) {
  Json json = json_object();
  set(json, "template", json_of(message.template_id));
  set(json, "framework", json_of(message.framework));
  set(json, "versions", json_of(message.versions));
  set(json, "line", json_of(message.line));
  set(json, "times", json_of(message.times));
  Json amounts = json_object();
  for (const auto& [name, amount] : message.amounts)
    set(amounts, name, amount_json(amount));
  set(json, "amounts", amounts);
  Json words = json_object();
  for (const auto& [name, word] : message.words)
    set(words, name, json_of(word));
  set(json, "words", words);
  Json others = json_list();
  for (const OomProcess& process : message.others) {
    Json one = amount_json(process.held);
    set(one, "pid", json_of(process.pid));
    others.items.push_back(one);
  }
  set(json, "processes", others);
  return json;
}

Json balance_json(const OomMessage& message) {
  const OomBalance balance = balance_of(message);
  Json json = json_object();
  set(json, "live", bytes_or_null(balance.live));
  set(json, "reserved", bytes_or_null(balance.reserved));
  set(json, "unallocated", bytes_or_null(balance.unallocated));
  set(json, "outside_of_pool", bytes_or_null(balance.outside));
  set(json, "others", bytes_or_null(balance.others));
  set(json, "hidden", bytes_or_null(balance.hidden));
  set(json, "missing", bytes_or_null(balance.missing));
  set(json, "self_pid", bytes_or_null(balance.self_pid));
  return json;
}

Json verdict_json(const OomVerdict& verdict) {
  Json json = json_object();
  set(json, "id", json_of(verdict.cause->id));
  set(json, "confidence", json_of(sureness_word(verdict.sureness)));
  set(json, "title", json_of(verdict.title));
  set(json, "cause", json_of(verdict.cause->cause));
  set(json, "blame", json_of(verdict.cause->blame));
  set(json, "evidence", text_list(verdict.evidence));
  set(json, "measure", json_of(verdict.cause->measure));
  set(json, "fixes", text_list(verdict.fixes));
  return json;
}

Json verdicts_json(const std::vector<OomVerdict>& verdicts) {
  Json list = json_list();
  for (const OomVerdict& verdict : verdicts)
    list.items.push_back(verdict_json(verdict));
  return list;
}

Json growth_json(const OomGrowth& growth) {
  Json json = json_object();
  const OomSeries& series = *growth.series;
  set(json, "row", json_of(series.id));
  set(json, "what", json_of(series.what));
  set(json, "key", json_of(series.key));
  set(json, "axis", json_of(axis_name(series.axis)));
  set(json, "samples", json_of(uint64_t{series.samples.size()}));
  set(json, "values", json_of(uint64_t{growth.values}));
  set(json, "p", json_of(growth.p));
  set(json, "slope_bytes", json_of(growth.slope));
  set(json, "rises", json_of(growth.rises));
  set(json, "why_not", growth.why_not.empty() ? Json{} : json_of(growth.why_not));
  set(json, "left", growth.left ? json_of(*growth.left) : Json{});
  return json;
}

Json schema() {
  Json json = json_object();
  set(json, "schema", json_of("gpuvet-oom/1"));
  return json;
}

} // namespace

Json oom_json(const std::string& name, const OomEvidence& evidence, const OomReport& report) {
  Json json = json_object();
  set(json, "input", json_of(name));
  set(json, "lines", json_of(evidence.lines));
  set(json, "outcome", json_of(outcome_name(report.outcome)));
  set(json, "verdict", json_of(report.report.verdict));
  set(json, "question", report.question.empty() ? Json{} : json_of(report.question));
  set(json, "causes", verdicts_json(report.verdicts));
  set(json, "message", report.message ? message_json(*report.message) : Json{});
  set(json, "worked_out", report.message ? balance_json(*report.message) : Json{});
  Json messages = json_list();
  for (const OomMessage& message : evidence.messages)
    if (&message != report.message) messages.items.push_back(message_json(message));
  set(json, "other_messages", messages);
  Json series = json_list();
  for (const OomGrowth& growth : report.growth)
    series.items.push_back(growth_json(growth));
  set(json, "series", series);
  set(json, "notes", text_list(report.report.notes));
  return json;
}

Json holders_json(const OomHolders& holders) {
  Json list = json_list();
  for (const GpuMemory& memory : holders.gpus) {
    Json gpu = json_object();
    set(gpu, "index", json_of(uint64_t{memory.index}));
    set(gpu, "name", json_of(memory.name));
    set(gpu, "total", bytes_or_null(memory.total));
    set(gpu, "used", bytes_or_null(memory.used));
    set(gpu, "reserved_by_driver", bytes_or_null(memory.reserved));
    set(gpu, "unexplained", bytes_or_null(memory.unexplained));
    set(gpu, "every_holder_seen", json_of(memory.complete));
    Json processes = json_list();
    for (const GpuHolder& holder : memory.holders) {
      Json one = json_object();
      set(one, "pid", json_of(holder.pid));
      set(one, "name", holder.name.empty() ? Json{} : json_of(holder.name));
      set(one, "state", holder.state.empty() ? Json{} : json_of(holder.state));
      set(one, "bytes", bytes_or_null(holder.bytes));
      set(one, "listed_by_driver", json_of(holder.listed));
      set(one, "has_device_open", json_of(holder.open));
      processes.items.push_back(one);
    }
    set(gpu, "processes", processes);
    list.items.push_back(gpu);
  }
  return list;
}

std::string oom_document(std::vector<Json> texts) {
  Json json = schema();
  Json list = json_list();
  list.items = std::move(texts);
  set(json, "texts", list);
  return write_json(json);
}

std::string holders_document(const OomHolders& holders) {
  Json json = schema();
  set(json, "verdict", json_of(holders.report.verdict));
  set(json, "outcome", json_of(outcome_name(holders.outcome)));
  set(json, "pid", bytes_or_null(holders.pid));
  set(json, "why_unknown", holders.why_unknown.empty() ? Json{} : json_of(holders.why_unknown));
  set(json, "gpus", holders_json(holders));
  set(json, "causes", verdicts_json(holders.verdicts));
  set(json, "notes", text_list(holders.report.notes));
  return write_json(json);
}

} // namespace gpuvet
