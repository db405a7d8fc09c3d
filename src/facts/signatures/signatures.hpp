// What error messages say and mean, in rows: each message with its pattern, what it means in plain
// words, the causes that it may have in order of likelihood, and for each cause the conditions that
// confirm or exclude it. A cause is a row of its own, of the same shape as a check of the doctor
// (facts/checks.hpp): where the doctor has a check for it, the candidate names the check, so that a
// cause and what mends it are written once.
//
// Files: signatures.toml has the areas and the facts that can be asked for; signatures/AREA.toml
// has signatures, candidates, causes and fixes; causes.toml has causes that several areas share.
#pragma once

#include "base/version.hpp"
#include "facts/checks.hpp"
#include "facts/signatures/condition.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpuvet {

enum class MessageKind : uint8_t {
  error,       // something failed here
  warning,     // may be the cause of a later failure, never of an earlier one
  consequence, // "ninja: build stopped": follows from any error that is in the text
  benign,      // never the cause, though people take it for one
  clue,        // says nothing alone; conditions ask whether it was seen
};

// Texts of these rows have {fields}: named groups of the pattern, what is derived from them, and
// facts by name ({nvcc.version}). In "[?A|B]" part A stands where all its fields
// are known, else part B, which may be empty: "[?nvcc {nvcc.version}|this nvcc] is too old".

struct CauseCandidate {
  std::string cause;              // id of a check or cause; may have {fields}: "xid-{code}"
  std::string title;              // the cause in this message's words; empty: the cause's own title
  std::vector<std::string> mend;  // what mends it in this message's words, before the cause's own
  std::vector<Condition> confirm; // all true: certain; empty: nothing in the text can confirm it
  std::vector<Condition> likely;  // all true: likely, before the other open ones
  std::vector<Condition> exclude; // any true: out
};

struct StatedFact { // "nvcc.version" = "{toolkit}": what the message says about the machine
  std::string name, value;
};

struct Signature {
  std::string id;                   // kebab-case, stable
  std::string area;                 // of signatures.toml
  std::vector<std::string> literal; // at least one of these is in every line that matches
  std::vector<std::string> match;   // RE2, any of them, on one plain line
  MessageKind kind = MessageKind::error;
  std::string says;               // what the message means
  std::string misleading;         // advice of the message that misleads, and how
  std::vector<std::string> after; // consequence of these where one was found before or beside it
  std::vector<StatedFact> states;
  std::string question;                   // that decides between the causes
  std::string ask;                        // the command that answers it
  std::vector<std::string> example;       // one line each
  std::vector<CauseCandidate> candidates; // most likely first; a cause may stand in several rows
  std::string source;
};

// A fact that conditions may name, and how a person gets it.
struct AskableFact {
  std::string name;    // "nvcc.version"; a trailing '*' stands for any rest
  std::string asks;    // "which CUDA release is nvcc?"
  std::string command; // "nvcc --version"; empty: follows from others
};

// Which C++ ABI PyTorch's wheels for Linux have: of releases from `first` to `last` (empty: and
// newer), of these variants ("cu126"; empty: all that no other row names).
struct WheelAbi {
  Version first;
  std::optional<Version> last;
  std::vector<std::string> variants;
  bool cxx11 = false;
  std::string source;
};

struct SignatureArea {
  std::string id, title;
};

struct SignatureTables {
  std::vector<SignatureArea> areas;
  std::vector<AskableFact> facts;
  std::vector<WheelAbi> wheel_abis;  // the first row that fits counts
  std::vector<Signature> signatures; // where several match one line, the first counts
  std::vector<CheckRow> causes;      // area "cause"; asks and log are empty
};

std::string_view message_kind_name(MessageKind kind); // "error"

} // namespace gpuvet
