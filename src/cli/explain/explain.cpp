// gpuvet explain: from an error text to its cause; or what an id of gpuvet means.
#include "cli/command.hpp"
#include "cli/explain/explain_text.hpp"
#include "judge/explain/explain_row.hpp"
#include "os/progress.hpp"
#include "render/terminal.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <unistd.h>

namespace gpuvet {
namespace {

constexpr size_t kPiece = 256 << 10; // bytes read at once

struct ExplainRequest {
  std::vector<std::string> names; // files, "-", or ids
  ExplainOptions options;
  bool list = false;
};

int complain(const Error& error) {
  fmt::print(stderr, "gpuvet: {}{}{}\n", error.where, error.where.empty() ? "" : ": ", error.what);
  return explain_status::usage;
}

bool is_file(const std::string& name) {
  std::error_code error;
  return name == "-" || std::filesystem::exists(name, error);
}

std::optional<Error> read_descriptor(int descriptor, const std::string& name,
                                     TextExplainer& explainer, Progress& progress) {
  std::vector<char> piece(kPiece);
  while (true) {
    ssize_t got = read(descriptor, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{fmt::format("cannot be read: {}", std::strerror(errno)), name};
    if (got == 0) break;
    explainer.feed({piece.data(), static_cast<size_t>(got)});
    progress.add(static_cast<uint64_t>(got), name);
  }
  return std::nullopt;
}

std::optional<Error> read_named(const std::string& name, TextExplainer& explainer,
                                Progress& progress) {
  if (name == "-") return read_descriptor(STDIN_FILENO, "standard input", explainer, progress);
  int descriptor = open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return Error{fmt::format("cannot be opened: {}", std::strerror(errno)), name};
  auto error = read_descriptor(descriptor, name, explainer, progress);
  close(descriptor);
  return error;
}

uint64_t bytes_of(const std::vector<std::string>& names) {
  uint64_t total = 0;
  for (const std::string& name : names) {
    std::error_code error;
    if (auto size = std::filesystem::file_size(name, error); !error) total += size;
  }
  return total;
}

int explain_files(const std::vector<std::string>& names, const ExplainOptions& options,
                  Context& context) {
  TextExplainer explainer(context.facts);
  {
    Progress progress(context.err, "reading", bytes_of(names));
    for (const std::string& name : names) {
      explainer.begin_file(name == "-" ? "standard input" : name);
      if (auto error = read_named(name, explainer, progress)) return complain(*error);
    }
  }
  return explainer.finish(options, context);
}

int explain_ids(const std::vector<std::string>& ids, Context& context) {
  auto checks = context.facts.checks();
  if (!checks) return complain(checks.error());
  auto signatures = context.facts.signatures();
  if (!signatures) return complain(signatures.error());
  for (size_t i = 0; i < ids.size(); ++i) {
    auto report = explain_any_id(ids[i], **checks, **signatures);
    if (!report) return complain(report.error());
    fmt::print("{}{}", i ? "\n" : "",
               render_terminal(*report, {context.out.colour, context.out.width}));
  }
  return explain_status::found;
}

int list(Context& context) {
  auto signatures = context.facts.signatures();
  if (!signatures) return complain(signatures.error());
  fmt::print("{}", render_terminal(list_signatures(**signatures),
                                   {context.out.colour, context.out.width}));
  return explain_status::found;
}

// A word that is both a file and an id is a file.
void tell_ambiguous(const std::vector<std::string>& names, Context& context) {
  auto checks = context.facts.checks();
  auto signatures = context.facts.signatures();
  if (!checks || !signatures) return;
  for (const std::string& name : names)
    if (is_known_id(name, **checks, **signatures))
      fmt::print(stderr,
                 "gpuvet: {0}: there is a file of this name, so its text is explained, not the id; "
                 "for the id, run gpuvet in another folder\n",
                 name);
}

int run_explain(const ExplainRequest& asked, Context& context) {
  if (asked.list) return list(context);
  ExplainOptions options = asked.options;
  if (!options.machine.image.empty() || !options.machine.root.empty()) options.here = true;
  if (asked.names.empty()) {
    if (isatty(STDIN_FILENO) != 0)
      fmt::print(stderr, "gpuvet: reading the text from the terminal; Ctrl-D ends it\n");
    return explain_files({"-"}, options, context);
  }
  size_t files = 0;
  for (const std::string& name : asked.names)
    if (is_file(name)) ++files;
  if (files == 0) return explain_ids(asked.names, context);
  tell_ambiguous(asked.names, context);
  return explain_files(asked.names, options, context);
}

} // namespace

std::function<int(Context&)> define_explain(CLI::App& app) {
  auto asked = std::make_shared<ExplainRequest>();
  app.add_option("FILE", asked->names,
                 "texts to explain, - or none for standard input; or ids: xid-79")
      ->type_name("");
  app.add_flag("--here", asked->options.here,
               "the text is from this machine: ask the doctor's checks that bear on it");
  app.add_flag("--all", asked->options.all, "every message and cause, the excluded ones too");
  app.add_flag("--json", asked->options.json, "print JSON (schema gpuvet-explain/1)");
  app.add_flag("--list", asked->list, "list all messages that are known");
  add_machine_options(app, asked->options.machine);
  app.footer("Exit status: 0 cause found or id explained, 1 several causes are open, 2 bad usage "
             "or\nunreadable input, 3 not known.");
  return [asked](Context& context) { return run_explain(*asked, context); };
}

} // namespace gpuvet
