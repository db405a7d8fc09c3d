#include "formats/buildfile/collect.hpp"

#include "base/compute_capability.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cctype>

namespace gpuvet {
namespace {

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

bool is_name_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// A reference at `at`: its name, what stands there if the name has no value, and its end.
struct Reference {
  std::string_view name;
  size_t fallback_begin = 0, fallback_end = 0; // equal: none
  bool has_fallback = false;
  size_t end = 0;
};

std::optional<Reference> github_reference(std::string_view text, size_t at) {
  size_t close = text.find("}}", at);
  if (!text.substr(at).starts_with("${{") || close == text.npos) return std::nullopt;
  std::string_view inner = trimmed(text.substr(at + 3, close - at - 3));
  return Reference{inner, 0, 0, false, close + 2};
}

std::optional<Reference> reference_at(std::string_view text, size_t at) {
  if (at >= text.size() || text[at] != '$') return std::nullopt;
  if (auto github = github_reference(text, at)) return github;
  size_t begin = at + 1;
  if (begin < text.size() && (text[begin] == '{' || text[begin] == '(')) {
    char close = text[begin] == '{' ? '}' : ')';
    size_t end = text.find(close, begin);
    if (end == text.npos) return Reference{{}, 0, 0, false, text.size()};
    std::string_view inner = text.substr(begin + 1, end - begin - 1);
    size_t letters = 0;
    while (letters < inner.size() && (is_name_letter(inner[letters]) || inner[letters] == '.'))
      ++letters;
    Reference found{inner.substr(0, letters), 0, 0, false, end + 1};
    std::string_view rest = inner.substr(letters);
    if (rest.empty()) return found;
    size_t skip = rest.starts_with(":-") ? 2 : rest.starts_with("-") ? 1 : 0;
    if (skip == 0 || close == ')') return Reference{{}, 0, 0, false, end + 1};
    found.has_fallback = true;
    found.fallback_begin = begin + 1 + letters + skip;
    found.fallback_end = end;
    return found;
  }
  size_t end = begin;
  while (end < text.size() && is_name_letter(text[end]))
    ++end;
  return Reference{text.substr(begin, end - begin), 0, 0, false, end};
}

bool has_reference(std::string_view text) {
  return text.find_first_of("$`") != text.npos || holds(text, "{{");
}

void restore_dollars(std::string& text) {
  std::replace(text.begin(), text.end(), kPlainDollar, '$');
}

} // namespace

bool is_variable_name(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::all_of(text.begin(), text.end(), is_name_letter);
}

bool sets_architectures(std::string_view name) {
  for (std::string_view part : {"ARCH", "CAPABILIT", "GENERATE_CODE", "GENCODE"})
    if (holds(name, part)) return true;
  return name == "cuda_arch" || name == "FORCE_CUDA" || name == "CUDA_GENERATION" ||
         name.starts_with("Kokkos_ARCH") || name == "NUMBA_FORCE_CUDA_CC" ||
         name == "cuda_select_nvcc_arch_flags";
}

bool looks_like_architecture(std::string_view text) {
  for (std::string_view end : {"+PTX", "-real", "-virtual"})
    if (text.ends_with(end)) text.remove_suffix(end.size());
  if (text.ends_with(',') || text.ends_with(';')) text.remove_suffix(1);
  auto target = parse_target(text);
  return target && target->sm >= 20 && target->sm < 200;
}

Written written(const MappedText& script, const ShellWord& word) {
  Written made;
  made.quoted = word.quoted;
  made.text.text = word.text;
  for (size_t at : word.at)
    made.text.from.push_back(static_cast<uint32_t>(script.offset(at)));
  if (made.text.from.empty()) { // an empty word: the place between its quotes
    made.text.from.push_back(
        static_cast<uint32_t>(script.offset(word.begin + (word.quoted ? 1 : 0))));
  }
  return made;
}

Written value_part(const Written& word, size_t begin) {
  Written value = word;
  value.text = word.text.part(begin, word.text.text.size());
  if (value.text.from.empty())
    value.text.from.push_back(
        static_cast<uint32_t>(word.text.offset(word.text.text.size()) + (word.quoted ? 1u : 0u)));
  return value;
}

Collector::Collector(BuildFileKind kind, std::string_view text) : bytes_(text), lines_(text) {
  file.kind = kind;
}

void Collector::define(std::string_view name, const Written& value, bool fallback) {
  definitions_[std::string(name)].push_back({value, fallback});
}

BuildSetting* Collector::variable(std::string_view name, const Written& value, const How& how) {
  define(name, value, how.fallback);
  if (!sets_architectures(name)) return nullptr;
  BuildSetting setting;
  setting.name = name;
  setting.form = how.form;
  setting.command = how.command;
  setting.fallback = how.fallback;
  setting.name_at = lines_.place(how.name_begin, how.name_end);
  setting.scope = scope;
  setting.without_gpu = without_gpu;
  pending_.push_back({std::move(setting), value});
  return &pending_.back().setting;
}

BuildSetting* Collector::option(std::string_view name, const Written& value,
                                std::string_view command) {
  BuildSetting setting;
  setting.name = name;
  setting.form = SettingForm::option;
  setting.command = command;
  setting.scope = scope;
  setting.without_gpu = without_gpu;
  pending_.push_back({std::move(setting), value});
  return &pending_.back().setting;
}

void Collector::mention(std::vector<VersionMention>& list, std::string_view version,
                        const MappedText& text, bool minimum) {
  auto parsed = parse_version(version);
  if (!parsed || text.from.empty()) return;
  std::string shown = text.text;
  restore_dollars(shown);
  list.push_back({*parsed, std::move(shown),
                  lines_.place(text.offset(0), text.offset(text.text.size())), minimum});
}

void Collector::publishes(const MappedText& text) {
  if (text.from.empty()) return;
  file.publishes.push_back(
      {{}, text.text, lines_.place(text.offset(0), text.offset(text.text.size())), false});
}

const std::vector<Collector::Definition>* Collector::defined(std::string_view name) const {
  if (name.starts_with("env.")) name.remove_prefix(4);
  auto found = definitions_.find(name);
  return found == definitions_.end() ? nullptr : &found->second;
}

// What a value may be, as far as the file says. References inside the values of references are
// followed a few times only: they may go round.
std::vector<Collector::Value> Collector::resolve(const Written& start) const {
  std::vector<Value> done, open = {{start, true, true, false, false}};
  for (int round = 0; round < 6 && !open.empty(); ++round) {
    std::vector<Value> next;
    for (Value& value : open) {
      const std::string& text = value.written.text.text;
      if (!has_reference(text)) {
        done.push_back(std::move(value));
        continue;
      }
      auto reference = reference_at(text, 0);
      if (!reference || reference->end != text.size()) {
        value.known = false;
        done.push_back(std::move(value));
        continue;
      }
      const std::vector<Definition>* values = defined(reference->name);
      if (!values && !reference->has_fallback) {
        value.known = false;
        done.push_back(std::move(value));
        continue;
      }
      if (reference->has_fallback)
        next.push_back(
            {{value.written.text.part(reference->fallback_begin, reference->fallback_end), true},
             true,
             true,
             true,
             value.several});
      else
        for (const Definition& one : *values)
          next.push_back({one.value, true, true, value.fallback || one.fallback,
                          value.several || values->size() > 1});
    }
    open = std::move(next);
    if (open.size() + done.size() > 64) break;
  }
  for (Value& value : open) {
    value.known = false;
    done.push_back(std::move(value));
  }
  return done;
}

BuildFile Collector::finish() {
  for (Pending& pending : pending_) {
    for (Value& value : resolve(pending.value)) {
      BuildSetting setting = pending.setting;
      const MappedText& text = value.written.text;
      setting.value = text.text;
      restore_dollars(setting.value);
      setting.known = value.known;
      setting.fallback |= value.fallback;
      setting.several |= value.several;
      size_t begin = std::min(text.offset(0), bytes_.size());
      size_t end = setting.value.empty() ? begin : text.offset(text.text.size());
      end = std::min(std::max(begin, end), bytes_.size());
      setting.at = lines_.place(begin, end);
      std::string in_file(bytes_.substr(begin, end - begin));
      setting.literal = in_file == setting.value;
      if (!setting.literal && file.kind == BuildFileKind::cmake) { // items side by side
        setting.blank_list = true;
        std::replace(in_file.begin(), in_file.end(), ' ', ';');
        setting.literal = in_file == setting.value;
      }
      setting.yaml_number = value.written.number;
      setting.quoted = value.written.quoted;
      bool seen = std::any_of(file.settings.begin(), file.settings.end(), [&](const auto& other) {
        return other.name == setting.name && other.at.begin == setting.at.begin &&
               other.form == setting.form && other.at.end == setting.at.end;
      });
      if (!seen) file.settings.push_back(std::move(setting));
    }
  }
  pending_.clear();
  return std::move(file);
}

} // namespace gpuvet
