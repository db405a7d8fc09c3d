#include "cli/explain/explain_text.hpp"

#include "cli/explain/explain_json.hpp"
#include "cli/explain/oom_part.hpp"
#include "formats/log_text/log_text.hpp"
#include "judge/explain/explain_report.hpp"
#include "judge/texts/facts_in_text.hpp"
#include "judge/texts/known_facts.hpp"
#include "judge/texts/machine_of_text.hpp"
#include "render/terminal.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>

namespace gpuvet {
namespace {

constexpr size_t kLogEnd = 64 << 10; // bytes at the end whose lines are all given

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
    auto rows = tables.texts();
    auto memory = OomPart::make(tables);
    for (const Error* error : {signatures ? nullptr : &signatures.error(),
                               rows ? nullptr : &rows.error(), memory ? nullptr : &memory.error()})
      if (error && !problem) problem = *error;
    if (problem) return;
    finder.emplace(**signatures);
    texts = *rows;
    text_facts.emplace(**rows);
    oom.emplace(std::move(*memory));
    set.emplace(prefilter());
    log.emplace(*set, [this](const PlainLine& line) { take(line); });
  }

  std::vector<std::string> prefilter() const {
    std::vector<std::string> literals = finder->prefilter(), of_facts = fact_literals(*texts);
    std::vector<std::string> idle = text_facts->idle_literals();
    for (const std::string& literal : idle)
      of_facts.erase(std::remove(of_facts.begin(), of_facts.end(), literal), of_facts.end());
    for (const std::vector<std::string>* more :
         std::initializer_list<const std::vector<std::string>*>{&of_facts, &oom->literals()})
      for (const std::string& literal : *more)
        if (literal.size() >= MessageFinder::kPrefilterLeast) literals.push_back(literal);
    return literals;
  }

  // What was seen often enough is no longer looked for. Between two pieces, so that the reader,
  // which holds the set by reference, is not in the middle of a line.
  void choose_literals() {
    if (finder->changes() + text_facts->changes() == changes) return;
    changes = finder->changes() + text_facts->changes();
    *set = LiteralSet(prefilter());
  }

  void take(const PlainLine& line) {
    finder->line(line.text, line.number);
    text_facts->line(line.text, line.number);
    oom->line(line.text, line.number);
  }

  void keep_end(std::string_view bytes) {
    if (bytes.size() > kLogEnd) bytes.remove_prefix(bytes.size() - kLogEnd);
    end.append(bytes);
    if (end.size() > 2 * kLogEnd) end.erase(0, end.size() - kLogEnd);
  }

  // The last lines of a long log once more, all of them: there people paste what they tried, and
  // what stands in too many lines to be looked for everywhere counts here.
  void read_end() {
    log->end();
    if (log->bytes() > kLogHead) {
      std::string_view text = end;
      text.remove_prefix(std::min(text.size(), text.find('\n') + 1));
      auto lines = static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n'));
      if (!text.ends_with('\n')) ++lines;
      uint64_t before = log->lines() - std::min(lines, log->lines());
      text_facts->look_again();
      LogText last(*set, [&](const PlainLine& line) {
        finder->line(line.text, before + line.number);
        text_facts->line(line.text, before + line.number);
      });
      last.feed(text);
      last.end();
    }
    finder->end();
  }

  const Facts& facts;
  std::optional<Error> problem; // of the fact tables
  std::optional<MessageFinder> finder;
  std::optional<FactsInText> text_facts;
  std::optional<OomPart> oom;
  const TextTables* texts = nullptr; // rows of facts
  uint64_t changes = 0;              // of what is still looked for, when `set` was made
  std::optional<LiteralSet> set;
  std::optional<LogText> log;
  std::string end; // the last bytes of the text
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
  impl_->keep_end(bytes);
  impl_->ends_line = bytes.back() == '\n';
  impl_->choose_literals();
}

