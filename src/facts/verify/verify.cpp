#include "facts/verify/verify.hpp"

#include "facts/rows.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace gpuvet {
namespace {

template <class T> using Words = std::vector<std::pair<std::string_view, T>>;

template <class T> T word_of(FactRow& row, const char* key, const Words<T>& words) {
  const std::string word = row.text(key);
  for (const auto& [name, value] : words)
    if (name == word) return value;
  row.refuse("'" + word + "' is no " + key + " that src/facts/verify/verify.hpp lists");
  return T{};
}

const Words<VerifyRule>& rules() {
  static const Words<VerifyRule> words = {
      {"works", VerifyRule::works},       {"exact", VerifyRule::exact},
      {"rate", VerifyRule::rate},         {"of-step", VerifyRule::of_step},
      {"latency", VerifyRule::latency},   {"deviation", VerifyRule::deviation},
      {"pipe", VerifyRule::pipe},         {"delivered", VerifyRule::delivered},
      {"drift", VerifyRule::drift},       {"link", VerifyRule::link},
      {"links", VerifyRule::links},       {"clocks", VerifyRule::clocks},
      {"counters", VerifyRule::counters}, {"detector", VerifyRule::detector},
      {"told", VerifyRule::told},
  };
  return words;
}

const Words<VerifyScope>& scopes() {
  static const Words<VerifyScope> words = {
      {"gpu", VerifyScope::gpu},
      {"pair", VerifyScope::pair},
      {"machine", VerifyScope::machine},
      {"environment", VerifyScope::environment},
  };
  return words;
}

const Words<VerifyLimit>& limits() {
  static const Words<VerifyLimit> words = {
      {"multiprocessors", VerifyLimit::multiprocessors},
      {"pcie", VerifyLimit::pcie},
      {"memory", VerifyLimit::memory},
      {"link", VerifyLimit::link},
      {"tensor-clock", VerifyLimit::tensor_clock},
      {"tensor-peak", VerifyLimit::tensor_peak},
      {"all-reduce", VerifyLimit::all_reduce},
  };
  return words;
}

const Words<VerifyTurn>& turns() {
  static const Words<VerifyTurn> words = {
      {"at-once", VerifyTurn::at_once},
      {"in-turn", VerifyTurn::in_turn},
      {"each-pair", VerifyTurn::each_pair},
      {"machine", VerifyTurn::machine},
  };
  return words;
}

std::vector<VerifyRule> rules_of(FactRow& row, const char* key) {
  std::vector<VerifyRule> made;
  for (const std::string& word : row.list(key)) {
    const auto at = std::find_if(rules().begin(), rules().end(),
                                 [&](const auto& entry) { return entry.first == word; });
    if (at == rules().end())
      row.refuse("'" + word + "' is no rule");
    else
      made.push_back(at->second);
  }
  return made;
}

double number(FactRow& row, const char* key) {
  const std::optional<double> value = row.number_if(key);
  if (!value) row.refuse(std::string("'") + key + "' is missing");
  return value.value_or(0);
}

void take_words(FactRow& row, VerifyRow& made) {
  made.pass = row.text("pass");
  made.warn = row.text_if("warn");
  made.fail = row.text_if("fail");
  made.next = row.text("next");
  made.action = row.text("action");
  made.source = row.source();
  if (made.rule != VerifyRule::told && made.rule != VerifyRule::drift && made.fail.empty())
    row.refuse("what a failure means ('fail') is missing");
}

void read_rows(FactFile& file, VerifyTables& tables) {
  for (const PackedRow& packed : file.rows("row")) {
    FactRow row(file, packed);
    VerifyRow made;
    made.id = row.text("id");
    made.layer = row.text("layer");
    made.title = row.text("title");
    made.step = row.text_if("step");
    made.scope = word_of(row, "scope", scopes());
    made.rule = word_of(row, "rule", rules());
    if (made.rule == VerifyRule::rate || made.rule == VerifyRule::delivered)
      made.limit = word_of(row, "limit", limits());
    made.readings = row.list("readings");
    made.best = row.flag("best");
    made.of = row.list("of");
    if (made.rule == VerifyRule::of_step && made.of.size() != made.readings.size())
      row.refuse("'of' must name a row for each reading");
    made.unit = row.text_if("unit");
    made.required = row.flag("required");
    made.long_only = row.flag("long_only");
    made.checked_by = row.text_if("checked_by");
    made.rated_by = row.text_if("rated_by");
    made.library = row.text_if("library");
    made.own = row.text_if("own");
    made.causes_of = row.list("causes_of");
    made.voids = rules_of(row, "voids");
    take_words(row, made);
    row.end();
    tables.rows.push_back(std::move(made));
  }
}

void read_bands(FactFile& file, VerifyTables& tables) {
  for (const PackedRow& packed : file.rows("band")) {
    FactRow row(file, packed);
    VerifyBand made;
    made.rows = row.list("rows");
    made.reading = row.text_if("reading");
    made.link = row.text_if("link");
    made.generation = row.counts("generation");
    made.sm = row.counts("sm");
    made.word = row.text_if("word");
    made.unit = row.text("unit");
    made.ok = row.number_if("ok");
    made.warn = row.number_if("warn");
    if (made.ok.has_value() != made.warn.has_value()) row.refuse("'ok' and 'warn' go together");
    made.source = row.source();
    row.end();
    tables.bands.push_back(std::move(made));
  }
  for (const PackedRow& packed : file.rows("siblings")) {
    FactRow row(file, packed);
    VerifySiblings made;
    made.rows = row.list("rows");
    made.best = row.flag("best");
    made.warn = number(row, "warn");
    made.fail = number(row, "fail");
    made.source = row.source();
    row.end();
    tables.siblings.push_back(std::move(made));
  }
}

void read_hardware(FactFile& file, VerifyTables& tables) {
  for (const PackedRow& packed : file.rows("pcie")) {
    FactRow row(file, packed);
    tables.pcie.push_back({row.count("generation"), number(row, "gt_s"), row.count("payload_bits"),
                           row.count("line_bits"), row.source()});
    row.end();
  }
  for (const PackedRow& packed : file.rows("nvlink")) {
    FactRow row(file, packed);
    tables.nvlink.push_back(
        {row.count("generation"), row.counts("sm"), number(row, "link_gb_s"), row.source()});
    row.end();
  }
  for (const PackedRow& packed : file.rows("tensor")) {
    FactRow row(file, packed);
    VerifyTensor made;
    made.sm = row.count("sm");
    made.segment = row.text_if("segment");
    made.names = row.list("names");
    made.flop_per_clock = number(row, "flop_per_clock");
    made.source = row.source();
    row.end();
    tables.tensor.push_back(std::move(made));
  }
  for (const PackedRow& packed : file.rows("proved")) {
    FactRow row(file, packed);
    tables.proved.push_back({row.text("kernel"), row.counts("sm"), row.source()});
    row.end();
  }
}

void read_times(FactFile& file, VerifyTables& tables) {
  for (const PackedRow& packed : file.rows("time")) {
    FactRow row(file, packed);
    VerifyTime made;
    made.step = row.text("step");
    made.turn = word_of(row, "turn", turns());
    made.seconds = number(row, "seconds");
    made.quick = row.number_if("quick").value_or(0);
    made.grows = row.number_if("grows").value_or(0);
    made.source = row.source();
    row.end();
    tables.times.push_back(std::move(made));
  }
}

void read_reasons(FactFile& file, VerifyTables& tables) {
  for (const PackedRow& packed : file.rows("reason")) {
    FactRow row(file, packed);
    VerifyReason made;
    made.id = row.text("id");
    made.title = row.text("title");
    made.counter = row.text_if("counter");
    made.bit = row.count_if("bit").value_or(0);
    if (made.counter.empty() && made.bit == 0) row.refuse("a reason needs a counter or a bit");
    made.when = row.text_if("when");
    made.warn = row.number_if("warn");
    made.fail = row.number_if("fail");
    made.next = row.text("next");
    made.action = row.text("action");
    made.source = row.source();
    row.end();
    tables.reasons.push_back(std::move(made));
  }
  for (const PackedRow& packed : file.rows("counter")) {
    FactRow row(file, packed);
    VerifyCounter made;
    made.name = row.text("name");
    made.title = row.text("title");
    made.warn = row.number_if("warn");
    made.fail = row.number_if("fail");
    made.next = row.text("next");
    made.action = row.text("action");
    made.source = row.source();
    row.end();
    tables.counters.push_back(std::move(made));
  }
}

void read_numbers(FactFile& file, VerifyTables& tables) {
  for (const PackedRow& packed : file.rows("published")) {
    FactRow row(file, packed);
    VerifyPublished made;
    made.rows = row.list("rows");
    made.names = row.list("names");
    made.unit = row.text("unit");
    made.least = number(row, "least");
    made.most = number(row, "most");
    made.source = row.source();
    row.end();
    tables.published.push_back(std::move(made));
  }
  for (const PackedRow& packed : file.rows("number")) {
    FactRow row(file, packed);
    tables.numbers.push_back({row.text("id"), number(row, "value"), row.text("unit"),
                              row.text("meaning"), row.source()});
    row.end();
  }
}

} // namespace

