// gpuvet pick: which release of a framework runs on this GPU with this driver, and how to install
// it?
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/pick/pick_json.hpp"
#include "cli/pick/pick_text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <memory>

namespace gpuvet {
namespace {

constexpr int kNotKnown = 3;

int complain(const Error& error) {
  fmt::print(stderr, "gpuvet: {}{}{}\n", error.where, error.where.empty() ? "" : ": ", error.what);
  return exit_code::usage;
}

Result<std::vector<const FrameworkName*>> frameworks_of(const PickOptions& options,
                                                        const PickTables& tables) {
  std::vector<const FrameworkName*> names;
  for (const std::string& wanted : options.frameworks) {
    const FrameworkName* name = find_framework(tables, wanted);
    if (!name) {
      std::vector<std::string> all;
      for (const FrameworkName& row : tables.frameworks)
        all.push_back(row.framework);
      return fail(fmt::format("no framework is called \"{}\": there are {}", wanted, joined(all)),
                  "--framework");
    }
    names.push_back(name);
  }
  if (names.empty())
    for (const FrameworkName& row : tables.frameworks)
      names.push_back(&row);
  return names;
}

// Yes when something asked for can be installed; "not known" before "no", since no is certain.
int exit_status(const std::vector<Pick>& picks, bool named) {
  auto fits = [](const Pick& pick) { return pick.best >= 0; };
  auto open = [](const Pick& pick) {
    return pick.best < 0 && (pick.any_unknown || pick.builds.empty());
  };
  bool good = named ? std::all_of(picks.begin(), picks.end(), fits)
                    : std::any_of(picks.begin(), picks.end(), fits);
  if (good) return exit_code::ok;
  return std::any_of(picks.begin(), picks.end(), open) ? kNotKnown : exit_code::falls_short;
}

int run_pick(const PickOptions& options, Context& context) {
  auto tables = context.facts.pick();
  if (!tables) return complain(tables.error());
  auto names = frameworks_of(options, **tables);
  if (!names) return complain(names.error());
  auto asked = pick_context(options, context.facts);
  if (!asked) return complain(asked.error());
  std::vector<Pick> picks;
  for (const FrameworkName* name : *names) {
    auto pick = pick_framework(context.facts, *name, asked->query);
    if (!pick) return complain(pick.error());
    picks.push_back(std::move(*pick));
  }
  if (options.json)
    fmt::print("{}", pick_json(picks, *asked));
  else if (picks.size() > 1)
    fmt::print("{}", picks_text(picks, *asked, context.out));
  else
    fmt::print("{}", pick_text(picks[0], *asked, options.all, context.out));
  int status = exit_status(picks, !options.frameworks.empty());
  if (asked->cut_short) leave(status);
  return status;
}

} // namespace

std::function<int(Context&)> define_pick(CLI::App& app) {
  auto options = std::make_shared<PickOptions>();
  app.add_option("--gpu,-g", options->gpus,
                 "GPU by name, PCI id or compute capability; several: the build has to run on all "
                 "(default: this machine's)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("--driver", options->driver,
                 "driver that the GPU has or will have: 535 or 580.65.06 (default: this machine's "
                 "where no GPU is named)")
      ->type_name("VERSION");
  app.add_option("--framework,-f", options->frameworks,
                 "torch, tensorflow, jax, cupy, onnxruntime, paddle or mxnet; may be repeated "
                 "(default: all)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("--python", options->python, "only builds with a wheel for this Python: 3.12")
      ->type_name("VERSION");
  app.add_option("--cuda", options->cuda, "only builds for this CUDA: 12 or 12.8")
      ->type_name("VERSION");
  app.add_option(
         "--platform", options->platform,
         "linux-x86_64, linux-aarch64, windows, conda-pytorch or conda-forge (default: this "
         "machine's where no GPU is named, else linux-x86_64)")
      ->type_name("NAME");
  auto* image = app.add_option("--image", options->machine.image,
                               "for a recorded machine: file of gpuvet snapshot, or folder")
                    ->type_name("FILE");
  app.add_option("--root", options->machine.root,
                 "for another system's files: unpacked image, mounted disk")
      ->type_name("DIR")
      ->excludes(image);
  app.add_flag("--all", options->all, "list every known build, also those that do not fit");
  app.add_flag("--json", options->json, "print JSON (schema gpuvet-pick/1)");
  app.footer("Exit status: 0 a release fits, 1 none does, 2 bad usage, 3 not known.");
  return [options](Context& context) { return run_pick(*options, context); };
}

} // namespace gpuvet
