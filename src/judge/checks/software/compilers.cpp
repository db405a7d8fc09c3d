// Checks of the toolkit that a build takes: against the host compiler, the C library, the GPU and
// the driver.
#include "judge/checks/common.hpp"
#include "judge/checks/subjects.hpp"
#include "judge/here/python.hpp"
#include "judge/here/toolkit.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

std::optional<uint32_t> major_of(std::string_view text) {
  size_t at = text.find_first_of("0123456789");
  if (at == std::string_view::npos) return std::nullopt;
  auto version = parse_version(text.substr(at));
  return version ? std::optional(version->major()) : std::nullopt;
}

// --- host compiler and C library ----------------------------------------------------------------

struct HostCompiler {
  std::string name; // "gcc", "clang"
  uint32_t major = 0;
  std::string evidence;
};

std::optional<HostCompiler> host_compiler(const Machine& machine) {
  const Toolkits& toolkits = machine.toolkits;
  if (toolkits.host_compiler) {
    auto major = major_of(*toolkits.host_compiler);
    if (!major) return std::nullopt;
    bool clang = toolkits.host_compiler->starts_with("clang");
    return HostCompiler{
        clang ? "clang" : "gcc", *major,
        fmt::format("{}: {}", toolkits.host_compiler.source, *toolkits.host_compiler)};
  }
  if (!toolkits.gcc) return std::nullopt;
  auto major = major_of(*toolkits.gcc);
  if (!major) return std::nullopt;
  return HostCompiler{"gcc", *major, fmt::format("{}: gcc {}", toolkits.gcc.source, *toolkits.gcc)};
}

// A g++ that is installed and that the toolkit takes; empty: none.
std::string fitting_gcc(const Machine& machine, uint32_t limit) {
  uint32_t best = 0;
  for (const std::string& version : machine.toolkits.other_gcc)
    if (auto major = major_of(version); major && *major <= limit && *major > best) best = *major;
  return best == 0 ? std::string() : fmt::format("{}", best);
}

Outcome compiler_too_new(const Machine& machine, const Facts& facts) {
  auto used = build_toolkit(machine);
  if (!used) return no_build_toolkit(machine);
  auto compiler = host_compiler(machine);
  if (!compiler)
    return not_known("the host compiler is not known: " + machine.toolkits.gcc.why_unknown);
  const Toolkit* row = find_toolkit_facts(facts, used->version);
  bool clang = compiler->name == "clang";
  std::string limit, from;
  if (used->installed) {
    limit = clang ? used->installed->host_config_clang : used->installed->host_config_gcc;
    from = used->installed->folder + "/include/crt/host_config.h";
  }
  if (limit.empty() && row) {
    limit = clang ? row->max_clang : row->max_gcc;
    from = "table of toolkits";
  }
  auto most = major_of(limit);
  if (!most)
    return not_known(fmt::format("the newest {} that CUDA {} takes is not known; {}/include/crt/"
                                 "host_config.h has it",
                                 compiler->name, used->version,
                                 used->installed ? used->installed->folder : "TOOLKIT"));
  if (compiler->major <= *most)
    return ok(fmt::format("{} {}, and CUDA {} takes up to {}", compiler->name, compiler->major,
                          minor_release(used->version), *most));
  std::string installed = fitting_gcc(machine, *most);
  std::string version = installed.empty() ? fmt::format("{}", *most) : installed;
  std::string command = fmt::format("export NVCC_CCBIN=/usr/bin/g++-{}", version);
  if (installed.empty()) command = fmt::format("sudo apt install g++-{} && {}", version, command);
  return fires({compiler->evidence, used->evidence,
                fmt::format("{}: up to {} {}", from, compiler->name, *most)},
               {{"compiler", fmt::format("{} {}", compiler->name, compiler->major)},
                {"toolkit", minor_release(used->version)},
                {"limit", fmt::format("{}", *most)},
                {"ccbin", fmt::format("/usr/bin/g++-{}", version)},
                {"gcc", version},
                {"command", command}});
}

Outcome glibc_too_new(const Machine& machine, const Facts& facts) {
  auto used = build_toolkit(machine);
  if (!used) return no_build_toolkit(machine);
  if (!machine.system.glibc) return not_known(machine.system.glibc.why_unknown);
  auto expected = facts.expected();
  auto glibc = parse_version(*machine.system.glibc), cuda = parse_version(used->version);
  if (!expected || !glibc || !cuda) return not_known("a version cannot be read");
  Version release{{cuda->major(), cuda->minor()}};
  const GlibcClash* clash = nullptr;
  for (const GlibcClash& row : (*expected)->glibc_clashes)
    if (release <= row.last_cuda && *glibc >= row.first_glibc) clash = &row;
  if (!clash) return ok(fmt::format("glibc {} and CUDA {}", *machine.system.glibc, used->version));
  return fires({fmt::format("{}: glibc {}", machine.system.glibc.source, *machine.system.glibc),
                used->evidence},
               {{"glibc", *machine.system.glibc},
                {"toolkit", minor_release(used->version)},
                {"functions", clash->functions}});
}

