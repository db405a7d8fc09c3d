// The rows of signatures and causes hold together: ids, references, literals, patterns, fields.
#include "base/regex.hpp"
#include "facts/facts.hpp"
#include "facts/oom/oom.hpp"
#include "facts/signatures/signatures.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

namespace gpuvet {
namespace {

const SignatureTables& tables() {
  static const Facts facts;
  static const auto found = facts.signatures();
  if (!found) throw std::runtime_error(found.error().where + ": " + found.error().what);
  return **found;
}

const CheckTables& checks() {
  static const Facts facts;
  static const auto found = facts.checks();
  if (!found) throw std::runtime_error(found.error().where + ": " + found.error().what);
  return **found;
}

const OomTables& memory() {
  static const Facts facts;
  static const auto found = facts.oom();
  if (!found) throw std::runtime_error(found.error().where + ": " + found.error().what);
  return **found;
}

std::set<std::string> cause_ids() {
  std::set<std::string> ids;
  for (const CheckRow& row : checks().checks)
    ids.insert(row.id);
  for (const CheckRow& row : tables().causes)
    ids.insert(row.id);
  return ids;
}

std::set<std::string> signature_ids() {
  std::set<std::string> ids;
  for (const Signature& row : tables().signatures)
    ids.insert(row.id);
  return ids;
}

bool is_askable(const std::string& name) {
  return std::any_of(tables().facts.begin(), tables().facts.end(), [&](const AskableFact& fact) {
    return fact.name.ends_with('*')
               ? name.starts_with(std::string_view(fact.name).substr(0, fact.name.size() - 1))
               : name == fact.name;
  });
}

// Named groups of the row's patterns, by reading the patterns.
std::set<std::string> groups_of(const Signature& row) {
  std::set<std::string> names;
  for (const std::string& pattern : row.match)
    for (size_t at = pattern.find("(?P<"); at != std::string::npos;
         at = pattern.find("(?P<", at + 1))
      names.insert(pattern.substr(at + 4, pattern.find('>', at) - at - 4));
  return names;
}

// {names} in a text, those in "[?...]" apart.
std::set<std::string> required_names(std::string text) {
  for (size_t open = text.find("[?"); open != std::string::npos; open = text.find("[?"))
    text.erase(open, text.find(']', open) - open + 1);
  std::set<std::string> names;
  for (size_t open = text.find('{'); open != std::string::npos; open = text.find('{', open + 1)) {
    std::string name = text.substr(open + 1, text.find('}', open) - open - 1);
    if (name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789.") == std::string::npos)
      names.insert(name);
  }
  return names;
}

// "cuda_number_cuda" is worked out from the group "cuda_number".
bool is_group(const std::string& name, const std::set<std::string>& groups) {
  return std::any_of(groups.begin(), groups.end(), [&](const std::string& group) {
    return name == group || name.starts_with(group + "_");
  });
}

// The causes that oom.toml writes itself are among those of the signatures' tables.
TEST(Signatures, IdsAreUniqueOverChecksSymptomsSignaturesAndCauses) {
  std::map<std::string, int> seen;
  for (const CheckRow& row : checks().checks)
    ++seen[row.id];
  for (const Symptom& row : checks().symptoms)
    ++seen[row.id];
  for (const CheckRow& row : tables().causes)
    ++seen[row.id];
  for (const Signature& row : tables().signatures)
    ++seen[row.id];
  for (const auto& [id, count] : seen)
    EXPECT_EQ(count, 1) << id << " stands in " << count << " tables: a cause is written once";
  for (const OomCause& cause : memory().causes)
    EXPECT_EQ(seen[cause.id], 1) << cause.id;
}

// "oom-leak" beside "leak" was one cause under two ids.
TEST(Signatures, NoCauseOfMemoryHasASecondId) {
  const std::set<std::string> ids = cause_ids();
  for (const OomCause& cause : memory().causes)
    for (const char* word : {"oom-", "memory-", "gpu-memory-"})
      EXPECT_FALSE(ids.count(word + cause.id)) << word << cause.id << " and " << cause.id;
}

// What a cause of oom.toml leaves to the doctor's check is the check's, word for word.
TEST(Signatures, CausesOfMemoryThatAreChecksSayWhatTheCheckSays) {
  size_t shared = 0;
  for (const OomCause& cause : memory().causes)
    for (const CheckRow& check : checks().checks)
      if (check.id == cause.id) {
        ++shared;
        EXPECT_TRUE(cause.of_check) << cause.id;
        EXPECT_EQ(cause.cause, check.cause);
        EXPECT_EQ(cause.fixes.size(), check.fixes.size()) << cause.id;
      }
  EXPECT_GE(shared, 2U);
}

TEST(Signatures, EveryCauseThatACandidateNamesExists) {
  const std::set<std::string> ids = cause_ids();
  for (const Signature& row : tables().signatures)
    for (const CauseCandidate& candidate : row.candidates)
      if (candidate.cause.find('{') == std::string::npos) {
        EXPECT_TRUE(ids.count(candidate.cause)) << row.id << " names " << candidate.cause;
      }
}

TEST(Signatures, EveryCauseIsNamedAndMended) {
  std::set<std::string> named;
  for (const Signature& row : tables().signatures)
    for (const CauseCandidate& candidate : row.candidates)
      named.insert(candidate.cause);
  for (const CheckRow& cause : tables().causes) {
    EXPECT_TRUE(named.count(cause.id) || find_oom_cause(memory(), cause.id))
        << "no signature leads to " << cause.id;
    EXPECT_FALSE(cause.fixes.empty()) << cause.id;
    EXPECT_TRUE(cause.blame == "node" || cause.blame == "user" || cause.blame == "provider" ||
                cause.blame == "application")
        << cause.id;
  }
}

TEST(Signatures, ErrorsHaveCandidatesAndOthersHaveNone) {
  for (const Signature& row : tables().signatures) {
    bool leads = row.kind == MessageKind::error || row.kind == MessageKind::warning;
    EXPECT_EQ(!row.candidates.empty(), leads) << row.id;
    if (row.candidates.size() > 1) {
      EXPECT_FALSE(row.question.empty()) << row.id << " leaves causes open and asks nothing";
    }
    if (!row.question.empty()) {
      EXPECT_FALSE(row.ask.empty()) << row.id;
    }
  }
}

TEST(Signatures, EveryLiteralOccursInAnExampleAndEveryExampleMatches) {
  for (const Signature& row : tables().signatures) {
    for (const std::string& literal : row.literal) {
      EXPECT_GE(literal.size(), 4U) << row.id;
      EXPECT_TRUE(std::any_of(
          row.example.begin(), row.example.end(),
          [&](const std::string& line) { return line.find(literal) != std::string::npos; }))
          << row.id << ": no example has '" << literal << "'";
    }
    std::vector<Regex> patterns;
    for (const std::string& pattern : row.match) {
      auto compiled = Regex::compile(pattern);
      ASSERT_TRUE(compiled) << row.id << ": " << compiled.error().what;
      EXPECT_TRUE(std::any_of(row.example.begin(), row.example.end(),
                              [&](const std::string& line) { return compiled->found_in(line); }))
          << row.id << ": no example matches " << pattern;
    }
  }
}

TEST(Signatures, WhatConditionsNameExists) {
  const std::set<std::string> causes = cause_ids(), signatures = signature_ids();
  for (const Signature& row : tables().signatures) {
    const std::set<std::string> groups = groups_of(row);
    for (const std::string& id : row.after)
      EXPECT_TRUE(signatures.count(id)) << row.id << " comes after " << id;
    for (const StatedFact& fact : row.states)
      EXPECT_TRUE(is_askable(fact.name)) << row.id << " states " << fact.name;
    for (const CauseCandidate& candidate : row.candidates)
      for (const auto* list : {&candidate.confirm, &candidate.likely, &candidate.exclude})
        for (const Condition& condition : *list) {
          if (condition.kind == Condition::Kind::seen) {
            EXPECT_TRUE(signatures.count(condition.id)) << row.id << ": " << condition.text;
          } else if (condition.kind != Condition::Kind::compare) {
            EXPECT_TRUE(causes.count(condition.id)) << row.id << ": " << condition.text;
          }
          for (const Operand* operand : {&condition.left, &condition.right}) {
            if (operand->kind == Operand::Kind::field) {
              EXPECT_TRUE(is_group(operand->name, groups)) << row.id << ": " << condition.text;
            } else if (operand->kind == Operand::Kind::fact) {
              EXPECT_TRUE(is_askable(operand->name)) << row.id << ": " << condition.text;
            }
          }
          if (condition.comparison == Comparison::matches) {
            EXPECT_TRUE(Regex::compile(condition.right.name)) << row.id << ": " << condition.text;
          }
        }
  }
}

// What is printed without "[?...]" is known whenever the message matched.
TEST(Signatures, TextsNameOnlyWhatTheMessageTells) {
  std::map<std::string, const CheckRow*> rows;
  for (const CheckRow& row : checks().checks)
    rows[row.id] = &row;
  for (const CheckRow& row : tables().causes)
    rows[row.id] = &row;
  for (const Signature& row : tables().signatures) {
    const std::set<std::string> groups = groups_of(row);
    auto expect_known = [&](const std::string& text, const std::string& where) {
      for (const std::string& name : required_names(text))
        EXPECT_TRUE(is_group(name, groups)) << where << ": {" << name << "} in: " << text;
    };
    expect_known(row.says, row.id);
    expect_known(row.misleading, row.id);
    for (const StatedFact& fact : row.states)
      expect_known(fact.value, row.id);
    for (const CauseCandidate& candidate : row.candidates) {
      auto cause = rows.find(candidate.cause);
      if (!candidate.title.empty() || cause == rows.end())
        expect_known(candidate.title, row.id);
      else
        expect_known(cause->second->title, row.id + " without a title for " + candidate.cause);
    }
  }
}

} // namespace
} // namespace gpuvet
