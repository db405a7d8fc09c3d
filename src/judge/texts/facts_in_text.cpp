#include "judge/texts/facts_in_text.hpp"

#include "base/literal_set.hpp"
#include "base/regex.hpp"
#include "base/text.hpp"
#include "judge/texts/forms.hpp"
#include "judge/texts/machine_of_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <unordered_map>

namespace gpuvet {
namespace {

constexpr size_t kLongestLine = 8192; // beyond which a line is cut
constexpr size_t kLongestValue = 1024;
constexpr size_t kMostOfOneName = 64; // a name may have many values: lists of libraries, processes
constexpr size_t kMostOpen = 8;       // sections
constexpr uint32_t kIdleLines =
    20000; // with a literal and without news: it is no longer looked for

using Groups = std::map<std::string, std::string>;

// Compiled when it is first needed: most texts need few of the patterns.
class LazyRegex {
 public:
  const Regex* get(std::string_view pattern) {
    if (!tried_) {
      tried_ = true;
      if (auto made = Regex::compile(pattern)) regex_.emplace(std::move(*made));
    }
    return regex_ ? &*regex_ : nullptr; // the test of the tables compiles all of them
  }

 private:
  bool tried_ = false;
  std::optional<Regex> regex_;
};

// What a literal leads to.
struct Lead {
  std::vector<uint32_t> rows, sections;
  uint32_t idle = 0; // lines with it since one told something new; stops at kIdleLines
};

struct OpenSection {
  size_t index = 0;
  uint32_t left = 0; // lines
  Groups groups;     // of its first line, as begin_NAME
  std::vector<std::string> columns;
};

struct OwnName {
  std::string_view package, fact;
};
// Packages whose versions have a name of their own.
constexpr std::array<OwnName, 8> kOwnNames = {{{"torch", "torch.version"},
                                               {"pytorch", "torch.version"},
                                               {"tensorflow", "tensorflow.version"},
                                               {"tensorflow-gpu", "tensorflow.version"},
                                               {"jax", "jax.version"},
                                               {"nccl", "nccl.version"},
                                               {"cudnn", "cudnn.version"},
                                               {"cmake", "cmake.version"}}};

// "1.2.3" is no news beside "1.2.3+cu118", nor "3.10" beside "3.10.12".
bool less_exact(std::string_view value, std::string_view than) {
  return than.size() > value.size() && than.starts_with(value) &&
         (than[value.size()] == '+' || than[value.size()] == '.');
}

// At commas, semicolons, brackets and full stops that a blank follows.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    bool blank_next = i + 1 == text.size() || text[i + 1] == ' ';
    bool ends = text[i] == '(' || text[i] == ')' || text[i] == ';' ||
                ((text[i] == ',' || text[i] == '.') && blank_next);
    if (!ends) continue;
    parts.push_back(trimmed(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  parts.push_back(trimmed(text.substr(begin)));
  return parts;
}

bool has_literal(const TextRow& row, std::string_view text) {
  return std::any_of(row.literals.begin(), row.literals.end(), [&](const std::string& literal) {
    return text.find(literal) != std::string_view::npos;
  });
}

bool is_version(std::string_view name) {
  return name.ends_with(".version") || name.starts_with("package.");
}

} // namespace

bool only_said(const KnownFact& fact) {
  return fact.where.ends_with(" (said)");
}

std::vector<std::string> fact_literals(const TextTables& tables) {
  std::set<std::string> all;
  for (const TextRow& row : tables.rows)
    if (!row.head) all.insert(row.literals.begin(), row.literals.end());
  for (const TextSection& section : tables.sections)
    if (!section.head) all.insert(section.literals.begin(), section.literals.end());
  return {all.begin(), all.end()};
}

struct FactsInText::State {
  explicit State(const TextTables& the_tables)
      : tables(the_tables), literals(collect(the_tables)), rows(the_tables.rows.size()),
        begins(the_tables.sections.size()), ends(the_tables.sections.size()),
        vetoes(the_tables.vetoes.size()), inside(the_tables.sections.size()) {
    for (uint32_t i = 0; i < tables.rows.size(); ++i)
      for (const std::string& id : tables.rows[i].in)
        for (size_t section = 0; section < tables.sections.size(); ++section)
          if (tables.sections[section].id == id) inside[section].push_back(i);
  }

