// gpuvet doctor: what is wrong with this machine's GPU stack, and what mends it?
#include "cli/command.hpp"
#include "cli/doctor_json.hpp"
#include "cli/machine_source.hpp"
#include "judge/doctor/doctor_report.hpp"
#include "render/terminal.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <future>
#include <map>
#include <memory>
#include <optional>

namespace gpuvet {
namespace {

struct DoctorOptions {
  MachineOptions machine;
  std::vector<std::string> only;
  std::string profile = "default";
  bool verbose = false, json = false, list = false, one_line = false;
};

const std::map<std::string, ExitProfile>& profiles() {
  static const std::map<std::string, ExitProfile> all = {{"default", ExitProfile::standard},
                                                         {"nagios", ExitProfile::nagios},
                                                         {"npd", ExitProfile::npd},
                                                         {"slurm", ExitProfile::slurm}};
  return all;
}

int complain(const Error& error) {
  fmt::print(stderr, "gpuvet: {}{}{}\n", error.where, error.where.empty() ? "" : ": ", error.what);
  return exit_code::usage;
}

void print_list(const CheckTables& tables, const std::set<std::string>& only, const Terminal& out) {
  Report report;
  for (const CheckArea& area : tables.areas) {
    if (!only.empty() && !only.count(area.id)) continue;
    Table table;
    table.columns = {{area.id}, {"severity"}, {"asks", Align::left, true}};
    for (const CheckRow& row : tables.checks)
      if (row.area == area.id)
        table.rows.push_back({{row.id}, {severity_name(row.severity)}, {row.asks}});
    if (!table.rows.empty()) report.tables.push_back(std::move(table));
  }
  fmt::print("{}", render_terminal(report, {out.colour, out.width}));
}

Result<std::set<std::string>> chosen_areas(const std::vector<std::string>& only,
                                           const CheckTables& tables) {
  std::set<std::string> areas(only.begin(), only.end());
  for (const std::string& name : areas) {
    auto is = [&](const CheckArea& area) { return area.id == name; };
    if (std::any_of(tables.areas.begin(), tables.areas.end(), is)) continue;
    std::string known;
    for (const CheckArea& area : tables.areas)
      known += (known.empty() ? "" : ", ") + area.id;
    return fail("no such area; there are " + known, "--only " + name);
  }
  return areas;
}

int judge_and_show(const DoctorOptions& options, const Machine& machine, const CheckTables& tables,
                   const std::set<std::string>& areas, Context& context) {
  auto diagnosis = diagnose(machine, context.facts, areas);
  if (!diagnosis) return complain(diagnosis.error());
  DoctorVerdict verdict = doctor_verdict(*diagnosis, machine, context.facts);
  if (options.one_line)
    fmt::print("{}\n", one_line(verdict));
  else if (options.json)
    fmt::print("{}\n", doctor_json(*diagnosis, verdict, machine, tables));
  else
    fmt::print("{}",
               render_terminal(doctor_report(*diagnosis, machine, context.facts, options.verbose),
                               {context.out.colour, context.out.width}));
  int status = exit_status(*diagnosis, verdict, profiles().at(options.profile));
  if (!machine.not_finished.empty()) leave(status);
  return status;
}

// What a diagnosis asks for. An error is told by whoever needs the table.
void read_ahead(const Facts& facts) {
  static_cast<void>(facts.checks());
  static_cast<void>(facts.gpus());
  static_cast<void>(facts.toolkits());
  static_cast<void>(facts.load_rules());
  static_cast<void>(facts.expected());
  static_cast<void>(facts.frameworks());
  static_cast<void>(facts.wrong_variables());
}

// Before the machine is looked at, since a mistake is told first.
Result<std::set<std::string>> read_areas(const DoctorOptions& options, const Facts& facts) {
  if (options.only.empty()) return std::set<std::string>();
  auto tables = facts.checks();
  if (!tables) return tl::unexpected(tables.error());
  return chosen_areas(options.only, **tables);
}

int run_doctor(const DoctorOptions& options, Context& context) {
  // The children are started first: everything else happens beside them.
  MachineOptions machine_options = options.machine;
  machine_options.read_roms = options.verbose;
  auto source = options.list ? Result<Source>(Source{}) : machine_source(machine_options);
  if (!source) return complain(source.error());
  auto areas = read_areas(options, context.facts);
  if (!areas) return complain(areas.error());
  std::optional<Machine> machine;
  if (!options.list) {
    auto ahead = std::async(std::launch::async, [&] { read_ahead(context.facts); });
    machine = see_machine(*source, machine_options);
  }
  auto tables = context.facts.checks();
  if (!tables) return complain(tables.error());
  if (machine) return judge_and_show(options, *machine, **tables, *areas, context);
  print_list(**tables, *areas, context.out);
  return exit_code::ok;
}

} // namespace

std::function<int(Context&)> define_doctor(CLI::App& app) {
  auto options = std::make_shared<DoctorOptions>();
  add_machine_options(app, options->machine);
  app.add_option("--only", options->only, "only this area (see --list); may be repeated")
      ->type_name("AREA")
      ->allow_extra_args(false);
  app.add_flag("--list", options->list, "list all checks");
  app.add_flag("-v,--verbose", options->verbose, "every check with its answer, consequences too");
  app.add_flag("--json", options->json, "print JSON (schema gpuvet-doctor/1)");
  app.add_flag("--one-line", options->one_line, "one stable line of at most 80 bytes");
  app.add_option("--exit-profile", options->profile, "exit status for: default, nagios, npd, slurm")
      ->type_name("NAME")
      ->check(CLI::IsMember({"default", "nagios", "npd", "slurm"}));
  app.footer("Exit status: 0 no fault, 1 fault, 2 bad usage or unreadable input, 3 not known.");
  return [options](Context& context) { return run_doctor(*options, context); };
}

std::function<int(Context&)> define_default() {
  auto options = std::make_shared<DoctorOptions>();
  return [options](Context& context) { return run_doctor(*options, context); };
}

} // namespace gpuvet
