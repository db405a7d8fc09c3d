#include "judge/oom/message.hpp"

#include "base/text.hpp"
#include "judge/oom/amount.hpp"

#include <algorithm>
#include <array>

namespace gpuvet {
namespace {

constexpr size_t kMostLines = 14;   // of one message
constexpr size_t kMostText = 6000;  // bytes of one message
constexpr size_t kMostOthers = 512; // processes in one message
constexpr size_t kMostWord = 200;   // bytes of a field that is no number

bool is_amount(std::string_view name) {
  constexpr std::array<std::string_view, 19> names = {
      "requested", "total",  "free",   "allocated",   "reserved", "unallocated", "private",
      "self",      "limit",  "pool",   "in_use",      "used",     "needed",      "budget",
      "other",     "region", "active", "peak_in_use", "rough"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

// What a program may want, however absurd; everything else exists somewhere.
bool is_wish(std::string_view name) {
  return name == "requested" || name == "needed" || name == "rough";
}

uint64_t line_at(const std::vector<OomGathering::Piece>& pieces, size_t at) {
  uint64_t line = 0;
  for (const OomGathering::Piece& piece : pieces)
    if (piece.at <= at) line = piece.line;
  return line;
}

struct Reading {
  const OomGrammar& grammar;
  const std::vector<OomGathering::Piece>& pieces;
  std::string_view unit;
  OomMessage& message;
  bool first_wins = true; // a field that is known already stays

  OomAmount amount(std::string_view name, const OomGroup& group) const {
    OomAmount made = parse_amount(group.text, unit, grammar.tables->units);
    made.line = line_at(pieces, group.at);
    if (made && !is_wish(name) && *made > kAbsurdBytes) {
      made.bytes.reset();
      made.why_unknown = "no GPU has that much memory";
    }
    return made;
  }

  void put(std::string_view name, const OomGroup& group) {
    if (name.ends_with("_exact")) { // the same number, with all digits
      name.remove_suffix(std::string_view("_exact").size());
      message.amounts[std::string(name)] = amount(name, group);
    } else if (is_amount(name)) {
      if (first_wins && message.amounts.count(name)) return;
      message.amounts[std::string(name)] = amount(name, group);
    } else if (!group.text.empty()) {
      message.words.emplace(std::string(name), std::string(group.text.substr(0, kMostWord)));
    }
  }

  void read(const OomPattern& pattern, std::string_view text) {
    pattern.each(text, [&](size_t, const std::vector<OomGroup>& groups) {
      std::optional<uint64_t> pid;
      for (const OomGroup& group : groups)
        if (group.name == "pid") pid = decimal_number(group.text);
      for (const OomGroup& group : groups) {
        if (group.name == "pid") continue;
        if (group.name == "other")
          put_other(pid.value_or(0), group);
        else
          put(group.name, group);
      }
    });
  }

  void put_other(uint64_t pid, const OomGroup& group) {
    for (const OomProcess& known : message.others)
      if (known.pid == pid) return;
    if (message.others.size() < kMostOthers)
      message.others.push_back({pid, amount("other", group)});
  }
};

// Bytes of shape times type, where the message tells no size.
void add_size_of_tensor(const OomTables& tables, OomMessage& message) {
  if (message.amounts.count("requested") || message.word("shape").empty()) return;
  OomAmount made;
  made.line = message.line;
  made.written = "shape [" + message.word("shape") + "] of " + message.word("dtype");
  const std::string name = message.word("dtype");
  auto is = [&](const OomType& type) { return type.name == name; };
  auto type = std::find_if(tables.types.begin(), tables.types.end(), is);
  uint64_t bytes = type == tables.types.end() ? 0 : type->bytes;
  if (bytes == 0) made.why_unknown = "the size of type " + name + " is not known";
  for (const std::string& part : split_at(message.word("shape"), ',')) {
    const std::optional<uint64_t> length = decimal_number(trimmed(part));
    if (!length || (*length != 0 && bytes > UINT64_MAX / *length)) {
      if (bytes != 0) made.why_unknown = "the shape gives more than 2^64 bytes";
      bytes = 0;
      break;
    }
    bytes *= *length;
  }
  if (bytes != 0) made.bytes = bytes;
  message.amounts["requested"] = made;
}

std::string_view piece_text(const OomGathering& gathered, size_t i) {
  const std::string_view text = gathered.text;
  const size_t begin = gathered.pieces[i].at;
  if (i + 1 == gathered.pieces.size()) return text.substr(begin);
  return text.substr(begin, gathered.pieces[i + 1].at - 1 - begin);
}

// The same text with the breaks closed: for terminals that cut words and numbers apart.
OomGathering glued(const OomGathering& gathered) {
  OomGathering made;
  made.opening = gathered.opening;
  for (size_t i = 0; i < gathered.pieces.size(); ++i) {
    made.pieces.push_back({made.text.size(), gathered.pieces[i].line});
    made.text += piece_text(gathered, i);
  }
  return made;
}

void read_fields(const OomGrammar& grammar, const OomTemplate& row, const OomGathering& gathered,
                 OomMessage& message) {
  Reading reading{grammar, gathered.pieces, row.unit, message};
  reading.read(grammar.openings[gathered.opening].pattern, gathered.text);
  for (size_t i = 0; i < grammar.fields.size(); ++i) {
    const OomField& field = grammar.tables->fields[i];
    if (field.framework != row.framework || field.far) continue;
    reading.unit = field.unit;
    reading.read(grammar.fields[i], gathered.text);
  }
}

} // namespace

bool add_line(OomGathering& message, std::string_view line, uint64_t number) {
  if (message.pieces.size() >= kMostLines || message.text.size() >= kMostText) return false;
  if (line.find("Traceback (most recent call last)") != std::string_view::npos) return false;
  if (!message.text.empty()) message.text += ' ';
  message.pieces.push_back({message.text.size(), number});
  line = trimmed(line);
  while (!line.empty() && line.front() == '#') // a message that stands in a comment
    line = trimmed(line.substr(1));
  message.text += line.substr(0, kMostText - std::min(kMostText, message.text.size()));
  return true;
}

std::optional<std::pair<OomMessage, size_t>> read_message(const OomGrammar& grammar,
                                                          const OomGathering& gathered) {
  const OomGathering closed = gathered.pieces.size() > 1 ? glued(gathered) : gathered;
  for (size_t index : grammar.openings[gathered.opening].templates) {
    const OomTemplate& row = grammar.tables->templates[index];
    if (!grammar.marks[index].found_in(gathered.text) &&
        !grammar.marks[index].found_in(closed.text))
      continue;
    OomMessage message;
    message.template_id = row.id;
    message.framework = row.framework;
    message.versions = row.versions;
    message.line = gathered.pieces.front().line;
    message.last_line = message.line;
    read_fields(grammar, row, gathered, message);
    if (gathered.pieces.size() > 1) read_fields(grammar, row, closed, message);
    for (size_t i = 1; i < gathered.pieces.size(); ++i) // pieces that have a line to themselves
      read_far(grammar, piece_text(gathered, i), gathered.pieces[i].line, message);
    for (const auto& [name, amount] : message.amounts)
      message.last_line = std::max(message.last_line, amount.line);
    add_size_of_tensor(*grammar.tables, message);
    return std::pair{std::move(message), index};
  }
  return std::nullopt;
}

void read_far(const OomGrammar& grammar, std::string_view line, uint64_t number,
              OomMessage& message) {
  const std::vector<OomGathering::Piece> pieces = {{0, number}};
  Reading reading{grammar, pieces, {}, message};
  for (size_t i = 0; i < grammar.fields.size(); ++i) {
    const OomField& field = grammar.tables->fields[i];
    if (field.far && field.framework == message.framework) reading.read(grammar.fields[i], line);
  }
}

} // namespace gpuvet