void read_verify(FactFile& file, VerifyTables& tables) {
  read_rows(file, tables);
  read_bands(file, tables);
  read_hardware(file, tables);
  read_times(file, tables);
  read_reasons(file, tables);
  read_numbers(file, tables);
}

const VerifyRow* find_verify_row(const VerifyTables& tables, const std::string& id) {
  for (const VerifyRow& row : tables.rows)
    if (row.id == id) return &row;
  return nullptr;
}

double verify_number(const VerifyTables& tables, const std::string& id) {
  for (const VerifyNumber& number : tables.numbers)
    if (number.id == id) return number.value;
  return 0;
}

const VerifyTime* find_time(const VerifyTables& tables, const std::string& step) {
  for (const VerifyTime& time : tables.times)
    if (time.step == step) return &time;
  return nullptr;
}

std::string layer_of_step(const VerifyTables& tables, const std::string& step) {
  for (const VerifyRow& row : tables.rows)
    if (row.step == step) return row.layer;
  return {};
}

bool is_proved(const VerifyTables& tables, const std::string& kernel, uint32_t sm) {
  return std::any_of(tables.proved.begin(), tables.proved.end(), [&](const VerifyKernel& row) {
    return row.kernel == kernel && std::find(row.sm.begin(), row.sm.end(), sm) != row.sm.end();
  });
}

} // namespace gpuvet
