// gpuvet check: do the artefacts of a repository run on everything that its policy names?
#include "cli/check/artefacts.hpp"
#include "cli/check/outputs.hpp"
#include "cli/command.hpp"
#include "cli/machine_source.hpp"
#include "judge/policy/check_report.hpp"
#include "judge/policy/propose.hpp"
#include "os/file_entry.hpp"
#include "os/written/new_file.hpp"
#include "render/terminal.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <memory>

namespace gpuvet {
namespace {

constexpr size_t kMostPolicy = 1 << 20; // bytes

struct CheckOptions {
  std::vector<std::string> paths, fleet;
  std::string policy = "gpuvet.toml", junit, sarif, output;
  bool json = false, init = false;
};

int complain(const Error& error) {
  fmt::print(stderr, "gpuvet: {}{}{}\n", error.where, error.where.empty() ? "" : ": ", error.what);
  return exit_code::usage;
}

int run_init(const CheckOptions& options, const Facts& facts) {
  std::vector<FleetMachine> fleet;
  bool cut_short = false;
  auto look = [&](MachineOptions machine, const std::string& name) -> Result<void> {
    auto source = machine_source(machine);
    if (!source) return tl::unexpected<Error>(source.error());
    fleet.push_back({name, see_machine(*source, machine)});
    cut_short = cut_short || !fleet.back().machine.not_finished.empty();
    return {};
  };
  for (const std::string& snapshot : options.fleet) {
    MachineOptions machine;
    machine.image = snapshot;
    if (auto seen = look(machine, snapshot.substr(snapshot.find_last_of('/') + 1)); !seen)
      return complain(seen.error());
  }
  if (options.fleet.empty())
    if (auto seen = look({}, "this machine"); !seen) return complain(seen.error());
  auto text = propose_policy(fleet, facts);
  int status = exit_code::ok;
  if (!text) {
    status = complain(text.error());
  } else if (options.output.empty() || options.output == "-") {
    fmt::print("{}", *text);
  } else if (auto written = write_new_file(options.output, *text); !written) {
    status = complain(written.error());
  } else {
    fmt::print("Wrote {}. Look at it, then: gpuvet check --policy {} ARTEFACT...\n", options.output,
               options.output);
  }
  if (cut_short) leave(status);
  return status;
}

Result<Policy> policy_of(const CheckOptions& options, const Facts& facts) {
  auto text = read_whole_file(options.policy, kMostPolicy);
  if (!text)
    return fail(text.error().what +
                    (options.policy == "gpuvet.toml"
                         ? "; gpuvet check --init proposes a policy, --policy names "
                           "another file"
                         : ""),
                options.policy);
  return read_policy(*text, options.policy, facts);
}

int run_check(const CheckOptions& options, Context& context) {
  if (options.init) {
    if (!options.paths.empty())
      return complain({"--init proposes a policy and checks nothing: name no artefacts", "--init"});
    return run_init(options, context.facts);
  }
  if (!options.fleet.empty() || !options.output.empty())
    return complain({"--fleet and -o go with --init", ""});
  if (options.paths.empty())
    return complain({"name the artefacts to check: gpuvet check dist/*.whl", ""});
  auto policy = policy_of(options, context.facts);
  if (!policy) return complain(policy.error());
  auto rules = context.facts.load_rules();
  if (!rules) return complain(rules.error());
  auto errors = context.facts.errors();
  if (!errors) return complain(errors.error());

  std::vector<Artefact> artefacts = read_artefacts(options.paths, *policy, **rules, context.err);
  const PolicyCheck result = check_artefacts(*policy, artefacts, **rules);
  if (options.json)
    fmt::print("{}", check_json(result));
  else
    fmt::print("{}", render_terminal(check_report(result, **errors),
                                     {context.out.colour, context.out.width}));
  int status = result.met() ? exit_code::ok : exit_code::falls_short;
  if (result.met() && !result.readable) status = exit_code::usage;
  for (const CheckedArtefact& artefact : result.artefacts)
    for (const Error& error : artefact.errors)
      complain(error);
  if (!options.junit.empty())
    if (auto written = write_report(options.junit, check_junit(result, **errors), kJunitMark);
        !written)
      status = complain(written.error());
  if (!options.sarif.empty())
    if (auto written = write_report(options.sarif, check_sarif(result, **errors), kSarifMark);
        !written)
      status = complain(written.error());
  return status;
}

} // namespace

std::function<int(Context&)> define_check(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  app.add_option("ARTEFACT", options->paths,
                 "what is shipped: wheel, library, archive, package, image or folder")
      ->type_name("");
  app.add_option("--policy", options->policy, "what it has to run on")
      ->type_name("FILE")
      ->capture_default_str();
  app.add_flag("--json", options->json, "print JSON (schema gpuvet-check/1)");
  app.add_option("--junit", options->junit, "write JUnit XML too")->type_name("FILE");
  app.add_option("--sarif", options->sarif, "write SARIF 2.1.0 too")->type_name("FILE");
  auto* init =
      app.add_flag("--init", options->init,
                   "propose a policy for this machine's GPUs and driver, or for a fleet's");
  app.add_option("--fleet", options->fleet,
                 "with --init: snapshots of the machines (gpuvet snapshot)")
      ->type_name("SNAPSHOT")
      ->needs(init);
  app.add_option("-o,--output", options->output,
                 "with --init: write the policy here, which is not there yet (default: print it)")
      ->type_name("FILE")
      ->needs(init);
  app.footer(
      "Exit status: 0 every requirement is met, 1 some is not, 2 bad usage, a wrong policy or "
      "unreadable input.");
  return [options](Context& context) { return run_check(*options, context); };
}

} // namespace gpuvet
