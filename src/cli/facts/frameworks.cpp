#include "cli/facts/page.hpp"
#include "facts/pick/pick.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace gpuvet {
namespace {

std::vector<std::string> words_of(const std::string& query) {
  std::vector<std::string> words;
  std::string word;
  for (char c : lower_case(query) + " ") {
    bool separates = c == ' ' || c == '+' || c == '=';
    if (!separates) word += c;
    if (separates && !word.empty()) words.push_back(word);
    if (separates) word.clear();
  }
  return words;
}

// Does one part of a released version ("2.7", "1.5-1.7", "0.7.2+") contain what was typed? "2.7"
// stands for all of 2.7.x, and "2.7.1" is served by the row "2.7".
bool part_holds(std::string_view part, const Version& typed) {
  size_t dash = part.find('-');
  bool open = !part.empty() && part.back() == '+';
  auto first = parse_version(part.substr(0, dash));
  if (!first) return false;
  auto last = dash == std::string_view::npos ? first : parse_version(part.substr(dash + 1));
  if (!last) return false;
  size_t shared = std::min(last->parts.size(), typed.parts.size());
  Version cut_typed{{typed.parts.begin(), typed.parts.begin() + static_cast<long>(shared)}};
  Version cut_last{{last->parts.begin(), last->parts.begin() + static_cast<long>(shared)}};
  size_t low = std::min(first->parts.size(), typed.parts.size());
  Version cut_first{{first->parts.begin(), first->parts.begin() + static_cast<long>(low)}};
  Version low_typed{{typed.parts.begin(), typed.parts.begin() + static_cast<long>(low)}};
  return low_typed >= cut_first && (open || cut_typed <= cut_last);
}

bool version_holds(const std::string& released, const Version& typed) {
  std::string_view rest = released;
  while (!rest.empty()) {
    size_t comma = rest.find(',');
    std::string_view part = rest.substr(0, comma);
    while (!part.empty() && part.front() == ' ')
      part.remove_prefix(1);
    if (part_holds(part, typed)) return true;
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  }
  return false;
}

bool fits(const FrameworkBuild& build, const std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (i == 0) {
      if (build.framework != word) return false;
    } else if (auto version = parse_version(word)) {
      if (!version_holds(build.version, *version)) return false;
    } else if (lower_case(build.variant) != word &&
               lower_case(build.platform).find(word) == std::string::npos) {
      return false;
    }
  }
  return true;
}

std::string ptx_text(const FrameworkBuild& build) {
  if (!build.ptx_known) return "?";
  std::vector<std::string> names;
  for (Target target : build.ptx)
    names.push_back(cc_name(target.sm) + (target.suffix ? std::string(1, target.suffix) : ""));
  return names.empty() ? "none" : joined(names, " ");
}

std::string sass_text(const FrameworkBuild& build) {
  if (!build.sass_known) return "?";
  std::vector<std::string> names;
  for (Target target : build.sass)
    names.push_back(cc_name(target.sm) + (target.suffix ? std::string(1, target.suffix) : ""));
  return names.empty() ? "none" : joined(names, " ");
}

std::string build_json(const FrameworkBuild& build) {
  std::vector<std::string> sass, ptx;
  for (Target target : build.sass)
    sass.push_back(sm_name(target));
  for (Target target : build.ptx)
    ptx.push_back(compute_name(target));
  return json_object({{"framework", json_text(build.framework)},
                      {"version", json_text(build.version)},
                      {"variant", json_text(build.variant)},
                      {"platform", json_text(build.platform)},
                      {"cuda", json_text(build.cuda)},
                      {"sass_targets", build.sass_known ? json_texts(sass) : "null"},
                      {"ptx_targets", build.ptx_known ? json_texts(ptx) : "null"},
                      {"cudnn", json_text(build.cudnn)},
                      {"python", json_text(build.python)},
                      {"confidence", json_text(build.confidence)},
                      {"note", json_text(build.note)},
                      {"sources", json_texts(build.sources)}});
}

