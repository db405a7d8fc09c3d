#include "cli/facts/page.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

std::string names_of(const std::vector<Target>& targets, bool ptx) {
  std::string out;
  for (Target target : targets)
    out += (out.empty() ? "" : " ") + (ptx ? compute_name(target) : sm_name(target));
  return out;
}

// "5.0 to 12.1" over the plain targets.
std::string capability_span(const Toolkit& toolkit) {
  if (toolkit.sass_targets.empty()) return {};
  return fmt::format("{} to {}", cc_name(toolkit.sass_targets.front().sm),
                     cc_name(toolkit.sass_targets.back().sm));
}

std::string gcc_span(const Toolkit& toolkit) {
  if (toolkit.max_gcc.empty()) return {};
  if (toolkit.min_gcc.empty()) return "up to " + toolkit.max_gcc;
  return toolkit.min_gcc + " to " + toolkit.max_gcc;
}

std::string with_windows(const std::string& linux_driver, const std::string& windows) {
  if (linux_driver.empty()) return {};
  return linux_driver + " (Windows " + (windows.empty() ? "not established" : windows) + ")";
}

std::string toolkit_json(const Toolkit& toolkit) {
  std::vector<std::string> sass, ptx, releases;
  for (Target target : toolkit.sass_targets)
    sass.push_back(sm_name(target));
  for (Target target : toolkit.ptx_targets)
    ptx.push_back(compute_name(target));
  for (const ToolkitRelease& release : toolkit.releases)
    releases.push_back(json_object({{"version", json_text(release.version)},
                                    {"driver_linux", json_text(release.driver_linux)},
                                    {"driver_windows", json_text(release.driver_windows)},
                                    {"runfile_driver", json_text(release.runfile)},
                                    {"source", json_text(release.source)}}));
  return json_object({{"version", json_text(toolkit.version)},
                      {"ptx_isa", json_text(toolkit.ptx_isa)},
                      {"sass_targets", json_texts(sass)},
                      {"ptx_targets", json_texts(ptx)},
                      {"targets_assumed_from", json_text(toolkit.targets_from)},
                      {"default_target", json_text(toolkit.default_arch)},
                      {"driver_branch", json_text(toolkit.driver_branch)},
                      {"min_driver_linux", json_text(toolkit.min_driver_linux)},
                      {"min_driver_windows", json_text(toolkit.min_driver_windows)},
                      {"minor_compatibility_linux", json_text(toolkit.minor_driver_linux)},
                      {"minor_compatibility_windows", json_text(toolkit.minor_driver_windows)},
                      {"min_gcc", json_text(toolkit.min_gcc)},
                      {"max_gcc", json_text(toolkit.max_gcc)},
                      {"max_clang", json_text(toolkit.max_clang)},
                      {"releases", json_array(releases)},
                      {"confidence", json_text(toolkit.confidence)},
                      {"note", json_text(toolkit.note)},
                      {"sources", json_texts(toolkit.sources)}});
}

FactsPage overview(const std::vector<Toolkit>& toolkits) {
  FactsPage page;
  page.verdict = fmt::format("{} CUDA toolkits, {} to {}.", toolkits.size(),
                             toolkits.front().version, toolkits.back().version);
  PageSection section;
  section.table = make_table(
      {">CUDA", ">PTX ISA", "capabilities", "driver", "or at least", "gcc", ">clang up to"});
  std::vector<std::string> rows;
  for (const Toolkit& t : toolkits) {
    auto shown = [](const std::string& text) { return text.empty() ? "?" : text; };
    add_row(section.table, {t.version, t.ptx_isa, capability_span(t), shown(t.min_driver_linux),
                            t.minor_driver_linux, shown(gcc_span(t)), shown(t.max_clang)});
    rows.push_back(toolkit_json(t));
  }
  page.sections.push_back(std::move(section));
  page.notes = {
      "driver: for everything, PTX included; \"or at least\": minor version compatibility, "
      "machine code only. Linux; ? is not established.",
      "there is no public CUDA 12.7. One toolkit: gpuvet facts toolkits 12.8."};
  page.data = {{"toolkits", json_array(rows)}};
  return page;
}

