#include "facts/signatures/read_signatures.hpp"

#include "base/text.hpp"
#include "facts/readers.hpp"

#include <algorithm>
#include <array>

namespace gpuvet {
namespace {

constexpr std::array<std::string_view, 5> kKinds = {"error", "warning", "consequence", "benign",
                                                    "clue"};

std::vector<Condition> conditions(FactRow& row, std::string_view key) {
  std::vector<Condition> list;
  for (const std::string& text : row.list(key)) {
    auto condition = parse_condition(text);
    if (!condition)
      row.refuse(condition.error().what);
    else
      list.push_back(std::move(*condition));
  }
  return list;
}

MessageKind message_kind(FactRow& row) {
  std::string word = row.text("severity");
  const auto* at = std::find(kKinds.begin(), kKinds.end(), word);
  if (at == kKinds.end()) {
    row.refuse("'severity' is error, warning, consequence, benign or clue");
    return MessageKind::error;
  }
  return static_cast<MessageKind>(at - kKinds.begin());
}

std::vector<StatedFact> stated(FactRow& row) {
  std::vector<StatedFact> facts;
  for (const std::string& text : row.list("states")) {
    auto parts = key_and_value(text, '=');
    if (!parts)
      row.refuse("'states' holds texts such as \"nvcc.version = {toolkit}\"");
    else
      facts.push_back({parts->first, parts->second});
  }
  return facts;
}

Signature read_signature(FactRow& row, const std::string& area) {
  Signature signature;
  signature.id = row.text("id");
  signature.area = area;
  signature.literal = row.list("literal");
  signature.match = row.list("match");
  signature.kind = message_kind(row);
  signature.says = row.text("says");
  signature.misleading = row.text_if("misleading");
  signature.after = row.list("after");
  signature.states = stated(row);
  signature.question = row.text_if("question");
  signature.ask = row.text_if("ask");
  signature.example = row.texts("example");
  signature.source = row.source();
  if (signature.literal.empty() || signature.match.empty() || signature.example.empty())
    row.refuse("a signature has literal, match and example");
  row.end();
  return signature;
}

CheckRow read_cause(FactRow& row) {
  CheckRow cause;
  cause.id = row.text("id");
  cause.area = "cause";
  cause.title = row.text("title");
  cause.cause = row.text("cause");
  cause.blame = row.text("blame");
  cause.note = row.text_if("note");
  cause.source = row.source();
  row.end();
  return cause;
}

} // namespace

std::string_view message_kind_name(MessageKind kind) {
  return kKinds[static_cast<size_t>(kind)];
}

void read_signature_areas(FactFile& file, SignatureTables& tables) {
  for (const PackedRow& packed : file.rows("area")) {
    FactRow row(file, packed);
    tables.areas.push_back({row.text("id"), row.text("title")});
    row.end();
  }
  for (const PackedRow& packed : file.rows("fact")) {
    FactRow row(file, packed);
    tables.facts.push_back({row.text("name"), row.text("asks"), row.text_if("command")});
    row.end();
  }
  for (const PackedRow& packed : file.rows("wheel_abi")) {
    FactRow row(file, packed);
    WheelAbi abi;
    abi.first = row.version("first");
    if (std::string last = row.text_if("last"); !last.empty()) abi.last = parse_version(last);
    abi.variants = row.list("variants");
    abi.cxx11 = row.flag("cxx11");
    abi.source = row.source();
    row.end();
    tables.wheel_abis.push_back(std::move(abi));
  }
}

void read_causes(FactFile& file, SignatureTables& tables) {
  auto first = static_cast<std::ptrdiff_t>(tables.causes.size());
  for (const PackedRow& packed : file.rows("cause")) {
    FactRow row(file, packed);
    tables.causes.push_back(read_cause(row));
  }
  for (const PackedRow& packed : file.rows("fix")) {
    FactRow row(file, packed);
    CheckFix fix = read_check_fix(row);
    auto at = std::find_if(tables.causes.begin() + first, tables.causes.end(),
                           [&](const CheckRow& cause) { return cause.id == fix.check; });
    if (at == tables.causes.end())
      row.refuse("there is no cause '" + fix.check + "' in this file");
    else
      at->fixes.push_back(std::move(fix));
  }
}

void read_signatures(FactFile& file, const std::string& area, SignatureTables& tables) {
  auto first = static_cast<std::ptrdiff_t>(tables.signatures.size());
  for (const PackedRow& packed : file.rows("signature")) {
    FactRow row(file, packed);
    tables.signatures.push_back(read_signature(row, area));
  }
  for (const PackedRow& packed : file.rows("candidate")) {
    FactRow row(file, packed);
    std::string of = row.text("signature");
    CauseCandidate candidate;
    candidate.cause = row.text("cause");
    candidate.title = row.text_if("title");
    candidate.mend = row.texts("mend");
    candidate.confirm = conditions(row, "confirm");
    candidate.likely = conditions(row, "likely");
    candidate.exclude = conditions(row, "exclude");
    row.end();
    auto at = std::find_if(tables.signatures.begin() + first, tables.signatures.end(),
                           [&](const Signature& signature) { return signature.id == of; });
    if (at == tables.signatures.end())
      row.refuse("there is no signature '" + of + "' in this file");
    else
      at->candidates.push_back(std::move(candidate));
  }
  read_causes(file, tables);
}

} // namespace gpuvet