// --- toolkit against GPU and driver -------------------------------------------------------------

Outcome toolkit_and_gpu(const Machine& machine, const Facts& facts, bool dropped) {
  auto used = build_toolkit(machine);
  if (!used) return no_build_toolkit(machine);
  auto gpus = gpus_here(machine, facts);
  if (!gpus) return not_known(gpus.why_unknown);
  if (gpus->empty()) return not_applicable("there is no GPU");
  const Toolkit* row = find_toolkit_facts(facts, used->version);
  auto rules = facts.load_rules();
  if (!row || !rules)
    return not_known(fmt::format("which GPUs CUDA {} compiles for is not in the table; nvcc "
                                 "--list-gpu-code tells",
                                 used->version));
  for (const GpuHere& gpu : *gpus) {
    Target own{gpu.sm, 0};
    const std::vector<Target>& known_targets = row->sass_targets;
    if (std::find(known_targets.begin(), known_targets.end(), own) != known_targets.end()) continue;
    const SassRange* range = nullptr;
    for (const SassRange& each : (*rules)->sass_ranges)
      if (each.target == own) range = &each;
    auto last = range ? parse_version(range->last_cuda) : std::nullopt;
    bool is_dropped = last && *last < parse_version(used->version).value_or(Version{});
    if (is_dropped != dropped) continue;
    bool runs = std::any_of(known_targets.begin(), known_targets.end(), [&](Target target) {
      return sass_fits(**rules, target, device_of(gpu, **rules));
    });
    Outcome outcome =
        fires({gpu.evidence, used->evidence,
               fmt::format("CUDA {} compiles for {} to {}", row->version,
                           sm_name(known_targets.front()), sm_name(known_targets.back()))},
              {{"gpu", gpu.name.empty() ? "the GPU" : gpu.name},
               {"target", sm_name(own)},
               {"arch", cc_name(gpu.sm)},
               {"toolkit", row->version},
               {"first", range ? range->first_cuda : "a newer release"},
               {"last", range ? range->last_cuda : ""}});
    if (runs && !dropped) outcome.severity = Severity::info; // code for an older minor runs too
    return outcome;
  }
  return ok(fmt::format("CUDA {} compiles for {}", row->version, gpus_text(*gpus)));
}

Outcome toolkit_older_than_gpu(const Machine& machine, const Facts& facts) {
  return toolkit_and_gpu(machine, facts, false);
}

Outcome toolkit_dropped_gpu(const Machine& machine, const Facts& facts) {
  return toolkit_and_gpu(machine, facts, true);
}

Outcome toolkit_newer_than_driver(const Machine& machine, const Facts& facts) {
  auto used = build_toolkit(machine);
  if (!used) return no_build_toolkit(machine);
  auto rules = facts.load_rules();
  if (!rules) return not_known("the table of drivers cannot be read");
  auto expected = expects_gpu(machine);
  if (expected && !*expected) return not_applicable("there is no GPU");
  auto driver = driver_here(machine, **rules);
  if (!driver) return not_known(driver.why_unknown);
  if (!driver->driver.cuda) return not_known("the driver's CUDA version is not known");
  auto cuda = parse_version(used->version);
  if (!cuda) return not_known("the toolkit's version cannot be read");
  Version release{{cuda->major(), cuda->minor()}};
  if (release <= *driver->driver.cuda)
    return ok(fmt::format("driver {} serves CUDA {}", driver->driver.text,
                          to_string(*driver->driver.cuda)));
  Refusal refused = cuda_refuses(**rules, driver->driver, release);
  const Toolkit* row = find_toolkit_facts(facts, used->version);
  return fires(
      {driver->evidence, used->evidence},
      {{"toolkit", to_string(release)},
       {"driver", driver->driver.text},
       {"cuda", to_string(*driver->driver.cuda)},
       {"least", row && !row->min_driver_linux.empty() ? row->min_driver_linux : "of that toolkit"},
       {"effect", refused.reason.empty()
                      ? "programs start, but PTX and newer functions fail (errors 222, 36)"
                      : "programs do not start (error 35)"}});
}

} // namespace

CheckList compiler_checks() {
  return {{"host-compiler-too-new", compiler_too_new},
          {"glibc-too-new", glibc_too_new},
          {"toolkit-older-than-gpu", toolkit_older_than_gpu},
          {"toolkit-dropped-gpu", toolkit_dropped_gpu},
          {"toolkit-newer-than-driver", toolkit_newer_than_driver}};
}

} // namespace gpuvet
