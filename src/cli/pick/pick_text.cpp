#include "cli/pick/pick_text.hpp"

#include "base/text.hpp"
#include "judge/load/outcome_word.hpp"
#include "render/terminal.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

constexpr size_t kShown = 6;   // builds that fit, without --all
constexpr size_t kReasons = 6; // why others do not, without --all

std::string flavour(const FrameworkBuild& build) {
  if (!build.variant.empty()) return build.variant;
  return build.cuda.empty() ? "?" : "CUDA " + build.cuda;
}

std::string name_of(const Pick& pick, const BuildFit& fit) {
  return fmt::format("{} {} ({})", pick.title, fit.release, flavour(*fit.build));
}

std::string label(const LoadDevice& device) {
  std::string cc = cc_name(device.sm);
  return device.name == cc ? cc : fmt::format("{} ({})", device.name, cc);
}

std::string gpus_text(const PickQuery& query) {
  std::vector<std::string> names;
  for (const LoadDevice& device : query.devices)
    names.push_back(label(device));
  return joined(names, " and ");
}

std::string for_whom(const PickContext& context) {
  std::string text = gpus_text(context.query);
  if (context.query.driver) text += " with driver " + context.query.driver->driver.text;
  return text;
}

constexpr std::string_view kByPtx = "by its PTX, which the driver compiles at first use";

State cell_state(Fit fit) {
  return fit == Fit::fits ? State::ok : fit == Fit::no ? State::fault : State::unknown;
}

Cell verdict_cell(const BuildFit& fit, size_t device) {
  const LoadVerdict& load = fit.loads[device];
  bool code_open = fit.obstacle == Obstacle::code_unknown || fit.obstacle == Obstacle::ptx_unknown;
  std::string text = !loads(load) && code_open ? "?" : outcome_word(load.outcome);
  if (!loads(load)) return {text, code_open ? State::unknown : State::fault};
  return {text, State::ok};
}