void TextExplainer::begin_file(const std::string& name) {
  if (!impl_->log) return;
  if (!impl_->ends_line) feed("\n");
  impl_->parts.push_back({impl_->log->lines() + 1, name});
}

namespace {

// What was asked of the machine that the text is from, kept for as long as the answer points to it.
struct AskedMachines {
  Machine machine;
  Diagnosis doctor, text_machine;
};

// This machine, and the one that the text describes.
std::optional<Error> ask_machines(const ExplainOptions& options, const Facts& facts,
                                  const FactsInText& text, AskedMachines& asked,
                                  ExplainInput& input) {
  auto checks = facts.checks();
  if (!checks) return checks.error();
  std::set<std::string> areas = areas_that_bear(input.found->messages(), **checks);
  if (options.here) {
    auto source = machine_source(options.machine);
    if (!source) return source.error();
    asked.machine = see_machine(*source, options.machine);
    input.machine_facts = known_facts(asked.machine);
  }
  if (areas.empty()) return std::nullopt;
  if (options.here) {
    auto diagnosis = diagnose(asked.machine, facts, areas);
    if (!diagnosis) return diagnosis.error();
    asked.doctor = std::move(*diagnosis);
    input.doctor = &asked.doctor;
  }
  if (input.text_facts.empty()) return std::nullopt;
  Machine told = text.machine();
  if (auto added = add_capabilities(told, facts); !added) return added.error();
  auto diagnosis = diagnose(told, facts, areas);
  if (!diagnosis) return diagnosis.error();
  asked.text_machine = std::move(*diagnosis);
  input.text_machine = &asked.text_machine;
  return std::nullopt;
}

Report combined_report(const Explanation& explanation, const OomAnswer* oom, const ReadText& read,
                       bool all) {
  if (!oom) return explanation_report(explanation, read, all);
  if (!leads(*oom, explanation)) {
    Report report = explanation_report(explanation, read, all);
    const ExplainedMessage& root = explanation.messages[*explanation.root];
    if (!oom->disguised && oom->line > root.message->lines.front().number)
      report.notes.push_back(
          fmt::format("GPU memory ran out later, in line {}: gpuvet oom explains it", oom->line));
    return report;
  }
  Report report = oom->report.report;
  if (explanation.root &&
      explanation.messages[*explanation.root].message->lines.front().number != oom->line)
    report.notes.push_back(
        fmt::format("also, line {}: {} (gpuvet explain --all)",
                    explanation.messages[*explanation.root].message->lines.front().number,
                    explanation_line(explanation)));
  return report;
}

} // namespace

int TextExplainer::finish(const ExplainOptions& options, Context& context, bool quiet_if_unknown) {
  if (impl_->problem) return complain(*impl_->problem);
  impl_->read_end();
  ExplainInput input;
  input.found = &*impl_->finder;
  input.text_facts = impl_->text_facts->facts();
  std::unique_ptr<OomAnswer> oom = impl_->oom->end();
  if (oom) input.memory = &oom->evidence;
  AskedMachines asked;
  if (auto error = ask_machines(options, context.facts, *impl_->text_facts, asked, input))
    return complain(*error);
  auto explanation = explain(input, context.facts);
  if (!explanation) return complain(explanation.error());
  bool memory = oom && leads(*oom, *explanation);
  int status = status_of(memory ? confidence_of(*oom) : overall_confidence(*explanation));
  ReadText read{impl_->log->lines(), impl_->log->bytes(), impl_->parts};
  if (options.json)
    fmt::print("{}", explain_json(*explanation, oom.get(), read, input.text_facts, options.here));
  else if (memory || explanation->root || !quiet_if_unknown)
    fmt::print("{}", render_terminal(combined_report(*explanation, oom.get(), read, options.all),
                                     {context.out.colour, context.out.width}));
  if (!asked.machine.not_finished.empty()) leave(status);
  return status;
}

} // namespace gpuvet
