// From the messages of a text to the cause: which message is the root and which follow from it,
// which of its possible causes the facts confirm, exclude or leave open, and what would decide.
// Pure: the same text and facts always give the same answer.
//
// A message is a symptom. Its only cause is certain when nothing has to hold for it; of several,
// one is certain only when its conditions are true. One that is left when all others are excluded
// is likely, for there may be causes that nobody wrote down.
#pragma once

#include "judge/doctor/diagnose.hpp"
#include "judge/explain/conditions.hpp"
#include "judge/explain/messages.hpp"
#include "model/oom.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

enum class CauseState : uint8_t { confirmed, likely, open, excluded };

struct PossibleCause {
  const CheckRow* row = nullptr;
  CauseState state = CauseState::open;
  std::string title, why; // filled in
  std::vector<Fix> fixes; // for the system that the text or machine names
  std::vector<std::string> evidence;
  std::vector<std::string> missing; // names of facts that would decide
  std::string unlike;               // excluded: what speaks against it
};

enum class Confidence : uint8_t { certain, likely, one_of, none };

struct ExplainedMessage {
  const Message* message = nullptr;
  std::string says, misleading;
  std::vector<std::string> worked_out; // what the words and numbers of the message stand for
  std::vector<PossibleCause> causes;   // that are not excluded, best first
  std::vector<PossibleCause> excluded;
  Confidence confidence = Confidence::none;
  std::optional<size_t> follows_from; // index of the message that it is a consequence of
};

// A question that decides, with the command that answers it.
struct DecidingQuestion {
  std::string question, command;
};

struct Explanation {
  std::vector<ExplainedMessage> messages; // in the order of the text
  std::optional<size_t> root; // the one that explains the others; none: nothing to explain
  std::vector<DecidingQuestion> questions; // of the root, when its cause is open or only likely
  std::vector<TextLine> unknown_errors;    // lines that look like errors and are not known
};

struct ExplainInput {
  const MessageFinder* found = nullptr;
  std::vector<KnownFact> text_facts;
  std::vector<KnownFact> machine_facts;    // of this machine, when the text is from here
  const Diagnosis* doctor = nullptr;       // of this machine; null: the text is from elsewhere
  const Diagnosis* text_machine = nullptr; // of the machine in the text: what fires counts, no more
  const OomEvidence* memory = nullptr; // that the grammar of gpuvet oom read in the text; or null
};

// Errors: damaged fact tables.
Result<Explanation> explain(const ExplainInput& input, const Facts& facts);

std::string confidence_text(Confidence confidence, size_t causes); // "certain", "one of 3"
std::string_view cause_state_name(CauseState state);

} // namespace gpuvet