FactsPage overview(const std::vector<FrameworkBuild>& builds) {
  FactsPage page;
  PageSection section;
  section.table = make_table({"framework", ">builds", "first", "last"});
  std::vector<std::string> rows;
  std::vector<std::string> names;
  for (const FrameworkBuild& build : builds)
    if (std::find(names.begin(), names.end(), build.framework) == names.end())
      names.push_back(build.framework);
  for (const std::string& name : names) {
    std::vector<const FrameworkBuild*> own;
    for (const FrameworkBuild& build : builds)
      if (build.framework == name) own.push_back(&build);
    add_row(section.table,
            {name, std::to_string(own.size()), own.front()->version, own.back()->version});
    rows.push_back(json_object({{"framework", json_text(name)},
                                {"builds", json_number(static_cast<double>(own.size()))},
                                {"first", json_text(own.front()->version)},
                                {"last", json_text(own.back()->version)}}));
  }
  page.verdict = fmt::format("{} released builds of {} frameworks.", builds.size(), names.size());
  page.sections.push_back(std::move(section));
  page.notes = {"builds of one: gpuvet facts frameworks torch 2.7 cu128. What a file on this "
                "machine holds: gpuvet scan FILE."};
  page.data = {{"frameworks", json_array(rows)}};
  return page;
}

FactsPage one_build(const FrameworkBuild& build) {
  FactsPage page;
  std::string name = build.framework + " " + build.version;
  if (!build.variant.empty()) name += " " + build.variant;
  page.verdict = name + ": GPU targets not established";
  if (build.sass_known)
    page.verdict = fmt::format("{}: machine code for {}; PTX {}", name, sass_text(build),
                               build.ptx_known ? ptx_text(build) : "not established");
  auto& lines = page.sections.emplace_back().lines;
  lines = {{"platform", or_unknown(build.platform)},
           {"CUDA", or_unknown(build.cuda)},
           {"machine code", build.sass_known ? sass_text(build) : or_unknown("")},
           {"PTX", build.ptx_known ? ptx_text(build) : or_unknown("")},
           {"cuDNN", or_unknown(build.cudnn)},
           {"Python", or_unknown(build.python)},
           {"confidence", or_unknown(build.confidence)},
           {"sources", joined(build.sources, "; ")}};
  if (!build.note.empty()) page.notes.push_back(build.note);
  page.data = {{"builds", json_array({build_json(build)})}};
  return page;
}

FactsPage several(const std::vector<const FrameworkBuild*>& builds, const std::string& query) {
  FactsPage page;
  page.verdict = fmt::format("{} builds fit \"{}\". Machine code, then PTX:", builds.size(), query);
  PageSection section;
  std::vector<std::string> rows;
  for (const FrameworkBuild* build : builds) {
    std::string name = build->version;
    if (!build->variant.empty())
      name += " " + build->variant;
    else if (!build->cuda.empty())
      name += " CUDA " + build->cuda;
    if (!build->platform.empty()) name += ", " + build->platform;
    section.lines.emplace_back(name, sass_text(*build) + "; PTX " + ptx_text(*build));
    rows.push_back(build_json(*build));
  }
  page.sections.push_back(std::move(section));
  page.notes = {"? is not established. Add a version and a variant to see one build in full, such "
                "as torch 2.7 cu128."};
  page.data = {{"builds", json_array(rows)}};
  return page;
}

FactsPage none(const std::vector<FrameworkBuild>& builds, const std::string& query,
               const std::vector<std::string>& words) {
  FactsPage page;
  page.found = false;
  page.verdict = fmt::format("no released build fits \"{}\".", query);
  std::string name = words.empty() ? "" : words[0];
  std::vector<std::string> versions, names;
  for (const FrameworkBuild& build : builds) {
    auto add = [](std::vector<std::string>& to, const std::string& text) {
      if (std::find(to.begin(), to.end(), text) == to.end()) to.push_back(text);
    };
    add(names, build.framework);
    if (build.framework == name) add(versions, build.version);
  }
  if (versions.empty())
    page.notes = {"known frameworks: " + joined(names, ", ")};
  else
    page.notes = {"known versions of " + name + ": " + joined(versions, "; ")};
  page.data = {{"builds", "[]"}, {"known", json_texts(versions.empty() ? names : versions)}};
  return page;
}

} // namespace

Result<FactsPage> frameworks_page(const Facts& facts, const std::string& query) {
  auto builds = facts.frameworks();
  if (!builds) return tl::unexpected<Error>(builds.error());
  if (query.empty()) return overview(**builds);
  std::vector<std::string> words = words_of(query);
  auto names = facts.pick();
  if (!names) return tl::unexpected<Error>(names.error());
  if (!words.empty())
    if (const FrameworkName* name = find_framework(**names, words[0])) words[0] = name->framework;
  std::vector<const FrameworkBuild*> found;
  for (const FrameworkBuild& build : **builds)
    if (!words.empty() && fits(build, words)) found.push_back(&build);
  if (found.empty()) return none(**builds, query, words);
  if (found.size() == 1) return one_build(*found[0]);
  return several(found, query);
}

} // namespace gpuvet
