#include "judge/explain/explain_report.hpp"

#include "base/text.hpp"
#include "judge/rules/words.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

constexpr size_t kEvidenceShown = 6;
constexpr size_t kShownLine = 400; // bytes

// With a capital, unless it begins with a name: "nvcc", "libcudnn.so.8", "cuBLAS".
std::string sentence(std::string text) {
  std::string_view word = std::string_view(text).substr(0, text.find(' '));
  while (!word.empty() && std::string_view(",.:;").find(word.back()) != std::string_view::npos)
    word.remove_suffix(1);
  bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || c == '\'';
  });
  bool is_name = word == "nvcc" || word == "ptxas" || word == "pip" || word == "nouveau" ||
                 word == "torch" || word == "bitsandbytes" || word == "nvidia";
  if (plain && !is_name) text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return text;
}

std::string shown_line(const TextLine& line) {
  std::string text = line.text.substr(0, kShownLine);
  if (text.size() < line.text.size()) {
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80)
      text.pop_back(); // not in the middle of a character
    text += " ...";
  }
  return fmt::format("line {}: {}", line.number, text);
}

std::vector<std::string> lines_of(const Message& message, bool all) {
  std::vector<std::string> lines;
  for (const TextLine& line : message.lines)
    if (lines.empty() || all) lines.push_back(shown_line(line));
  if (uint64_t more = message.count - lines.size(); more)
    lines.push_back(fmt::format("and {} more such line{}", more, more == 1 ? "" : "s"));
  return lines;
}

void add_evidence(Finding& finding, const PossibleCause& cause, bool all) {
  size_t shown = all ? cause.evidence.size() : std::min(cause.evidence.size(), kEvidenceShown);
  for (size_t i = 0; i < shown; ++i)
    finding.evidence.push_back(cause.evidence[i]);
  if (shown < cause.evidence.size())
    finding.evidence.push_back(fmt::format("and {} more (--all)", cause.evidence.size() - shown));
}

Finding finding_of(const PossibleCause& cause, const std::string& rank, bool all) {
  Finding finding;
  finding.id = cause.row->id;
  finding.state = cause.state == CauseState::open ? State::unknown : State::fault;
  finding.title = fmt::format("{}: {} [{}]", rank, cause.title, cause.row->id);
  add_evidence(finding, cause, all);
  finding.cause = cause.why;
  if (!cause.row->note.empty()) finding.cause += " Note: " + cause.row->note;
  for (const Fix& fix : cause.fixes)
    finding.fixes.push_back(fix.text + std::string(safety_remark(fix.safety)));
  return finding;
}

// The causes of one message, the best first; those behind a decided one only on request.
void add_causes(Report& report, const ExplainedMessage& message, bool all) {
  size_t count = message.causes.size();
  bool decided =
      message.confidence == Confidence::certain || message.confidence == Confidence::likely;
  size_t first = report.findings.size();
  for (size_t i = 0; i < count; ++i) {
    const PossibleCause& cause = message.causes[i];
    if (decided && i > 0 && !all) break;
    std::string rank = decided && i == 0 ? std::string(cause_state_name(cause.state))
                       : decided         ? "also possible"
                                         : fmt::format("{} of {}", i + 1, count);
    if (decided && i == 0) rank = confidence_text(message.confidence, count);
    report.findings.push_back(finding_of(cause, rank, all));
  }
  if (report.findings.size() == first) report.findings.emplace_back();
  std::vector<std::string> lines = lines_of(*message.message, all);
  Finding& best = report.findings[first];
  if (best.title.empty()) best.title = "message: " + message.says;
  lines.insert(lines.end(), message.worked_out.begin(), message.worked_out.end());
  best.evidence.insert(best.evidence.begin(), lines.begin(), lines.end());
  if (all)
    for (const PossibleCause& cause : message.excluded)
      report.notes.push_back(fmt::format("excluded: {} ({})", cause.title, cause.unlike));
}

std::string verdict_of(const ExplainedMessage& message) {
  std::string text = sentence(message.says);
  switch (message.confidence) {
  case Confidence::certain:
    return fmt::format("{}. Certain: {}", text, message.causes.front().title);
  case Confidence::likely:
    return fmt::format("{}. Likely: {}", text, message.causes.front().title);
  case Confidence::one_of:
    return fmt::format("{}. One of {} causes, likeliest first: {}", text, message.causes.size(),
                       message.causes.front().title);
  case Confidence::none:
    break;
  }
  return text + (message.excluded.empty() ? ". Its cause is not known"
                                          : ". None of the causes that gpuvet knows fits");
}

