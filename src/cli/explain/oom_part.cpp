#include "cli/explain/oom_part.hpp"

#include "judge/oom/grammar.hpp"

namespace gpuvet {

struct OomPart::State {
  State(const OomTables& rows, OomGrammar compiled)
      : tables(rows), literals(oom_literals(rows)), grammar(std::move(compiled)), reader(grammar) {}
  const OomTables& tables;
  std::vector<std::string> literals;
  OomGrammar grammar;
  OomReader reader;
};

OomPart::OomPart(std::unique_ptr<State> state) : state_(std::move(state)) {}
OomPart::~OomPart() = default;
OomPart::OomPart(OomPart&&) noexcept = default;
OomPart& OomPart::operator=(OomPart&&) noexcept = default;

Result<OomPart> OomPart::make(const Facts& facts) {
  auto tables = facts.oom();
  if (!tables) return tl::unexpected<Error>(tables.error());
  auto grammar = compile_oom(**tables);
  if (!grammar) return tl::unexpected<Error>(grammar.error());
  return OomPart(std::make_unique<State>(**tables, std::move(*grammar)));
}

const std::vector<std::string>& OomPart::literals() const {
  return state_->literals;
}

void OomPart::line(std::string_view text, uint64_t number) {
  state_->reader.take(text, number);
}

std::unique_ptr<OomAnswer> OomPart::end() {
  auto answer = std::make_unique<OomAnswer>();
  answer->evidence = state_->reader.end();
  if (answer->evidence.messages.empty()) return nullptr;
  answer->report = judge_oom(answer->evidence, state_->tables);
  if (answer->report.outcome == OomOutcome::none || !answer->report.message) return nullptr;
  answer->line = answer->evidence.messages.front().line;
  for (const OomTemplate& row : state_->tables.templates)
    if (row.id == answer->report.message->template_id)
      answer->disguised = row.kind == OomKind::disguised;
  return answer;
}

Confidence confidence_of(const OomAnswer& oom) {
  if (oom.report.verdicts.empty()) return Confidence::none;
  if (oom.report.outcome != OomOutcome::found) return Confidence::one_of;
  return oom.report.verdicts.front().sureness == OomSureness::certain ? Confidence::certain
                                                                      : Confidence::likely;
}

namespace {

// The message that tells of memory stands in the root's own line. The root's row leads where it has
// seen more of the text (memory that grows from step to step, a pool of JAX), and for errors that
// are memory only sometimes; where the numbers of the message leave no doubt, they lead.
bool row_knows_more(const OomAnswer& oom, const ExplainedMessage& root) {
  if (oom.disguised) return true;
  bool row_decides =
      root.confidence == Confidence::certain || root.confidence == Confidence::likely;
  return row_decides && confidence_of(oom) != Confidence::certain;
}

} // namespace

bool leads(const OomAnswer& oom, const Explanation& explanation) {
  if (!explanation.root) return true;
  const ExplainedMessage& root = explanation.messages[*explanation.root];
  if (root.confidence == Confidence::none) return true;
  uint64_t line = root.message->lines.front().number;
  if (oom.line == line) return !row_knows_more(oom, root);
  return oom.line < line;
}

} // namespace gpuvet
