// GitHub workflows, GitLab CI files and conda recipes: YAML with shell scripts inside.
#include "base/text.hpp"
#include "formats/buildfile/readers.hpp"

#include <algorithm>
#include <array>

namespace gpuvet {
namespace {

std::string_view last_key(std::string_view path) {
  size_t slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

std::string_view parent(std::string_view path) {
  size_t slash = path.rfind('/');
  return slash == path.npos ? std::string_view() : path.substr(0, slash);
}

void setting(const YamlScalar& scalar, std::string_view command, Collector& found) {
  Written value = scalar.value;
  value.quoted = true; // YAML ends no value at ';'
  // A block of one line ends in a line feed, which is nobody's separator.
  std::string_view text = value.text.text;
  size_t end = text.find_last_not_of(" \n");
  if (scalar.block && end != text.npos) value.text = value.text.part(0, end + 1);
  if (!found.variable(last_key(scalar.path), value,
                      {SettingForm::environment, std::string(command), false, 0, 0}))
    found.flags(value.text);
}

// Runners that GitHub hosts and that have no GPU.
bool hosted_without_gpu(std::string_view label) {
  for (std::string_view start : {"ubuntu-", "windows-", "macos-"})
    if (label.starts_with(start)) return label.find("gpu") == label.npos;
  return false;
}

std::string job_of(std::string_view path) {
  if (!path.starts_with("jobs/")) return {};
  size_t end = path.find('/', 5);
  return std::string(path.substr(5, end == path.npos ? path.npos : end - 5));
}

// The matrix' lists and its include entries are values that jobs refer to.
void define_matrix(const std::vector<YamlScalar>& scalars, Collector& found) {
  for (const YamlScalar& scalar : scalars) {
    std::string_view path = scalar.path;
    size_t at = path.find("/matrix/");
    if (at == path.npos) continue;
    std::string_view rest = path.substr(at + 8);
    if (rest.starts_with("include/-/"))
      rest.remove_prefix(10);
    else if (rest.ends_with("/-"))
      rest.remove_suffix(2);
    if (rest.empty() || rest.starts_with("exclude")) continue;
    std::string name(rest);
    std::replace(name.begin(), name.end(), '/', '.');
    found.define("matrix." + name, scalar.value);
  }
}

} // namespace

void read_github_workflow(std::string_view text, Collector& found) {
  std::vector<YamlScalar> scalars = yaml_scalars(text);
  define_matrix(scalars, found);
  std::map<std::string, std::vector<std::string>> runners; // of each job
  for (const YamlScalar& scalar : scalars) {
    std::string_view path = scalar.path;
    if (last_key(path) == "runs-on" || path.ends_with("/runs-on/-"))
      runners[job_of(path)].push_back(scalar.value.text.text);
  }
  for (const YamlScalar& scalar : scalars) {
    std::string_view path = scalar.path;
    std::string job = job_of(path);
    found.scope = job.empty() ? job : "job " + job;
    found.without_gpu.clear();
    auto runner = runners.find(job);
    if (runner != runners.end() && runner->second.size() == 1 &&
        hosted_without_gpu(runner->second.front()))
      found.without_gpu = "a runner " + runner->second.front() + " has no GPU";
    std::string_view key = last_key(path);
    if (key == "run" || key.starts_with("CIBW_ENVIRONMENT"))
      found.script(scalar.value.text);
    else if (last_key(parent(path)) == "env")
      setting(scalar, "env", found);
    else if (key == "image" || key == "container")
      found.image(scalar.value.text);
    else if (key == "cuda" && last_key(parent(path)) == "with")
      found.mention(found.file.toolkits, scalar.value.text.text, scalar.value.text);
    if (key == "uses") {
      const std::string& action = scalar.value.text.text;
      if (action.starts_with("pypa/gh-action-pypi-publish") ||
          action.starts_with("pypa/cibuildwheel") ||
          action.starts_with("softprops/action-gh-release"))
        found.publishes(scalar.value.text);
    }
  }
}

void read_gitlab_ci(std::string_view text, Collector& found) {
  for (const YamlScalar& scalar : yaml_scalars(text)) {
    std::string_view path = scalar.path, key = last_key(path);
    size_t slash = path.find('/');
    std::string_view top = path.substr(0, slash);
    found.scope = "job " + std::string(top);
    bool item = key == "-";
    std::string_view owner = item ? last_key(parent(path)) : key;
    if (path.find("parallel/matrix") != path.npos) {
      Written value = scalar.value;
      value.quoted = true;
      found.variable(item ? owner : key, value, {SettingForm::environment, "matrix", false, 0, 0});
    } else if (last_key(parent(path)) == "variables")
      setting(scalar, "variables", found);
    else if (path.find("/variables/") != path.npos && key == "value") {
      YamlScalar inner = scalar;
      inner.path = std::string(parent(path));
      setting(inner, "variables", found);
    } else if (owner == "script" || owner == "before_script" || owner == "after_script")
      found.script(scalar.value.text);
    else if (key == "image" || (key == "name" && last_key(parent(path)) == "image"))
      found.image(scalar.value.text);
  }
}

void read_conda_recipe(std::string_view text, Collector& found) {
  MappedText recipe;
  recipe.add("conda", 0);
  recipe.from.assign(5, 0);
  found.publishes(recipe); // a recipe makes a package for others
  for (const YamlScalar& scalar : yaml_scalars(text)) {
    std::string_view path = scalar.path, key = last_key(path);
    bool item = key == "-";
    std::string_view owner = item ? last_key(parent(path)) : key;
    if (owner == "script_env" || owner == "env" || last_key(parent(path)) == "env") {
      if (!item)
        setting(scalar, "env", found);
      else if (size_t equals = scalar.value.text.text.find('='); equals != std::string::npos) {
        YamlScalar inner; // - NAME=value, which no shell reads
        inner.path = scalar.value.text.text.substr(0, equals);
        inner.value.text = scalar.value.text.part(equals + 1, scalar.value.text.text.size());
        setting(inner, "env", found);
      }
    } else if (owner == "script" || owner == "content" || key == "script")
      found.script(scalar.value.text);
    else if (path.find("requirements/") != path.npos && item) {
      // "cuda-version 12.4", "cuda-nvcc =12.4.*"
      MappedText word = scalar.value.text;
      if (size_t blank = word.text.find_first_of(" \t"); blank != std::string::npos) {
        MappedText joined = word.part(0, blank);
        size_t rest = word.text.find_first_not_of(" \t=", blank);
        if (rest == std::string::npos || word.text.find_first_of("<>!,|~") != std::string::npos)
          continue;
        joined.text += "=";
        joined.from.push_back(static_cast<uint32_t>(word.offset(blank)));
        MappedText version = word.part(rest, word.text.find_first_of(" *", rest));
        joined.text += version.text;
        joined.from.insert(joined.from.end(), version.from.begin(), version.from.end());
        word = std::move(joined);
      }
      found.versions_in(word);
    }
  }
}

} // namespace gpuvet
