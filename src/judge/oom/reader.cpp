#include "judge/oom/reader.hpp"

#include "judge/oom/message.hpp"
#include "judge/oom/samples.hpp"
#include "judge/oom/tables.hpp"

#include <algorithm>
#include <map>

namespace gpuvet {
namespace {

constexpr size_t kMostMessages = 256;   // kept, different ones
constexpr size_t kMostAsides = 64;      // kept
constexpr size_t kMostSeen = 1024;      // texts of messages, to know them again
constexpr uint64_t kFarLines = 200'000; // that the list of chunks below a message may have

bool same_amounts(const OomMessage& a, const OomMessage& b) {
  if (a.template_id != b.template_id || a.amounts.size() != b.amounts.size()) return false;
  if (a.others.size() != b.others.size() || a.word("device") != b.word("device")) return false;
  for (const auto& [name, amount] : a.amounts)
    if (b.amount(name).written != amount.written) return false;
  for (size_t i = 0; i < a.others.size(); ++i)
    if (a.others[i].pid != b.others[i].pid || a.others[i].held.written != b.others[i].held.written)
      return false;
  return true;
}

} // namespace

struct OomReader::Impl {
  explicit Impl(const OomGrammar& used)
      : grammar(used), samples(used), far_of(used.tables->templates.size(), false) {
    for (size_t i = 0; i < used.tables->templates.size(); ++i)
      for (const OomField& field : used.tables->fields)
        if (field.far && field.framework == used.tables->templates[i].framework) far_of[i] = true;
  }

  const OomGrammar& grammar;
  OomEvidence evidence;
  OomSamples samples;
  std::vector<bool> far_of;                          // by template: pieces may stand far below
  std::optional<OomGathering> open;                  // the message that is being gathered
  std::map<std::string, std::optional<size_t>> seen; // texts that were read; absent: no message
  std::optional<size_t> far;                         // the message that takes pieces from far below
  uint64_t last = 0;
  std::vector<bool> present; // literals of the grammar in the present line

  // The index of the message, which may be known already.
  size_t keep(OomMessage message) {
    for (size_t i = 0; i < evidence.messages.size(); ++i) {
      OomMessage& known = evidence.messages[i];
      if (!same_amounts(known, message)) continue;
      known.times += message.times;
      known.last_line = message.last_line;
      return i;
    }
    samples.take(message);
    evidence.messages.push_back(std::move(message));
    return evidence.messages.size() - 1;
  }

  void finish() {
    if (!open) return;
    OomGathering gathered = std::move(*open);
    open.reset();
    auto known = seen.find(gathered.text);
    if (known != seen.end()) { // word for word, as in a loop
      if (known->second) ++evidence.messages[*known->second].times;
      return;
    }
    if (evidence.messages.size() >= kMostMessages) { // the first ones tell it
      ++evidence.messages_left;
      return;
    }
    auto message = read_message(grammar, gathered);
    std::optional<size_t> index;
    if (message) index = keep(std::move(message->first));
    if (message && far_of[message->second]) far = index;
    if (seen.size() < kMostSeen) seen.emplace(std::move(gathered.text), index);
  }

  void look_for_literals(std::string_view line) {
    present.assign(grammar.openings.size() + grammar.nots.size() + grammar.series.size(), false);
    for (uint32_t literal : grammar.literals->all_in(line))
      present[literal] = true;
  }

  bool has_series() const {
    auto first = static_cast<std::ptrdiff_t>(grammar.openings.size() + grammar.nots.size());
    return std::find(present.begin() + first, present.end(), true) != present.end();
  }

  // A line that is something else, and the openings in it void.
  bool is_aside(std::string_view line, uint64_t number) {
    bool wins = false;
    for (size_t i = 0; i < grammar.nots.size(); ++i) {
      if (!present[grammar.openings.size() + i] || !grammar.nots[i].found_in(line)) continue;
      const OomNot& row = grammar.tables->nots[i];
      wins = wins || row.wins;
      auto known = evidence.asides.begin();
      while (known != evidence.asides.end() && known->row != row.id)
        ++known;
      if (known != evidence.asides.end())
        ++known->times;
      else if (evidence.asides.size() < kMostAsides)
        evidence.asides.push_back({row.id, number, 1});
    }
    return wins;
  }

  bool opens(std::string_view line, uint64_t number) {
    for (size_t i = 0; i < grammar.openings.size(); ++i) {
      if (!present[i] || !grammar.openings[i].pattern.found_in(line)) continue;
      finish();
      open.emplace();
      open->opening = i;
      add_line(*open, line, number);
      return true;
    }
    return false;
  }

  void take(std::string_view line, uint64_t number, bool has_literal) {
    last = std::max(last, number);
    if (!has_literal) {
      samples.go_on(line, number);
      if (open && !add_line(*open, line, number)) finish();
      return;
    }
    if (line.find("expandable_segments:True") != std::string_view::npos &&
        line.find("try setting") == std::string_view::npos)
      evidence.expandable_set = true;
    look_for_literals(line);
    samples.take(line, number, has_series());
    take_table_line(*grammar.tables, line, number, evidence.tables);
    if (is_aside(line, number)) {
      finish();
      return;
    }
    if (opens(line, number)) return;
    if (open && !add_line(*open, line, number)) finish();
    if (!open && far && number - evidence.messages[*far].line < kFarLines)
      read_far(grammar, line, number, evidence.messages[*far]);
  }
};

OomReader::OomReader(const OomGrammar& grammar) : impl_(std::make_unique<Impl>(grammar)) {}
OomReader::~OomReader() = default;
OomReader::OomReader(OomReader&&) noexcept = default;
OomReader& OomReader::operator=(OomReader&&) noexcept = default;

void OomReader::take(std::string_view line, uint64_t number, bool has_literal) {
  impl_->take(line, number, has_literal);
}

OomEvidence OomReader::end() {
  impl_->finish();
  for (const OomTable& table : impl_->evidence.tables)
    impl_->samples.take(table);
  impl_->evidence.series = impl_->samples.end();
  impl_->evidence.lines = impl_->last;
  return std::move(impl_->evidence);
}

} // namespace gpuvet
