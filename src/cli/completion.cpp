#include "cli/command.hpp"
#include "cli/completion_shells.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <string>

namespace gpuvet {
namespace {

// "TEXT:{bash,zsh,fish}", "FILE", "DIR ...": the type name is what the help shows, so an option
// that is well described there completes well.
ValueHint hint_of(const std::string& type) {
  size_t open = type.find('{');
  size_t close = type.find('}', open == std::string::npos ? 0 : open);
  if (open != std::string::npos && close != std::string::npos) {
    ValueHint hint{ValueHint::Kind::choices, {}};
    std::string list = type.substr(open + 1, close - open - 1);
    for (const std::string& choice : CLI::detail::split(list, ','))
      hint.choices.push_back(CLI::detail::trim_copy(choice));
    return hint;
  }
  for (const char* word : {"FILE", "PATH", "EXE"})
    if (type.find(word) != std::string::npos) return {ValueHint::Kind::files, {}};
  if (type.find("DIR") != std::string::npos) return {ValueHint::Kind::directories, {}};
  return {ValueHint::Kind::text, {}};
}

void add_options(const CLI::App& app, Level& level) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue; // hidden from the help too
    if (option->get_positional()) {
      if (level.positional.kind == ValueHint::Kind::none)
        level.positional = hint_of(option->get_name(true) + " " + option->get_type_name());
      continue;
    }
    OptionHint hint{{}, option->get_description(), {}};
    for (const std::string& name : option->get_lnames())
      hint.names.push_back("--" + name);
    for (const std::string& name : option->get_snames())
      hint.names.push_back("-" + name);
    if (option->get_items_expected_max() > 0) hint.value = hint_of(option->get_type_name());
    level.options.push_back(std::move(hint));
  }
}

// Levels in the order of the help. Options of the levels above stay valid below (fallthrough), but
// each level has its own --help.
std::vector<Level> levels_of(const CLI::App& root) {
  struct Pending {
    const CLI::App* app;
    std::string path;
    std::vector<const CLI::App*> above;
  };
  std::vector<Level> levels;
  std::vector<Pending> stack{{&root, root.get_name(), {}}};
  while (!stack.empty()) {
    Pending here = std::move(stack.back());
    stack.pop_back();
    Level level{here.path, here.app->get_description(), {}, {}};
    add_options(*here.app, level);
    for (const CLI::App* above : here.above) {
      Level inherited;
      add_options(*above, inherited);
      for (OptionHint& option : inherited.options)
        if (above->get_fallthrough() && option.names.front() != "--help" &&
            option.names.front() != "--version")
          level.options.push_back(std::move(option));
    }
    levels.push_back(std::move(level));

    here.above.push_back(here.app);
    std::vector<const CLI::App*> below = here.app->get_subcommands(
        [](const CLI::App* app) { return !app->get_name().empty() && !app->get_group().empty(); });
    for (auto sub = below.rbegin(); sub != below.rend(); ++sub)
      stack.push_back({*sub, here.path + " " + (*sub)->get_name(), here.above});
  }
  return levels;
}

} // namespace

std::function<int(Context&)> define_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  app.add_option("shell", *shell, "the shell that will read the script")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->required();
  app.footer("Load it in the running shell:\n"
             "  bash  source <(gpuvet completion bash)\n"
             "  zsh   source <(gpuvet completion zsh)\n"
             "  fish  gpuvet completion fish | source");
  const CLI::App* here = &app;
  return [shell, here](Context&) {
    const CLI::App* root = here;
    while (root->get_parent())
      root = root->get_parent();
    std::vector<Level> levels = levels_of(*root);
    std::string script = *shell == "bash"  ? bash_completion(levels)
                         : *shell == "zsh" ? zsh_completion(levels)
                                           : fish_completion(levels);
    fmt::print("{}", script);
    return exit_code::ok;
  };
}

} // namespace gpuvet