// Targets that the toolkit before did not have, and those that it had.
std::string differences(const Toolkit& toolkit, const Toolkit* before) {
  if (!before) return {};
  auto missing = [](const std::vector<Target>& from, const std::vector<Target>& in) {
    std::vector<Target> out;
    for (Target target : from)
      if (std::find(in.begin(), in.end(), target) == in.end()) out.push_back(target);
    return names_of(out, false);
  };
  std::string added = missing(toolkit.sass_targets, before->sass_targets);
  std::string dropped = missing(before->sass_targets, toolkit.sass_targets);
  std::string text;
  if (!added.empty()) text = "adds " + added;
  if (!dropped.empty()) text += (text.empty() ? "drops " : "; drops ") + dropped;
  return text.empty() ? "none" : text;
}

FactsPage one_toolkit(const Toolkit& t, const Toolkit* before) {
  FactsPage page;
  std::string driver = with_windows(t.min_driver_linux, t.min_driver_windows);
  page.verdict = fmt::format("CUDA {}: compute capabilities {}, PTX ISA {}, driver {}", t.version,
                             capability_span(t), t.ptx_isa,
                             t.min_driver_linux.empty() ? "not established" : t.min_driver_linux);
  std::string minor = with_windows(t.minor_driver_linux, t.minor_driver_windows);
  if (minor.empty())
    minor = "does not exist for CUDA 10.2 and older: the driver above is needed (error 35)";
  else
    minor += ", for machine code; PTX needs the driver above (error 222)";
  std::string sass = names_of(t.sass_targets, false);
  if (!t.targets_from.empty()) sass += " (assumed: those of " + t.targets_from + ")";
  auto& lines = page.sections.emplace_back().lines;
  lines = {{"machine code", sass},
           {"PTX", names_of(t.ptx_targets, true)},
           {"PTX ISA", t.ptx_isa},
           {"without -arch", t.default_arch + " and its PTX"}};
  if (before)
    lines.emplace_back("changes", "since " + before->version + ": " + differences(t, before));
  lines.emplace_back("driver", or_unknown(driver));
  lines.emplace_back("branch", or_unknown(t.driver_branch));
  lines.emplace_back("minor compat.", minor);
  lines.emplace_back("gcc", or_unknown(gcc_span(t)));
  lines.emplace_back("clang", t.max_clang.empty() ? or_unknown("") : "up to " + t.max_clang);
  lines.emplace_back("confidence", t.confidence);
  lines.emplace_back("sources", joined(t.sources, "; "));
  if (!t.releases.empty()) {
    PageSection section;
    section.table = make_table({"release", "driver (Linux)", "driver (Windows)", "runfile has"});
    auto shown = [](const std::string& text) { return or_unknown(text); };
    for (const ToolkitRelease& r : t.releases)
      add_row(section.table,
              {r.version, shown(r.driver_linux), shown(r.driver_windows), shown(r.runfile)});
    page.sections.push_back(std::move(section));
  }
  if (!t.note.empty()) page.notes.push_back(t.note);
  page.data = {{"toolkits", json_array({toolkit_json(t)})}};
  return page;
}

FactsPage unknown_toolkit(const std::string& query, const std::vector<Toolkit>& toolkits) {
  FactsPage page;
  page.found = false;
  page.verdict = fmt::format("no CUDA toolkit is known as \"{}\".", query);
  std::vector<std::string> versions;
  for (const Toolkit& t : toolkits)
    versions.push_back(t.version);
  auto version = parse_version(query);
  if (version && version->major() == 12 && version->minor() == 7)
    page.notes.push_back(
        "CUDA 12.7 had no public toolkit; driver branch 565 reports that version.");
  page.notes.push_back("known: " + joined(versions, ", "));
  page.data = {{"known", json_texts(versions)}};
  return page;
}

} // namespace

Result<FactsPage> toolkits_page(const Facts& facts, const std::string& query) {
  auto toolkits = facts.toolkits();
  if (!toolkits) return tl::unexpected<Error>(toolkits.error());
  if (query.empty()) return overview(**toolkits);
  auto version = parse_version(query);
  const Toolkit* before = nullptr;
  for (const Toolkit& toolkit : **toolkits) {
    auto known = parse_version(toolkit.version);
    if (version && known && version->major() == known->major() &&
        version->minor() == known->minor() && version->parts.size() >= 2)
      return one_toolkit(toolkit, before);
    before = &toolkit;
  }
  return unknown_toolkit(query, **toolkits);
}

} // namespace gpuvet