  // All literals, and what each leads to.
  std::vector<std::string> collect(const TextTables& from) {
    std::vector<std::string> texts;
    auto lead = [&](const std::string& literal) -> Lead& {
      auto [at, fresh] = literal_index.emplace(literal, texts.size());
      if (fresh) {
        texts.push_back(literal);
        leads.emplace_back();
      }
      return leads[at->second];
    };
    for (uint32_t i = 0; i < from.rows.size(); ++i)
      for (const std::string& literal : from.rows[i].literals)
        lead(literal).rows.push_back(i);
    for (uint32_t i = 0; i < from.sections.size(); ++i)
      for (const std::string& literal : from.sections[i].literals)
        lead(literal).sections.push_back(i);
    return texts;
  }

  void line(std::string_view text, uint64_t number);
  void note_idle(const std::vector<uint32_t>& found, bool told);
  void hear(std::string_view text, const std::set<uint32_t>& candidates);
  void age_sections(std::string_view text);
  void open_sections(std::string_view text, const std::set<uint32_t>& candidates);
  void take_columns(OpenSection& section, std::string_view text);
  bool try_row(uint32_t index, std::string_view text, const Groups& begin);
  bool try_words(const TextRow& row, const Regex& regex, std::string_view text);
  void give(const TextRow& row, Groups groups, const Groups& begin);
  void give_one(std::string_view gives, const Groups& groups);
  void internal(std::string_view name, std::string_view value);
  void take_gpu(std::string_view value);
  void take_conda(std::string_view value);
  void gpu_value(std::string_view name, const std::string& value);
  void add(const std::string& name, const std::string& value);
  void add_torch_cuda(std::string_view version);
  bool vetoed(std::string_view text);

  const TextTables& tables;
  std::unordered_map<std::string, size_t> literal_index;
  std::vector<Lead> leads;
  LiteralSet literals;
  std::vector<LazyRegex> rows, begins, ends, vetoes;
  std::vector<std::vector<uint32_t>> inside; // rows of each section

  std::vector<OpenSection> open;
  std::vector<KnownFact> facts;
  std::unordered_map<std::string, size_t> known; // "name\nvalue" to its place in facts
  std::unordered_map<std::string, size_t> of_name;
  SeenInText seen;
  std::optional<size_t> gpu; // the one that the lines are about, index into seen.gpus

