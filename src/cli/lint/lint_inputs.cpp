#include "cli/lint/lint_inputs.hpp"

#include "base/text.hpp"
#include "formats/buildfile/buildfile.hpp"
#include "os/file_entry.hpp"
#include "os/file_tree.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace gpuvet {
namespace {

constexpr size_t kDeepestFolder = 64;

// Folders that hold other people's files or what a build made.
bool is_passed_over(std::string_view name) {
  constexpr std::array<std::string_view, 12> names = {
      ".git", ".hg",  ".svn",   "node_modules", "__pycache__",   ".venv",
      "venv", ".tox", ".cache", ".mypy_cache",  "site-packages", ".nox"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

// A file that was named: what its name doesn't tell, its first lines may.
std::optional<BuildFileKind> kind_by_content(std::string_view path, std::string_view text) {
  std::string_view first = text.substr(0, text.find('\n'));
  if (first.starts_with("#!"))
    return first.find("python") != first.npos ? BuildFileKind::python : BuildFileKind::shell;
  if (path.ends_with(".py")) return BuildFileKind::python;
  if (path.ends_with(".json")) return BuildFileKind::cmake_presets;
  if (path.ends_with(".toml")) return BuildFileKind::pyproject;
  if (path.ends_with(".yml") || path.ends_with(".yaml")) {
    if (text.starts_with("jobs:") || text.find("\njobs:") != text.npos)
      return BuildFileKind::github_workflow;
    if (text.find("\nrequirements:") != text.npos) return BuildFileKind::conda_recipe;
    return BuildFileKind::gitlab_ci;
  }
  if (text.starts_with("FROM ") || text.find("\nFROM ") != text.npos)
    return BuildFileKind::dockerfile;
  return std::nullopt;
}

void count_settings(const BuildFile& file, const LintTables& tables, LintInputs& found) {
  for (const BuildSetting& setting : file.settings) {
    if (!variable_of(setting, tables)) continue;
    ++found.settings;
    if (!setting.known) ++found.unresolved;
  }
}

class Reader {
 public:
  Reader(const LintFacts& facts, const LintAsked& asked) : facts_(facts), asked_(asked) {}

  void named(const std::string& path) {
    auto text = read_whole_file(path, kLargestBuildFile);
    if (!text) {
      found.errors.push_back(text.error());
      return;
    }
    auto absolute = real_path(path);
    auto kind = build_file_kind(absolute ? *absolute : path);
    if (!kind) kind = build_file_kind(path);
    if (!kind) kind = kind_by_content(path, *text);
    if (!kind) {
      found.errors.push_back(
          {"this is no build file that gpuvet knows: Dockerfile, shell script, CMake, setup.py, "
           "pyproject.toml, Makefile, .bazelrc, conda recipe, GitHub or GitLab CI",
           path});
      return;
    }
    judge(path, *kind, std::move(*text));
  }

  // Build files below a folder, links not followed.
  void folder(const std::string& top) {
    std::vector<std::pair<std::string, size_t>> open = {{top, 0}};
    while (!open.empty()) {
      auto [path, depth] = std::move(open.back());
      open.pop_back();
      auto names = list_folder(path);
      if (!names) {
        found.errors.push_back({names.error().what, path});
        continue;
      }
      for (auto name = names->rbegin(); name != names->rend(); ++name)
        entry(path, *name, depth, open);
    }
  }

  LintInputs found;

 private:
  void entry(const std::string& folder_path, const std::string& name, size_t depth,
             std::vector<std::pair<std::string, size_t>>& open) {
    std::string path = folder_path == "." ? name : join_path(folder_path, name);
    auto kind = build_file_kind(path);
    auto status = file_status(path, Links::keep);
    if (!status) return;
    if (status->type == FileType::folder) {
      if (!is_passed_over(name) && depth < kDeepestFolder) open.push_back({path, depth + 1});
      return;
    }
    if (!kind || status->type != FileType::regular || status->size > kLargestBuildFile) return;
    auto text = read_whole_file(path, kLargestBuildFile);
    if (text)
      judge(path, *kind, std::move(*text));
    else
      found.errors.push_back(text.error());
  }

  void judge(const std::string& path, BuildFileKind kind, std::string text) {
    ++found.looked_at;
    if (!may_set_architectures(text)) return;
    BuildFile file = read_build_file(kind, text);
    count_settings(file, facts_.tables, found);
    std::vector<LintFinding> findings = lint_file(file, facts_, asked_);
    if (findings.empty()) return;
    found.files.push_back({path, std::move(text), kind, file.settings.size(), std::move(findings)});
  }

  const LintFacts& facts_;
  const LintAsked& asked_;
};

} // namespace

LintInputs read_lint_inputs(const std::vector<std::string>& names, const LintFacts& facts,
                            const LintAsked& asked) {
  Reader reader(facts, asked);
  std::vector<std::string> words;
  for (const std::string& name : names) {
    auto status = file_status(name, Links::follow);
    if (status && status->type == FileType::folder)
      reader.folder(name);
    else if (status)
      reader.named(name);
    else
      words.push_back(name);
  }
  LintInputs found = std::move(reader.found);
  std::sort(found.files.begin(), found.files.end(),
            [](const LintedFile& a, const LintedFile& b) { return a.path < b.path; });
  if (words.empty()) return found;
  bool any = false;
  std::string line;
  BuildFile file = read_arguments(words, line);
  for (const BuildSetting& setting : file.settings)
    any |= variable_of(setting, facts.tables) != nullptr ||
           std::any_of(facts.wrong.begin(), facts.wrong.end(),
                       [&](const WrongVariable& wrong) { return wrong.name == setting.name; });
  std::vector<LintFinding> findings = lint_file(file, facts, asked);
  if (!any && findings.empty()) {
    found.errors.push_back({"neither a file nor a setting that gpuvet knows, such as "
                            "TORCH_CUDA_ARCH_LIST=8.6 or -DCMAKE_CUDA_ARCHITECTURES=86",
                            joined(words, " ")});
    return found;
  }
  found.words = true;
  count_settings(file, facts.tables, found);
  if (!findings.empty())
    found.files.push_back({"command line", line, BuildFileKind::arguments, file.settings.size(),
                           std::move(findings)});
  return found;
}

} // namespace gpuvet