Table builds_table(const Pick& pick, const PickContext& context, bool all) {
  Table table{{{"RELEASE"}, {"BUILD"}, {"PYTHON"}}, {}};
  for (const LoadDevice& device : context.query.devices)
    table.columns.push_back({device.name});
  table.columns.push_back({"DRIVER FROM"});
  if (all) table.columns.push_back({"FITS"});
  size_t shown = 0;
  for (const BuildFit& fit : pick.builds) {
    if (!all && (fit.fit != Fit::fits || shown == kShown)) continue;
    ++shown;
    std::vector<Cell> row = {{fit.release},
                             {flavour(*fit.build)},
                             {fit.build->python.empty() ? "?" : fit.build->python}};
    for (size_t i = 0; i < context.query.devices.size(); ++i)
      row.push_back(verdict_cell(fit, i));
    row.push_back({fit.needs_driver.empty() ? (fit.fit == Fit::no ? "-" : "?") : fit.needs_driver});
    if (all)
      row.push_back({fit.fit == Fit::fits ? "yes"
                     : fit.fit == Fit::no ? "no"
                                          : "not known",
                     cell_state(fit.fit)});
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string bullet(std::string_view text, int width) {
  return "- " + wrap(text, width - 2, 2) + "\n";
}

// Why builds were not taken, newest first; the last lines are about the GPU and the driver.
std::string reasons_text(const Pick& pick, bool all, int width) {
  std::string text;
  size_t told = 0, left = 0;
  for (const NewerBuilds& newer : pick.newer) {
    if (!all && newer.obstacle != Obstacle::none && told++ >= kReasons)
      ++left;
    else
      text += bullet(newer.text, width);
  }
  if (left) text += fmt::format("- {} more reason{}: --all\n", left, left == 1 ? "" : "s");
  return text;
}

std::string command_lines(const Pick& pick, const BuildFit& best) {
  if (!pick.install.command.empty()) return "  " + pick.install.command + "\n";
  return fmt::format("  the command for {} is not established\n", name_of(pick, best));
}

std::vector<std::string> notes_of(const Pick& pick, const PickContext& context) {
  std::vector<std::string> notes;
  if (pick.best < 0) return notes;
  const BuildFit& best = pick.builds[static_cast<size_t>(pick.best)];
  if (!pick.install.note.empty()) notes.push_back(pick.install.note);
  if (!best.build->note.empty()) notes.push_back("of this build: " + best.build->note);
  if (best.minor_compatibility && context.query.driver->driver.cuda)
    notes.push_back(fmt::format(
        "driver {} serves CUDA {}: a build for {} runs by minor-version compatibility, without "
        "what needs the newer driver (PTX of that version, newer calls)",
        context.query.driver->driver.text, to_string(*context.query.driver->driver.cuda),
        best.build->cuda));
  if (best.build->confidence == "medium")
    notes.push_back("what this build contains is known with medium confidence: gpuvet scan on the "
                    "installed package tells for certain");
  return notes;
}

std::string common_notes(const PickContext& context, const TextStyle& style) {
  std::vector<std::string> notes = context.notes;
  std::string judged = fmt::format("judged for {}", context.platform);
  if (context.query.driver)
    judged += fmt::format(", driver {} ({})", context.query.driver->driver.text,
                          context.query.driver->from);
  if (context.query.python)
    judged +=
        fmt::format(", Python {} ({})", to_string(*context.query.python), context.python_from);
  if (!context.query.driver) judged += "; any driver that the build needs (--driver names yours)";
  notes.push_back(judged);
  std::string text;
  for (const std::string& note : notes)
    text += "note: " + wrap(note, style.width - 6, 6) + "\n";
  return text;
}

std::string nothing_text(const Pick& pick, const PickContext& context) {
  if (pick.builds.empty())
    return fmt::format("No builds of {} for {}{} are in the table.", pick.title, context.platform,
                       context.query.cuda ? " and CUDA " + to_string(*context.query.cuda) : "");
  if (pick.any_unknown)
    return fmt::format("Not known whether any release of {} runs on {}.", pick.title,
                       for_whom(context));
  return fmt::format("No known release of {} runs on {}.", pick.title, for_whom(context));
}

} // namespace

std::string pick_text(const Pick& pick, const PickContext& context, bool all, const Terminal& out) {
  TextStyle style{out.colour, out.width};
  std::string text;
  Report head;
  head.state = pick.best >= 0 ? State::ok : pick.any_unknown ? State::unknown : State::fault;
  head.verdict = nothing_text(pick, context);
  if (pick.best >= 0) {
    const BuildFit& best = pick.builds[static_cast<size_t>(pick.best)];
    head.verdict =
        best.jit ? fmt::format("{} runs on {}, {}.", name_of(pick, best), for_whom(context), kByPtx)
                 : fmt::format("{} runs natively on {}.", name_of(pick, best), for_whom(context));
    text = render_terminal(head, style) + "\n" + command_lines(pick, best);
  } else {
    text = render_terminal(head, style);
  }
  if (!pick.newer.empty()) {
    text += pick.best >= 0 ? "\nWhy nothing newer:\n" : "\nWhy:\n";
    text += reasons_text(pick, all, style.width);
  }
  Table table = builds_table(pick, context, all);
  if (!table.rows.empty()) text += "\n" + render_table(table, style);
  size_t fitting =
      static_cast<size_t>(std::count_if(pick.builds.begin(), pick.builds.end(),
                                        [](const BuildFit& fit) { return fit.fit == Fit::fits; }));
  text += "\n";
  if (!all && fitting > kShown)
    text += fmt::format("note: {} older build{} too (--all)\n", fitting - kShown,
                        fitting - kShown == 1 ? " fits" : "s fit");
  if (!pick.alone.empty())
    text += "note: " +
            wrap(fmt::format("{}: an environment for each", joined(pick.alone, ", ")),
                 style.width - 6, 6) +
            "\n";
  for (const std::string& note : notes_of(pick, context))
    text += "note: " + wrap(note, style.width - 6, 6) + "\n";
  return text + common_notes(context, style);
}

std::string picks_text(const std::vector<Pick>& picks, const PickContext& context,
                       const Terminal& out) {
  TextStyle style{out.colour, out.width};
  size_t found = static_cast<size_t>(
      std::count_if(picks.begin(), picks.end(), [](const Pick& pick) { return pick.best >= 0; }));
  Report head;
  head.state = found ? State::ok : State::unknown;
  head.verdict = fmt::format("For {}: {} of {} frameworks have a release that fits.",
                             for_whom(context), found, picks.size());
  std::string text = render_terminal(head, style);
  for (const Pick& pick : picks) {
    text += "\n";
    if (pick.best < 0) {
      text += wrap(nothing_text(pick, context), style.width, 2) + "\n";
      if (!pick.newer.empty()) text += bullet(pick.newer.front().text, style.width);
      continue;
    }
    const BuildFit& best = pick.builds[static_cast<size_t>(pick.best)];
    text += wrap(name_of(pick, best) + (best.jit ? fmt::format(", {}", kByPtx) : ", natively"),
                 style.width, 2) +
            "\n";
    text += command_lines(pick, best);
    if (!pick.install.note.empty()) text += bullet(pick.install.note, style.width);
  }
  text += "\nnote: why nothing newer, and what else fits: --framework NAME";
  return text + "\n" + common_notes(context, style);
}

} // namespace gpuvet
