// What the build around a setting makes of it: no GPU, an old CMake, names that nothing reads.
#include "base/text.hpp"
#include "judge/lint/parts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>

namespace gpuvet {
namespace {

const CMakeFeature* feature_of(const std::vector<CMakeFeature>& features, std::string_view word) {
  for (const CMakeFeature& feature : features)
    if (feature.feature == word) return &feature;
  return nullptr;
}

bool is_profile(const BuildFile& file) {
  return file.kind == BuildFileKind::shell_profile;
}

// Does this CMake have a feature? A later release line may have got it only with a later patch.
bool has_feature(const Version& cmake, const CMakeFeature& feature) {
  for (size_t i = 0; i < feature.versions.size(); ++i) {
    auto since = parse_version(feature.versions[i]);
    if (!since) continue;
    bool older = cmake < *since;
    if (older && (i == 0 || cmake.major() >= since->major())) return false;
  }
  return true;
}

void judge_cmake(LintRun& run, const KnownSetting& known, const ListEntry& entry) {
  bool family = entry.is_target && entry.target.suffix == 'f';
  const CMakeFeature* feature =
      feature_of(run.facts.cmake, family ? std::string("suffix f") : entry.text);
  if (!feature || feature->versions.empty() || known.variable.tool != "CMake") return;
  bool project =
      run.file.kind == BuildFileKind::cmake || run.file.kind == BuildFileKind::cmake_presets;
  if (run.file.asks_cmake_version) return;
  std::string since = joined(feature->versions, " or ");
  for (const VersionMention& cmake : run.file.cmakes) {
    // "at least 3.18" of a package manager brings the newest; a project's own is a promise.
    if (has_feature(cmake.version, *feature) || (cmake.minimum && !project)) continue;
    LintFinding& finding =
        run.add("cmake-too-old", known.setting, known.place_of(entry),
                {{"item", entry.text},
                 {"since", since},
                 {"mention", fmt::format("{} (line {})", cmake.text, cmake.at.line)}});
    if (cmake.minimum) {
      finding.level = LintLevel::warning;
      finding.message =
          fmt::format("{} needs CMake {}; the file promises to work with {} (line {})", entry.text,
                      since, cmake.text, cmake.at.line);
    }
    finding.label = "since CMake " + since;
    return;
  }
}

// Images that bring no list of their own.
bool brings_no_list(std::string_view image) {
  for (std::string_view name : {"nvidia/cuda:", "ubuntu:", "debian:", "python:", "rockylinux:"})
    if (image.find(name) != image.npos) return true;
  return false;
}

// FORCE_CUDA=1 says: build GPU code although no GPU is seen. Then a list is needed.
void judge_forced(LintRun& run) {
  const BuildFile& file = run.file;
  if (file.runs_scripts || file.images.empty() ||
      !std::all_of(file.images.begin(), file.images.end(), brings_no_list))
    return;
  const BuildSetting* forced = nullptr;
  for (const BuildSetting& setting : file.settings) {
    if (setting.name == "TORCH_CUDA_ARCH_LIST") return;
    if (setting.name == "FORCE_CUDA" && setting.value == "1" && setting.known && !forced)
      forced = &setting;
  }
  if (!forced || forced->without_gpu.empty()) return;
  for (const LintVariable& variable : run.facts.tables.variables)
    if (variable.name == "TORCH_CUDA_ARCH_LIST") {
      LintFinding& finding = run.add("empty-list", *forced, forced->at,
                                     {{"name", variable.name},
                                      {"where", forced->without_gpu},
                                      {"empty", variable.empty},
                                      {"example", variable.example}});
      finding.message = fmt::format("FORCE_CUDA builds GPU code, but TORCH_CUDA_ARCH_LIST is not "
                                    "set, and {}",
                                    forced->without_gpu);
      finding.label = "for which GPUs?";
    }
}

void judge_ignored(LintRun& run) {
  for (const BuildSetting& name : run.file.settings) {
    if (name.name != "CUDA_ARCH_NAME" || !name.known || name.fallback || name.several) continue;
    if (name.form != SettingForm::definition || name.value.empty() || name.value == "Manual")
      continue;
    for (const BuildSetting& setting : run.file.settings)
      if ((setting.name == "CUDA_ARCH_BIN" || setting.name == "CUDA_ARCH_PTX") &&
          setting.form == SettingForm::definition && setting.scope == name.scope)
        run.add("ignored-setting", setting, setting.name_at,
                {{"name", setting.name}, {"value", name.value}})
            .label = "thrown away";
  }
}

bool is_known_name(const LintRun& run, std::string_view name) {
  return std::any_of(run.facts.tables.variables.begin(), run.facts.tables.variables.end(),
                     [&](const LintVariable& row) { return row.name == name; });
}

FilePlace name_place(const BuildSetting& setting) {
  bool written = setting.name_at.end > setting.name_at.begin;
  return written ? setting.name_at : setting.at;
}

} // namespace

void judge_empty(LintRun& run, const BuildSetting& setting, const LintVariable& variable) {
  if (variable.empty.empty() || setting.fallback || setting.several || is_profile(run.file)) return;
  // In CMake's own language an empty list is a beginning.
  if (run.file.kind == BuildFileKind::cmake) return;
  if (!variable.empty_anywhere && setting.without_gpu.empty()) return;
  LintFinding& finding = run.add("empty-list", setting, setting.at,
                                 {{"name", setting.name},
                                  {"where", setting.without_gpu},
                                  {"empty", variable.empty},
                                  {"example", variable.example}});
  if (variable.empty_anywhere) finding.message = setting.name + " is empty";
  finding.label = "nothing";
}

void judge_words(LintRun& run, const KnownSetting& known) {
  for (const ListEntry& entry : known.entries) {
    if (!entry.is_target && has_word(known.variable.build_gpu, entry.text) &&
        !known.setting.without_gpu.empty())
      run.add("native-without-gpu", known.setting, known.place_of(entry),
              {{"item", entry.text},
               {"where", known.setting.without_gpu},
               {"example", known.variable.example}})
          .label = "of which machine?";
    judge_cmake(run, known, entry);
  }
}

void judge_names(LintRun& run) {
  std::set<size_t> told;
  for (const BuildSetting& setting : run.file.settings) {
    if (setting.form == SettingForm::option || is_known_name(run, setting.name)) continue;
    FilePlace at = name_place(setting);
    if (!told.insert(at.begin).second) continue;
    for (const WrongVariable& wrong : run.facts.wrong)
      if (wrong.name == setting.name)
        run.add(
               "unread-variable", setting, at,
               {{"name", setting.name}, {"truth", wrong.truth}, {"use", joined(wrong.use, " or ")}})
            .label = "not read";
    if (setting.name.size() < 12) continue;
    for (const LintVariable& row : run.facts.tables.variables) {
      if (row.name.size() < 12 || !nearly_same(row.name, setting.name, 1)) continue;
      LintFinding& finding =
          run.add("unread-variable", setting, at,
                  {{"name", setting.name},
                   {"truth",
                    fmt::format("{} reads {}; the name differs in one letter", row.tool, row.name)},
                   {"use", row.name}});
      finding.label = "a letter is wrong";
      if (setting.name_at.end - setting.name_at.begin == setting.name.size())
        finding.fix = Replacement{at.begin, at.end, row.name};
    }
  }
}

void judge_whole_file(LintRun& run) {
  judge_forced(run);
  judge_ignored(run);
}

} // namespace gpuvet
