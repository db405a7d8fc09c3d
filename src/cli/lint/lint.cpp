// gpuvet arch lint: what is wrong with the architectures that build files ask for?
#include "cli/lint/lint.hpp"

#include "base/text.hpp"
#include "cli/devices.hpp"
#include "cli/lint/lint_inputs.hpp"
#include "cli/lint/lint_output.hpp"
#include "os/written/replace_file.hpp"
#include "render/lint/lint_text.hpp"
#include "render/unified_diff.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <unistd.h>

namespace gpuvet {
namespace {

struct LintCliOptions {
  std::vector<std::string> names, gpus;
  std::string toolkit;
  bool json = false, sarif = false, fix = false, diff = false, yes = false, rules = false;
};

int complain(const Error& error) {
  fmt::print(stderr, "gpuvet: {}{}{}\n", printable(error.where), error.where.empty() ? "" : ": ",
             error.what);
  return exit_code::usage;
}

// The tables that the rules need.
Result<LintFacts> lint_facts(const Facts& facts) {
  auto tables = facts.lint();
  if (!tables) return tl::unexpected(tables.error());
  auto wrong = facts.wrong_variables();
  if (!wrong) return tl::unexpected(wrong.error());
  auto cmake = facts.cmake_features();
  if (!cmake) return tl::unexpected(cmake.error());
  auto toolkits = facts.toolkits();
  if (!toolkits) return tl::unexpected(toolkits.error());
  auto rules = facts.load_rules();
  if (!rules) return tl::unexpected(rules.error());
  return LintFacts{**tables, **wrong, **cmake, **toolkits, **rules};
}

Result<LintAsked> asked_from(const LintCliOptions& options, const LintFacts& tables,
                             const Facts& facts) {
  LintAsked asked;
  for (const std::string& gpu : options.gpus) {
    auto device = device_from(gpu, facts);
    if (!device) return tl::unexpected(device.error());
    asked.gpus.push_back(*device);
  }
  if (options.toolkit.empty()) return asked;
  auto version = parse_version(options.toolkit);
  for (const Toolkit& toolkit : tables.toolkits) {
    auto own = parse_version(toolkit.version);
    if (version && own && own->major() == version->major() && own->minor() == version->minor())
      asked.toolkit = toolkit.version;
  }
  if (asked.toolkit.empty())
    return fail("not a CUDA toolkit that gpuvet knows; 'gpuvet facts toolkits' lists them",
                "--toolkit " + options.toolkit);
  return asked;
}

bool is_flagged(const LintedFile& file) {
  return std::any_of(file.findings.begin(), file.findings.end(),
                     [](const LintFinding& finding) { return finding.level != LintLevel::note; });
}

// What was found, and in how much: "nothing to mend" where nothing was read would be no answer.
std::string verdict_of(const LintInputs& inputs) {
  std::string where =
      fmt::format("{} build file{}", inputs.looked_at, inputs.looked_at == 1 ? "" : "s");
  if (inputs.words)
    where = inputs.looked_at == 0 ? "the command line" : where + " and on the command line";
  if (inputs.settings == 0 && inputs.files.empty())
    return "no setting of GPU architectures in " + where;
  std::string verdict = fmt::format("{}: {} setting{} {} {}", finding_counts(inputs.files),
                                    inputs.settings, inputs.settings == 1 ? "" : "s",
                                    inputs.words && inputs.looked_at == 0 ? "on" : "in", where);
  if (inputs.unresolved > 0)
    verdict += fmt::format(", {} of them with values from outside, which are not judged",
                           inputs.unresolved);
  return verdict;
}

bool says_yes() {
  fmt::print(stderr, "Write these changes? [y/N] ");
  std::fflush(stderr);
  int first = std::getchar();
  return first == 'y' || first == 'Y';
}

// Shows the changes; writes them where that was asked for and agreed to.
int run_fix(const LintCliOptions& options, const LintInputs& inputs, const Context& context) {
  std::vector<std::pair<const LintedFile*, FixedText>> changes;
  size_t fixes = 0;
  for (const LintedFile& file : inputs.files) {
    if (file.kind == BuildFileKind::arguments) continue;
    FixedText fixed = fixed_text(file);
    if (fixed.fixes == 0) continue;
    fmt::print("{}", unified_diff(file.path, file.text, fixed.text,
                                  {context.out.colour, context.out.width}));
    fixes += fixed.fixes;
    changes.emplace_back(&file, std::move(fixed));
  }
  std::fflush(stdout);
  if (changes.empty()) {
    fmt::print(stderr, "gpuvet: nothing has one right answer that could be written\n");
    return exit_code::ok;
  }
  if (options.diff) return exit_code::falls_short;
  bool agreed = options.yes;
  if (!agreed && isatty(0) == 1 && context.err.interactive) agreed = says_yes();
  if (!agreed) {
    fmt::print(stderr, "gpuvet: nothing was written{}\n",
               isatty(0) == 1 ? "" : "; to write these changes, add --yes");
    return exit_code::falls_short;
  }
  int status = exit_code::ok;
  for (const auto& [file, fixed] : changes)
    if (auto wrote = replace_file(file->path, file->text, fixed.text); !wrote)
      status = complain(wrote.error());
  if (status == exit_code::ok)
    fmt::print(stderr, "gpuvet: {} change{} written in {} file{}\n", fixes, fixes == 1 ? "" : "s",
               changes.size(), changes.size() == 1 ? "" : "s");
  return status;
}

void print_text(const LintInputs& inputs, const Context& context) {
  TextStyle style{context.out.colour, context.out.width};
  fmt::print("{}\n", wrap(verdict_of(inputs), context.out.width, 0));
  size_t fixable = 0;
  for (const LintedFile& file : inputs.files) {
    fmt::print("\n");
    std::string text = render_lint(file, style);
    while (text.ends_with("\n\n"))
      text.pop_back();
    fmt::print("{}", text);
    if (file.kind != BuildFileKind::arguments) fixable += fixed_text(file).fixes;
  }
  if (fixable > 0)
    fmt::print("\n{} of these {} one right answer: gpuvet arch lint --fix shows and writes {}.\n",
               fixable, fixable == 1 ? "has" : "have", fixable == 1 ? "it" : "them");
}

int print_rules(const LintCliOptions& options, const Context& context) {
  auto tables = context.facts.lint();
  if (!tables) return complain(tables.error());
  if (options.json)
    fmt::print("{}", rules_json(**tables));
  else
    fmt::print("{}",
               render_terminal(rules_report(**tables), {context.out.colour, context.out.width}));
  return exit_code::ok;
}

int run_lint(const LintCliOptions& options, const Context& context) {
  if (options.rules) return print_rules(options, context);
  if (options.names.empty())
    return complain({"name a file, a folder or a setting (see gpuvet arch lint --help)", ""});
  if ((options.fix || options.diff) && (options.json || options.sarif))
    return complain({"--fix and --diff print a diff; leave --json and --sarif out", ""});
  if (options.json && options.sarif) return complain({"choose one of --json and --sarif", ""});
  if (options.fix && options.diff)
    return complain({"--diff only shows what --fix would write: choose one", ""});
  auto facts = lint_facts(context.facts);
  if (!facts) return complain(facts.error());
  auto asked = asked_from(options, *facts, context.facts);
  if (!asked) return complain(asked.error());

  LintInputs inputs = read_lint_inputs(options.names, *facts, *asked);
  for (const Error& error : inputs.errors)
    complain(error);
  int unread = inputs.errors.empty() ? exit_code::ok : exit_code::usage;
  if (options.fix || options.diff) return std::max(run_fix(options, inputs, context), unread);
  if (options.json)
    fmt::print("{}", lint_json(inputs, verdict_of(inputs)));
  else if (options.sarif)
    fmt::print("{}", lint_sarif(inputs, facts->tables));
  else if (inputs.looked_at > 0 || inputs.words || inputs.errors.empty())
    print_text(inputs, context);
  if (std::any_of(inputs.files.begin(), inputs.files.end(), is_flagged))
    return exit_code::falls_short;
  return unread;
}

} // namespace

std::function<int(Context&)> define_arch_lint(CLI::App& app) {
  auto options = std::make_shared<LintCliOptions>();
  app.add_option("FILE|DIR|SETTING", options->names,
                 "build files, folders of them, or settings such as TORCH_CUDA_ARCH_LIST=8.6 "
                 "(behind -- where they begin with -)")
      ->type_name("");
  app.add_option("--gpu", options->gpus, "the product has to run on this GPU; may repeat")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("--toolkit", options->toolkit,
                 "the CUDA version that compiles, instead of the one that a file names")
      ->type_name("VER");
  app.add_flag("--json", options->json, "print JSON (schema gpuvet-lint/1)");
  app.add_flag("--sarif", options->sarif, "print SARIF 2.1.0");
  app.add_flag("--fix", options->fix,
               "show and write the changes that have one right answer; asks first");
  app.add_flag("--yes", options->yes, "with --fix: write without asking");
  app.add_flag("--diff", options->diff, "only show what --fix would write");
  app.add_flag("--rules", options->rules,
               "list the rules; with --json: their examples and sources");
  app.footer("Exit status: 0 nothing but notes, 1 something is wrong (with --fix: changes were not "
             "written, with --diff: there are some), 2 bad usage or unreadable input.");
  return [options](Context& context) { return run_lint(*options, context); };
}

} // namespace gpuvet
