// gpuvet ldd: which file does each library name stand for, by which rule, and does it fit?
#include "cli/command.hpp"
#include "cli/ldd_json.hpp"
#include "judge/ldd/ldd_report.hpp"
#include "os/file_tree.hpp"
#include "probe/loader/subjects.hpp"
#include "probe/python_env.hpp"
#include "render/load_tree.hpp"
#include "render/terminal.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

namespace gpuvet {
namespace {

struct LddOptions {
  std::vector<std::string> names;
  std::vector<uint64_t> pids;
  std::vector<std::string> pythons;
  std::string root;
  bool json = false, verbose = false;
};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool has_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value = variable(name);
    if (value.empty()) continue;
    for (const char* mark : {"UTF-8", "utf-8", "UTF8", "utf8"})
      if (value.find(mark) != std::string::npos) return true;
    return false;
  }
  return false;
}

// A program named as on a command line.
std::string in_path(const std::string& name) {
  std::string path = variable("PATH");
  for (size_t at = 0; at <= path.size();) {
    size_t end = std::min(path.find(':', at), path.size());
    std::string candidate = join_path(path.substr(at, end - at), name);
    auto status = file_status(candidate, Links::follow);
    if (end > at && status && status->type == FileType::regular) return candidate;
    at = end + 1;
  }
  return {};
}

struct Named {
  AskedKind kind = AskedKind::file;
  std::string path; // of a file
};

// A path, a file here, a library's name, a program on PATH.
Named named(const Source& source, const LddOptions& options, const std::string& name) {
  if (!options.root.empty()) {
    if (name.find('/') == std::string::npos) return {AskedKind::soname, {}};
    return {AskedKind::file, name.starts_with('/') ? name : "/" + name};
  }
  std::error_code error;
  std::string absolute = std::filesystem::absolute(name, error).string();
  if (name.find('/') != std::string::npos || exists(source, absolute))
    return {AskedKind::file, error ? name : absolute};
  if (name.find(".so") == std::string::npos)
    if (std::string program = in_path(name); !program.empty()) return {AskedKind::file, program};
  return {AskedKind::soname, {}};
}

void add_named(const Source& source, const LddOptions& options, LddResult& result) {
  for (const std::string& name : options.names) {
    Named what = named(source, options, name);
    if (what.kind == AskedKind::soname) {
      result.subjects.push_back({name, AskedKind::soname, tree_of_name(source, name), {}, {}});
      continue;
    }
    auto tree = tree_of_file(source, what.path);
    if (tree)
      result.subjects.push_back({name, AskedKind::file, std::move(*tree), {}, {}});
    else
      result.errors.push_back({tree.error().what, name});
  }
}

void add_processes(const Source& source, const LddOptions& options, LddResult& result) {
  for (uint64_t pid : options.pids) {
    auto trees = trees_of_process(source, pid);
    if (!trees) {
      result.errors.push_back(trees.error());
      continue;
    }
    result.subjects.push_back({fmt::format("{} (process {})", trees->name, pid), AskedKind::process,
                               std::move(trees->mapped), std::move(trees->now),
                               std::move(trees->deleted)});
  }
}

void add_pythons(const Source& source, const LddOptions& options, LddResult& result) {
  for (const std::string& executable : options.pythons) {
    auto python =
        find_python(source, executable, {.path = variable("PATH"), .home = variable("HOME")});
    if (!python) {
      result.errors.push_back(python.error());
      continue;
    }
    bool has_slash = executable.find('/') != std::string::npos;
    std::string path = has_slash ? executable : in_path(executable);
    std::error_code error;
    std::vector<PackageTree> trees =
        trees_of_python(source, std::filesystem::absolute(path, error).string(), python->folders);
    result.notes.insert(result.notes.end(), python->notes.begin(), python->notes.end());
    if (trees.empty())
      result.notes.push_back("no package with GPU code that gpuvet ldd knows is installed for " +
                             executable);
    for (PackageTree& one : trees)
      result.subjects.push_back(
          {std::move(one.package), AskedKind::package, std::move(one.tree), {}, {}});
  }
}

