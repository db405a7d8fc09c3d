#include "render/setup_script.hpp"

#include "base/shell.hpp"
#include "render/terminal.hpp"

#include <fmt/core.h>

namespace gpuvet {
namespace {

constexpr int kWidth = 78; // columns of a comment's text

// A paragraph as comment lines. A line feed in a name must not end the comment: it is made visible.
std::string comment(const std::string& text, int indent = 0) {
  std::string result, line;
  for (char c : wrap(printable(text), kWidth, indent) + "\n") {
    if (c != '\n') {
      line += c;
      continue;
    }
    while (line.ends_with(' '))
      line.pop_back();
    result += line.empty() ? "" : "# " + line + "\n";
    line.clear();
  }
  return result;
}

bool has_dollars(const SetupPlan& plan) {
  for (const SetupAction& step : plan.steps)
    for (const std::string& item : step.items)
      if (item.find_first_of("$`") != std::string::npos) return true;
  return false;
}

std::string head(const SetupPlan& plan) {
  std::string text = "#!/usr/bin/env bash\n";
  text += comment(fmt::format("{}: for {}.", plan.what, plan.where));
  text +=
      comment("Printed by gpuvet setup, which ran nothing. Read it, then: bash FILE. It asks for "
              "root with sudo where it needs to, and can be run again: what is done already is "
              "passed over.");
  text += "#\n";
  text += comment("driver: " + plan.driver + ".", 2);
  for (const std::string& note : plan.notes)
    text += comment("note: " + note, 2);
  if (has_dollars(plan)) {
    text += "#\n" + comment("Names that hold $ or ` are quoted and meant as they are.");
    text += "# shellcheck disable=SC2016\n";
  }
  return text + "set -euo pipefail\nexport LC_ALL=C\n";
}

} // namespace

std::string render_setup_script(const SetupPlan& plan) {
  std::string text = head(plan) + "\n";
  for (const std::string& line : plan.helpers)
    text += line + "\n";
  size_t number = 0;
  for (const SetupAction& step : plan.steps) {
    std::string title = printable(step.title);
    text += fmt::format("\n# --- {}\n", ++number);
    if (!step.why.empty()) text += comment(step.why);
    text += fmt::format("say {}\n", shell_word(fmt::format("{}. {}", number, title)));
    for (const std::string& line : step.lines)
      text += line + "\n";
  }
  return text;
}

} // namespace gpuvet
