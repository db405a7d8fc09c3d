#include "formats/buildfile/buildfile.hpp"

#include "base/text.hpp"
#include "formats/buildfile/readers.hpp"

#include <algorithm>
#include <array>

namespace gpuvet {
namespace {

bool any_of(std::string_view text, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

bool is_profile(std::string_view name) {
  return any_of(name, {".bashrc", ".bash_profile", ".bash_login", ".profile", ".zshrc", ".zprofile",
                       ".zshenv", ".zlogin", ".kshrc", ".cshrc", ".tcshrc", "config.fish",
                       ".bash_aliases"});
}

// "8.0;8.6+PTX", "80,86": architectures and nothing else.
bool is_bare_list(std::string_view text) {
  size_t entries = 0;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find_first_of("; ,", begin), text.size());
    std::string_view entry = text.substr(begin, end - begin);
    if (!entry.empty() && !looks_like_architecture(entry)) return false;
    if (!entry.empty()) ++entries;
    begin = end + 1;
  }
  return entries > 0;
}

} // namespace

std::optional<BuildFileKind> build_file_kind(std::string_view path) {
  size_t slash = path.rfind('/');
  std::string_view name = slash == path.npos ? path : path.substr(slash + 1);
  std::string_view folder = slash == path.npos ? std::string_view() : path.substr(0, slash);
  std::string lower = lower_ascii(name);
  if (is_profile(name)) return BuildFileKind::shell_profile;
  if (lower == "dockerfile" || lower == "containerfile" || lower.starts_with("dockerfile.") ||
      lower.ends_with(".dockerfile") || lower.starts_with("containerfile."))
    return BuildFileKind::dockerfile;
  if (name == "CMakeLists.txt" || lower.ends_with(".cmake")) return BuildFileKind::cmake;
  if (name == "CMakePresets.json" || name == "CMakeUserPresets.json")
    return BuildFileKind::cmake_presets;
  if (name == "setup.py" || name == "build.py" || name == "setup_cuda.py")
    return BuildFileKind::python;
  if (name == "pyproject.toml") return BuildFileKind::pyproject;
  if (lower == "makefile" || lower == "gnumakefile" || name == "Makefile.config" ||
      lower.ends_with(".mk") || lower.starts_with("makefile."))
    return BuildFileKind::makefile;
  if (lower.ends_with(".bazelrc")) return BuildFileKind::bazelrc;
  if (name == "meta.yaml" || name == "recipe.yaml") return BuildFileKind::conda_recipe;
  bool yaml = lower.ends_with(".yml") || lower.ends_with(".yaml");
  if (yaml && folder.ends_with(".github/workflows")) return BuildFileKind::github_workflow;
  if (yaml && (lower.starts_with(".gitlab-ci") || lower.ends_with(".gitlab-ci.yml") ||
               folder.ends_with(".gitlab") || folder.ends_with(".gitlab/ci")))
    return BuildFileKind::gitlab_ci;
  if (lower.ends_with(".sh") || lower.ends_with(".bash") || lower.ends_with(".zsh") ||
      lower.ends_with(".fish") || lower == "configure" || lower == ".envrc" || lower == ".env")
    return BuildFileKind::shell;
  return std::nullopt;
}

bool may_set_architectures(std::string_view text) {
  for (std::string_view part :
       {"ARCH", "CAPABILIT", "GENERATE_CODE", "gencode", "generate-code", "sm_", "compute_",
        "cuda_arch", "gpu-arch", "CUDA_CC", "FORCE_CUDA", "cuda_compute_capabilities",
        "offload-arch", "-arch", "CUDA_GENERATION"})
    if (text.find(part) != text.npos) return true;
  return false;
}

BuildFile read_build_file(BuildFileKind kind, std::string_view text) {
  text = text.substr(0, kLargestBuildFile);
  Collector found(kind, text);
  switch (kind) {
  case BuildFileKind::dockerfile:
    read_dockerfile(text, found);
    break;
  case BuildFileKind::shell:
  case BuildFileKind::shell_profile:
    found.script(mapped(text));
    break;
  case BuildFileKind::cmake:
    read_cmake(text, found);
    break;
  case BuildFileKind::cmake_presets:
    read_cmake_presets(text, found);
    break;
  case BuildFileKind::python:
    read_python(text, found);
    break;
  case BuildFileKind::pyproject:
    read_toml_settings(text, found);
    break;
  case BuildFileKind::makefile:
    read_makefile(text, found);
    break;
  case BuildFileKind::bazelrc:
    read_bazelrc(text, found);
    break;
  case BuildFileKind::conda_recipe:
    read_conda_recipe(text, found);
    break;
  case BuildFileKind::github_workflow:
    read_github_workflow(text, found);
    break;
  case BuildFileKind::gitlab_ci:
    read_gitlab_ci(text, found);
    break;
  case BuildFileKind::arguments:
    break;
  }
  return found.finish();
}

BuildFile read_arguments(const std::vector<std::string>& words, std::string& line) {
  std::vector<size_t> starts;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    starts.push_back(line.size());
    line += word;
  }
  Collector found(BuildFileKind::arguments, line);
  std::vector<Written> list;
  for (size_t i = 0; i < words.size(); ++i) {
    Written one;
    one.quoted = true; // the shell is done with it
    one.text.add(words[i], starts[i]);
    bool option_value = !list.empty() && list.back().text.text.starts_with('-');
    if (!option_value && is_bare_list(words[i])) {
      if (BuildSetting* setting = found.option("the list", one, {}))
        setting->form = SettingForm::value;
      continue;
    }
    list.push_back(std::move(one));
  }
  if (!list.empty() && list.front().text.text.starts_with('-')) { // options without their command
    Written command;
    command.text.text = "arguments";
    command.text.from.assign(9, 0);
    list.insert(list.begin(), std::move(command));
  }
  found.words(list, {});
  return found.finish();
}

std::string_view kind_name(BuildFileKind kind) {
  constexpr std::array<std::string_view, 13> names = {
      "Dockerfile",    "shell script",        "shell start-up file", "CMake file",
      "CMake presets", "Python build script", "pyproject.toml",      "Makefile",
      "Bazel options", "conda recipe",        "GitHub workflow",     "GitLab CI file",
      "command line"};
  return names[static_cast<size_t>(kind)];
}

} // namespace gpuvet