void print_text(const LddOptions& options, const LddResult& result, Report report,
                const Terminal& out) {
  TextStyle style{out.colour, out.width};
  Report head;
  head.verdict = std::move(report.verdict);
  head.state = report.state;
  head.tables = std::move(report.tables);
  report.verdict.clear();
  report.tables.clear();
  fmt::print("{}", render_terminal(head, style));
  // The trees of a whole environment are for -v.
  if (result.subjects.size() == 1 || options.verbose || options.pythons.empty())
    for (const LddSubject& subject : result.subjects) {
      if (result.subjects.size() > 1 && subject.kind != AskedKind::file)
        fmt::print("\n{}:", printable(subject.asked));
      fmt::print("\n{}",
                 render_load_tree(subject.tree, {out.colour, options.verbose, !has_utf8()}));
    }
  std::string rest = render_terminal(report, style);
  if (!rest.empty()) fmt::print("\n{}", rest);
}

int complain(const Error& error) {
  fmt::print(stderr, "gpuvet: {}{}{}\n", printable(error.where), error.where.empty() ? "" : ": ",
             error.what);
  return exit_code::usage;
}

int exit_status(const LddResult& result, const Report& report) {
  bool flagged = report.state == State::fault || report.state == State::warning;
  if (flagged) return exit_code::falls_short;
  return result.errors.empty() ? exit_code::ok : exit_code::usage;
}

int run_ldd(const LddOptions& options, const Context& context) {
  if (options.names.empty() && options.pids.empty() && options.pythons.empty())
    return complain({"name a file, a library, --pid or --python (see gpuvet ldd --help)", ""});
  if (!options.root.empty() && (!options.pids.empty() || !options.pythons.empty()))
    return complain({"--root goes with files and library names only", ""});
  if (!options.root.empty()) {
    auto status = file_status(options.root, Links::follow);
    if (!status || status->type != FileType::folder)
      return complain({status ? "this is not a folder" : status.error().what, options.root});
  }
  Source source = options.root.empty() ? live_source({}) : image_source(options.root);
  LddResult result;
  add_named(source, options, result);
  add_processes(source, options, result);
  add_pythons(source, options, result);
  for (LddSubject& subject : result.subjects)
    read_symbols(source, subject.tree);
  Report report = ldd_report(result);
  int status = exit_status(result, report);
  if (options.json)
    fmt::print("{}\n", ldd_json(result, report));
  else if (!result.subjects.empty() || result.errors.empty())
    print_text(options, result, std::move(report), context.out);
  for (const Error& error : result.errors)
    complain(error);
  return status;
}

} // namespace

std::function<int(Context&)> define_ldd(CLI::App& app) {
  auto options = std::make_shared<LddOptions>();
  app.add_option("FILE|SONAME", options->names,
                 "program or library; or a library's name, as a program without run paths gets it")
      ->type_name("");
  app.add_option("--pid", options->pids,
                 "what this process has loaded, and what the loader would choose now")
      ->type_name("N")
      ->allow_extra_args(false);
  app.add_option("--python", options->pythons,
                 "what importing this interpreter's GPU packages loads; nothing is imported")
      ->type_name("EXE")
      ->allow_extra_args(false);
  app.add_option("--root", options->root,
                 "look inside this folder: an unpacked image, a mounted disk")
      ->type_name("DIR");
  app.add_flag("--json", options->json, "print JSON (schema gpuvet-ldd/1)");
  app.add_flag("-v", options->verbose, "show every library, every rule in full");
  app.footer(
      "Exit status: 0 everything is found and fits, 1 something is missing or does not fit, 2 "
      "bad usage or unreadable input.");
  return [options](Context& context) { return run_ldd(*options, context); };
}

} // namespace gpuvet
