// gpuvet setup: a script that installs a CUDA toolkit and the driver that it needs. It is printed,
// never run.
#include "judge/setup/setup.hpp"

#include "cli/command.hpp"
#include "cli/machine_source.hpp"
#include "cli/setup/setup_json.hpp"
#include "render/setup_script.hpp"
#include "render/terminal.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <cstdio>
#include <memory>

namespace gpuvet {
namespace {

struct SetupOptions {
  MachineOptions machine;
  SetupWish wish;
  bool json = false;
};

constexpr int kWayWidth = 74; // of the text; lines after the first are set in by six

int complain(const Error& error) {
  fmt::print(stderr, "gpuvet: {}{}{}\n", error.where, error.where.empty() ? "" : ": ", error.what);
  return exit_code::usage;
}

// Standard output stays empty, so that nobody runs half an answer as a script.
int refuse(const SetupRefusal& refusal, bool json) {
  if (json) {
    fmt::print("{}", refusal_json(refusal));
    return exit_code::falls_short;
  }
  std::string text = wrap("Not printed: " + printable(refusal.why) + ".", 80, 0) + "\n";
  for (const std::string& way : refusal.ways)
    text += "  " + wrap("instead: " + printable(way), kWayWidth, 6) + "\n";
  fmt::print(stderr, "{}", text);
  return exit_code::falls_short;
}

int run_setup(const SetupOptions& options, Context& context) {
  const SetupWish& wish = options.wish;
  if (wish.toolkit.empty() && !wish.driver_only)
    return complain({"name the toolkit, as --toolkit 12.8, or ask for --driver-only", "setup"});
  bool recorded = !options.machine.image.empty() || !options.machine.root.empty();
  // A named distribution alone stands for another machine, of which nothing is known.
  std::optional<Machine> machine;
  if (wish.distribution.empty() || recorded) {
    auto source = machine_source(options.machine);
    if (!source) return complain(source.error());
    machine = see_machine(*source, options.machine);
  }
  auto answer = plan_setup(machine ? &*machine : nullptr, wish, context.facts);
  if (!answer) return complain(answer.error());
  int status = exit_code::ok;
  if (!answer->plan) {
    status = refuse(answer->refusal, options.json);
  } else {
    std::string script = render_setup_script(*answer->plan);
    fmt::print("{}", options.json ? setup_json(*answer->plan, script) : script);
  }
  if (machine && !machine->not_finished.empty()) leave(status);
  return status;
}

void add_wishes(CLI::App& app, SetupWish& wish) {
  app.add_option("--toolkit", wish.toolkit, "CUDA toolkit: 12.8, or a release of it: 12.8.1")
      ->type_name("VER");
  app.add_option("--distro", wish.distribution,
                 "for this release instead of this machine: ubuntu24.04, debian12, rocky9, ...")
      ->type_name("NAME");
  app.add_option("--arch", wish.arch, "processor: x86_64, aarch64")
      ->check(CLI::IsMember({"x86_64", "aarch64"}));
  app.add_option("--gpu", wish.gpu, "for this GPU: \"RTX 4090\", H100")->type_name("NAME");
  auto* wsl = app.add_flag("--wsl", wish.wsl, "for WSL 2: no Linux driver");
  app.add_flag("--container", wish.container, "for a container image: no driver")->excludes(wsl);
  app.add_flag("--runfile", wish.runfile, "the toolkit from NVIDIA's runfile, not from packages");
  app.add_flag("--offline", wish.offline, "the runfile, carried to a machine without a network");
  auto* only = app.add_flag("--driver-only", wish.driver_only, "the driver, no toolkit");
  app.add_flag("--no-driver", wish.no_driver, "the toolkit, no driver")->excludes(only);
  app.add_flag("--cudnn", wish.cudnn, "cuDNN too");
}

} // namespace

std::function<int(Context&)> define_setup(CLI::App& app) {
  auto options = std::make_shared<SetupOptions>();
  add_wishes(app, options->wish);
  app.add_option("--image", options->machine.image,
                 "for a recorded machine: file of gpuvet snapshot, or folder")
      ->type_name("FILE");
  app.add_option("--root", options->machine.root,
                 "for another system's files: unpacked image, mounted disk")
      ->type_name("DIR")
      ->excludes("--image");
  app.add_flag("--json", options->json, "print JSON (schema gpuvet-setup/1)");
  app.footer("Prints a bash script and runs nothing.\n"
             "Exit status: 0 printed, 1 there is no such installation (the way out is told), 2 bad "
             "usage or unreadable input.");
  return [options](Context& context) { return run_setup(*options, context); };
}

} // namespace gpuvet