void add_root(Report& report, const ExplainedMessage& root, const Explanation& explanation,
              bool all) {
  report.state = root.confidence == Confidence::certain || root.confidence == Confidence::likely
                     ? State::fault
                     : State::unknown;
  report.verdict = verdict_of(root) + ".";
  if (report.state == State::fault && !root.causes.front().fixes.empty())
    report.verdict += " Mend: " + root.causes.front().fixes.front().text;
  add_causes(report, root, all);
  if (!root.misleading.empty()) report.notes.push_back("misleading: " + root.misleading);
  for (const DecidingQuestion& question : explanation.questions)
    report.notes.push_back(fmt::format("to decide: {} {}", question.question, question.command));
}

void add_others(Report& report, const Explanation& explanation, bool all) {
  size_t following = 0, further = 0, again = 0;
  const Signature* root =
      explanation.root ? explanation.messages[*explanation.root].message->signature : nullptr;
  for (size_t i = 0; i < explanation.messages.size(); ++i) {
    const ExplainedMessage& message = explanation.messages[i];
    if (explanation.root == i) continue;
    MessageKind kind = message.message->signature->kind;
    std::string where = fmt::format("line {}: ", message.message->lines.front().number);
    if (kind == MessageKind::benign) {
      report.notes.push_back("harmless: " + where + message.says);
    } else if (kind == MessageKind::clue || (kind == MessageKind::consequence && !root)) {
      if (all || kind != MessageKind::clue) report.notes.push_back("seen: " + where + message.says);
    } else if (message.message->signature == root) {
      if (all) report.notes.push_back("of the same kind: " + where + message.says);
      ++again;
    } else if (!all) {
      ++(message.follows_from ? following : further);
    } else if (message.follows_from) {
      report.notes.push_back("follows from it: " + where + message.says);
    } else {
      report.notes.push_back(fmt::format("also: {}{} ({})", where, verdict_of(message),
                                         message.message->signature->id));
    }
  }
  if (again && !all)
    report.notes.push_back(
        fmt::format("{} further message{} of the same kind (--all)", again, again == 1 ? "" : "s"));
  if (following)
    report.notes.push_back(fmt::format("{} further message{} follow{} from it (--all)", following,
                                       following == 1 ? "" : "s", following == 1 ? "s" : ""));
  if (further)
    report.notes.push_back(fmt::format("{} further message{} may have causes of {} own (--all)",
                                       further, further == 1 ? "" : "s",
                                       further == 1 ? "its" : "their"));
}

void add_unknown(Report& report, const Explanation& explanation, const ReadText& read) {
  report.state = State::unknown;
  if (read.bytes == 0) {
    report.verdict = "Not known: the text is empty.";
    return;
  }
  report.verdict = fmt::format("Not known: none of the {} line{} is an error that gpuvet knows.",
                               read.lines, read.lines == 1 ? "" : "s");
  if (explanation.unknown_errors.empty()) return;
  Finding finding;
  finding.state = State::unknown;
  finding.title = "last lines that look like errors";
  for (const TextLine& line : explanation.unknown_errors)
    finding.evidence.push_back(shown_line(line));
  report.findings.push_back(std::move(finding));
}

} // namespace

Confidence overall_confidence(const Explanation& explanation) {
  return explanation.root ? explanation.messages[*explanation.root].confidence : Confidence::none;
}

std::string explanation_line(const Explanation& explanation) {
  return explanation.root ? verdict_of(explanation.messages[*explanation.root]) : std::string();
}

Report explanation_report(const Explanation& explanation, const ReadText& read, bool all) {
  Report report;
  if (explanation.root)
    add_root(report, explanation.messages[*explanation.root], explanation, all);
  else
    add_unknown(report, explanation, read);
  add_others(report, explanation, all);
  if (read.parts.size() > 1) {
    std::string text;
    for (const TextPart& part : read.parts)
      text += fmt::format("{}{} from {} on", text.empty() ? "" : ", ", part.name, part.first_line);
    report.notes.push_back("line numbers: " + text);
  }
  return report;
}

} // namespace gpuvet
