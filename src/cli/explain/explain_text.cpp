#include "cli/explain/explain_text.hpp"

#include "cli/explain/explain_json.hpp"
#include "cli/explain/text_facts.hpp"
#include "formats/log_text/log_text.hpp"
#include "judge/explain/explain_report.hpp"
#include "render/terminal.hpp"

#include <fmt/core.h>

#include <optional>
#include <set>

namespace gpuvet {
namespace {

int complain(const Error& error) {
  fmt::print(stderr, "gpuvet: {}{}{}\n", error.where, error.where.empty() ? "" : ": ", error.what);
  return explain_status::usage;
}

int status_of(Confidence confidence) {
  switch (confidence) {
  case Confidence::certain:
  case Confidence::likely:
    return explain_status::found;
  case Confidence::one_of:
    return explain_status::open;
  case Confidence::none:
    break;
  }
  return explain_status::not_known;
}

// Areas of the doctor whose checks the messages name as causes or in conditions.
std::set<std::string> areas_that_bear(const std::vector<Message>& messages,
                                      const CheckTables& checks) {
  std::set<std::string> ids, areas;
  for (const Message& message : messages)
    for (const CauseCandidate& candidate : message.signature->candidates) {
      ids.insert(candidate.cause);
      for (const auto* list : {&candidate.confirm, &candidate.likely, &candidate.exclude})
        for (const Condition& condition : *list)
          if (!condition.id.empty()) ids.insert(condition.id);
    }
  for (const CheckRow& row : checks.checks)
    if (ids.count(row.id)) areas.insert(row.area);
  return areas;
}

} // namespace

struct TextExplainer::Impl {
  explicit Impl(const Facts& tables) : facts(tables) {
    auto signatures = tables.signatures();
    if (!signatures) {
      problem = signatures.error();
      return;
    }
    finder.emplace(**signatures);
    text_facts.emplace(tables);
    std::vector<std::string> literals = finder->literals();
    for (std::string& literal : text_facts->literals())
      literals.push_back(std::move(literal));
    set.emplace(literals);
    log.emplace(*set, [this](const PlainLine& line) { take(line); });
  }

  void take(const PlainLine& line) {
    if (line.has_literal) finder->line(line.text, line.number);
    text_facts->line(line.text, line.number);
  }

  const Facts& facts;
  std::optional<Error> problem; // of the fact tables
  std::optional<MessageFinder> finder;
  std::optional<TextFacts> text_facts;
  std::optional<LiteralSet> set;
  std::optional<LogText> log;
  std::vector<TextPart> parts;
  bool ends_line = true; // what was fed so far
};

TextExplainer::TextExplainer(const Facts& facts) : impl_(std::make_unique<Impl>(facts)) {}
TextExplainer::~TextExplainer() = default;
TextExplainer::TextExplainer(TextExplainer&&) noexcept = default;
TextExplainer& TextExplainer::operator=(TextExplainer&&) noexcept = default;

void TextExplainer::feed(std::string_view bytes) {
  if (!impl_->log || bytes.empty()) return;
  impl_->log->feed(bytes);
  impl_->ends_line = bytes.back() == '\n';
}

void TextExplainer::begin_file(const std::string& name) {
  if (!impl_->log) return;
  if (!impl_->ends_line) feed("\n");
  impl_->parts.push_back({impl_->log->lines() + 1, name});
}

int TextExplainer::finish(const ExplainOptions& options, Context& context, bool quiet_if_unknown) {
  if (impl_->problem) return complain(*impl_->problem);
  impl_->log->end();
  auto checks = context.facts.checks();
  if (!checks) return complain(checks.error());
  const MessageFinder& finder = *impl_->finder;
  ExplainInput input;
  input.found = &finder;
  input.text_facts = impl_->text_facts->facts();
  Machine machine;
  Diagnosis doctor;
  if (options.here) {
    auto source = machine_source(options.machine);
    if (!source) return complain(source.error());
    machine = see_machine(*source, options.machine);
    std::set<std::string> areas = areas_that_bear(finder.messages(), **checks);
    auto diagnosis =
        areas.empty() ? Result<Diagnosis>(Diagnosis{}) : diagnose(machine, context.facts, areas);
    if (!diagnosis) return complain(diagnosis.error());
    doctor = std::move(*diagnosis);
    input.doctor = &doctor;
  }
  auto explanation = explain(input, context.facts);
  if (!explanation) return complain(explanation.error());
  int status = status_of(overall_confidence(*explanation));
  ReadText read{impl_->log->lines(), impl_->log->bytes(), impl_->parts};
  if (options.json)
    fmt::print("{}", explain_json(*explanation, read, input.text_facts, options.here));
  else if (explanation->root || !quiet_if_unknown)
    fmt::print("{}", render_terminal(explanation_report(*explanation, read, options.all),
                                     {context.out.colour, context.out.width}));
  if (!machine.not_finished.empty()) leave(status);
  return status;
}

} // namespace gpuvet