  uint64_t number = 0;            // of the line
  uint64_t news = 0, changes = 0; // facts that were new; literals that became idle
  bool said = false;              // by a person: the row that gives
};

void FactsInText::State::line(std::string_view text, uint64_t line_number) {
  text = text.substr(0, kLongestLine);
  while (text.starts_with("> ")) // quoted in an answer
    text.remove_prefix(2);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r' || text.back() == '\t'))
    text.remove_suffix(1);
  number = line_number;

  age_sections(text);
  const uint64_t news_before = news;
  std::set<uint32_t> candidates, sections;
  std::vector<uint32_t> found = literals.all_in(text);
  for (uint32_t literal : found) {
    if (leads[literal].idle == kIdleLines) continue;
    candidates.insert(leads[literal].rows.begin(), leads[literal].rows.end());
    sections.insert(leads[literal].sections.begin(), leads[literal].sections.end());
  }
  bool printed = false;
  auto print = [&](uint32_t row, const Groups& begin) {
    if (try_row(row, text, begin)) printed |= !tables.rows[row].said && !tables.rows[row].part;
  };
  for (OpenSection& section : open) {
    if (!section.columns.empty()) take_columns(section, text);
    for (uint32_t row : inside[section.index])
      print(row, section.groups);
  }
  static const Groups none;
  for (uint32_t row : candidates)
    if (tables.rows[row].in.empty() && !tables.rows[row].said) print(row, none);
  if (!printed) hear(text, candidates);
  open_sections(text, sections);
  note_idle(found, news != news_before);
}

// Literals that stand in line after line and tell nothing new any more.
void FactsInText::State::note_idle(const std::vector<uint32_t>& found, bool told) {
  for (uint32_t literal : found) {
    Lead& lead = leads[literal];
    if (lead.idle == kIdleLines) continue;
    lead.idle = told ? 0 : lead.idle + 1;
    if (lead.idle == kIdleLines) ++changes;
  }
}

// What a person says counts where no program speaks, and where it is about this machine: each part
// of a sentence is looked at by itself.
void FactsInText::State::hear(std::string_view text, const std::set<uint32_t>& candidates) {
  std::vector<uint32_t> spoken;
  for (uint32_t row : candidates)
    if (tables.rows[row].said && tables.rows[row].in.empty()) spoken.push_back(row);
  if (spoken.empty()) return;
  for (uint32_t row : spoken)
    if (tables.rows[row].alone && !vetoed(text) && try_row(row, text, {})) return;
  std::set<std::string_view> heard; // a part again says nothing new
  for (std::string_view part : parts_of(text)) {
    if (!heard.insert(part).second) continue;
    std::optional<bool> refused;
    for (uint32_t row : spoken) {
      if (tables.rows[row].alone || !has_literal(tables.rows[row], part)) continue;
      const Regex* regex = rows[row].get(tables.rows[row].pattern);
      if (!regex || !regex->found_in(part)) continue;
      if (!refused) refused = vetoed(part);
      if (!*refused) try_row(row, part, {});
    }
  }
}

// Closes what ends with this line or has had its lines.
void FactsInText::State::age_sections(std::string_view text) {
  auto over = [&](OpenSection& section) {
    const TextSection& row = tables.sections[section.index];
    if (section.left == 0) return true;
    --section.left;
    if (row.blank_ends && trimmed(text).empty()) return true;
    if (row.ends.empty()) return false;
    const Regex* regex = ends[section.index].get(row.ends);
    return regex && regex->found_in(text);
  };
  open.erase(std::remove_if(open.begin(), open.end(), over), open.end());
}

void FactsInText::State::open_sections(std::string_view text,
                                       const std::set<uint32_t>& candidates) {
  for (uint32_t index : candidates) {
    const TextSection& row = tables.sections[index];
    const Regex* regex = begins[index].get(row.begins);
    auto fields = regex ? regex->fields_in(text) : std::nullopt;
    if (!fields) continue;
    OpenSection fresh;
    fresh.index = index;
    fresh.left = row.lines;
    for (const auto& [name, value] : *fields)
      fresh.groups["begin_" + name] = value;
    if (row.columns)
      for (const std::string& name : split_at(text, ','))
        fresh.columns.emplace_back(trimmed(name));
    auto same = [&](const OpenSection& section) { return section.index == index; };
    open.erase(std::remove_if(open.begin(), open.end(), same), open.end());
    if (open.size() == kMostOpen) open.erase(open.begin());
    open.push_back(std::move(fresh));
    if (row.id == "smi-q" || row.id == "smi") gpu = std::nullopt;
    seen.all_packages |= row.id == "pip-list" || row.id == "conda-list";
  }
}

void FactsInText::State::take_columns(OpenSection& section, std::string_view text) {
  std::vector<std::string> values = split_at(text, ',');
  if (values.size() != section.columns.size()) return;
  said = false;
  if (std::find(section.columns.begin(), section.columns.end(), "index") == section.columns.end())
    take_gpu("next");
  for (size_t i = 0; i < values.size(); ++i)
    for (const TextColumn& column : tables.columns)
      if (column.name == section.columns[i])
        give_one(column.gives, {{"value", std::string(trimmed(values[i]))}});
}

bool FactsInText::State::try_row(uint32_t index, std::string_view text, const Groups& begin) {
  const TextRow& row = tables.rows[index];
  const Regex* regex = rows[index].get(row.pattern);
  if (!regex) return false;
  said = row.said;
  if (row.words) return try_words(row, *regex, text);
  auto fields = regex->fields_in(text);
  if (!fields) return false;
  give(row, std::move(*fields), begin);
  return true;
}

bool FactsInText::State::try_words(const TextRow& row, const Regex& regex, std::string_view text) {
  bool any = false;
  for (const std::string& word : words_of(text))
    if (auto fields = regex.fields_in(word)) {
      give(row, std::move(*fields), {});
      any = true;
    }
  return any;
}

void FactsInText::State::give(const TextRow& row, Groups groups, const Groups& begin) {
  groups.insert(begin.begin(), begin.end());
  for (const std::string& gives : row.gives)
    give_one(gives, groups);
}

void FactsInText::State::give_one(std::string_view gives, const Groups& groups) {
  size_t equals = gives.find('=');
  auto name = filled(gives.substr(0, equals), groups, tables);
  if (!name || equals == std::string_view::npos) return;
  std::string_view form = gives.substr(equals + 1);
  if (name->starts_with('@')) { // these may lack a group
    Groups all = groups;
    for (size_t at = form.find('{'); at != std::string_view::npos; at = form.find('{', at + 1)) {
      std::string_view rest = form.substr(at + 1);
      all.emplace(std::string(rest.substr(0, rest.find_first_of("|}"))), "-");
    }
    if (auto value = filled(form, all, tables)) internal(*name, *value);
    return;
  }
  auto value = filled(form, groups, tables);
  if (value && !value->empty() && value->size() <= kLongestValue) add(*name, *value);
}

// Not facts by themselves: which GPU the next lines are about (@gpu, @pci), what its memory holds
// (@used, bytes), that nvidia-smi answered (@smi), lines and Xids of the kernel log (@kernel,
// @xid), functions of lspci (@function), builds of conda packages (@conda), and bitsandbytes' two
// lines.
void FactsInText::State::internal(std::string_view name, std::string_view value) {
  std::vector<std::string> words = words_of(value);
  if (name == "@gpu") {
    take_gpu(value);
  } else if (name == "@pci") {
    if (gpu) seen.gpus[*gpu].pci_address = std::string(value);
  } else if (name == "@used") {
    auto used = decimal_number(value);
    if (used && gpu && seen.gpus[*gpu].memory_total && *seen.gpus[*gpu].memory_total >= *used)
      add("gpu.free_bytes", fmt::format("{}", *seen.gpus[*gpu].memory_total - *used));
    else if (used && !gpu && seen.last_memory >= *used)
      add("gpu.free_bytes", fmt::format("{}", seen.last_memory - *used));
  } else if (name == "@smi") {
    seen.nvml_answered = true;
  } else if (name == "@kernel") {
    if (seen.kernel_lines.size() >= SeenInText::kMostKernelLines) return;
    seen.kernel_lines.emplace_back(number, std::string(value));
    ++news;
  } else if (name == "@xid" && words.size() >= 2) {
    if (seen.xids.size() >= SeenInText::kMostKernelLines) return;
    seen.xids.push_back({words[0], words[1],
                         std::string(value.substr(value.find(words[1]) + words[1].size())),
                         number});
    ++news;
  } else if (name == "@function" && words.size() >= 3) {
    if (seen.functions.size() >= SeenInText::kMostKernelLines) return;
    seen.functions.push_back({words[0], words[1], words[2]});
    ++news;
  } else if (name == "@conda") {
    take_conda(value);
  } else if (name == "@libc_or_python" && words.size() == 2) {
    add(words[0] == "libc" ? "glibc.version" : "python.version", words[1]);
  }
}

// "3": GPU 3; "next": the one after the present one.
void FactsInText::State::take_gpu(std::string_view value) {
  std::optional<uint64_t> index =
      value == "next" ? (gpu ? seen.gpus[*gpu].index + 1 : 0) : decimal_number(value);
  if (!index || *index >= SeenInText::kMostGpus) return;
  auto is = [&](const TextGpu& one) { return one.index == *index; };
  auto at = std::find_if(seen.gpus.begin(), seen.gpus.end(), is);
  if (at == seen.gpus.end()) {
    TextGpu fresh;
    fresh.index = *index;
    fresh.line = number;
    at = seen.gpus.insert(seen.gpus.end(), fresh);
    ++news;
  }
  gpu = static_cast<size_t>(at - seen.gpus.begin());
  if (value == "next" || *index + 1 <= seen.most_gpus) return;
  seen.most_gpus = *index + 1;
  for (KnownFact& fact : facts)
    if (fact.name == "gpu.count" && seen.count_by_index) {
      known.erase("gpu.count\n" + fact.value);
      fact.value = fmt::format("{}", seen.most_gpus);
      fact.where = fmt::format("line {}", number);
      known.emplace("gpu.count\n" + fact.value, static_cast<size_t>(&fact - facts.data()));
      return;
    }
  seen.count_by_index = of_name.find("gpu.count") == of_name.end();
  if (seen.count_by_index) add("gpu.count", fmt::format("{}", seen.most_gpus));
}

// "pytorch 2.0.1 py3.10_cuda11.7_cudnn8.5.0_0": conda's build string tells the CUDA version.
void FactsInText::State::take_conda(std::string_view value) {
  static const Result<Regex> cuda =
      Regex::compile("_?cuda_?(?P<a>[0-9]+)\\.?(?P<b>[0-9])(?:[_h.p]|$)");
  static const Result<Regex> cpu = Regex::compile("(?:^|_)cpu(?:_|$)");
  std::vector<std::string> words = words_of(value);
  if (words.size() != 3 || (words[0] != "pytorch" && words[0] != "libtorch") || !cuda || !cpu)
    return;
  if (auto fields = cuda->fields_in(words[2]))
    add("torch.cuda", (*fields)["a"] + "." + (*fields)["b"]);
  else if (cpu->found_in(words[2]))
    add("torch.cuda", "none");
}

void FactsInText::State::gpu_value(std::string_view name, const std::string& value) {
  if (said) return;
  if (name == "gpu.memory_bytes") seen.last_memory = decimal_number(value).value_or(0);
  if (!gpu) return;
  TextGpu& one = seen.gpus[*gpu];
  if (name == "gpu.name") one.name = value;
  if (name == "gpu.capability") one.capability = value;
  if (name == "gpu.memory_bytes") one.memory_total = decimal_number(value);
  if (name == "gpu.free_bytes") one.memory_free = decimal_number(value);
  if (name == "gpu.mig") one.mig = value == "yes";
  if (name == "gpu.compute_mode") one.compute_mode = value;
}

void FactsInText::State::add(const std::string& name, const std::string& value) {
  gpu_value(name, value);
  std::string where = fmt::format("line {}{}", number, said ? " (said)" : "");
  if (auto at = known.find(name + "\n" + value); at != known.end()) {
    if (said || !only_said(facts[at->second])) return;
    facts[at->second].where = where;
    ++news;
    return;
  }
  if (facts.size() >= kMostFacts || of_name[name] >= kMostOfOneName) return;
  if (is_version(name))
    for (const KnownFact& fact : facts)
      if (fact.name == name && less_exact(value, fact.value)) return;
  ++of_name[name];
  known.emplace(name + "\n" + value, facts.size());
  facts.push_back({name, value, where});
  ++news;
  if (name == "torch.version") add_torch_cuda(value);
  if (name.starts_with("package."))
    for (const OwnName& own : kOwnNames)
      if (name.substr(8) == own.package) add(std::string(own.fact), value);
}

// "2.1.0+cu118" was built for CUDA 11.8, "2.1.0+cpu" for none.
void FactsInText::State::add_torch_cuda(std::string_view version) {
  size_t plus = version.find('+');
  if (plus == std::string_view::npos) return;
  std::string_view tag = version.substr(plus + 1);
  if (tag == "cpu") add("torch.cuda", "none");
  if (!tag.starts_with("cu")) return;
  std::string_view digits = tag.substr(2, tag.find_first_not_of("0123456789", 2) - 2);
  if (auto cuda = in_form(digits, "tag", tables)) add("torch.cuda", *cuda);
}

bool FactsInText::State::vetoed(std::string_view text) {
  for (size_t i = 0; i < tables.vetoes.size(); ++i)
    if (const Regex* regex = vetoes[i].get(tables.vetoes[i].pattern);
        regex && regex->found_in(text))
      return true;
  return false;
}

FactsInText::FactsInText(const TextTables& tables) : state_(std::make_unique<State>(tables)) {}
FactsInText::~FactsInText() = default;
FactsInText::FactsInText(FactsInText&&) noexcept = default;
FactsInText& FactsInText::operator=(FactsInText&&) noexcept = default;

void FactsInText::line(std::string_view text, uint64_t number) {
  state_->line(text, number);
}

std::vector<std::string> FactsInText::idle_literals() const {
  std::vector<std::string> idle;
  for (const auto& [literal, index] : state_->literal_index)
    if (state_->leads[index].idle == kIdleLines) idle.push_back(literal);
  return idle;
}

uint64_t FactsInText::changes() const {
  return state_->changes;
}

void FactsInText::look_again() {
  for (Lead& lead : state_->leads)
    lead.idle = 0;
}

const std::vector<KnownFact>& FactsInText::facts() const {
  return state_->facts;
}

Machine FactsInText::machine() const {
  return machine_of_text(state_->facts, state_->seen, state_->tables);
}

} // namespace gpuvet
