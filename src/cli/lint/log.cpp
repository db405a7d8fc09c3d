// gpuvet arch log: which architectures did the build really make?
#include "cli/devices.hpp"
#include "cli/lint/lint.hpp"
#include "formats/buildlog/build_log_reader.hpp"
#include "formats/json_write.hpp"
#include "judge/buildlog/log_report.hpp"
#include "os/file_map.hpp"
#include "os/progress.hpp"
#include "render/terminal.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <unistd.h>

namespace gpuvet {
namespace {

constexpr size_t kPiece = size_t{1} << 20; // bytes read at a time

struct LogOptions {
  std::string path, asked;
  std::vector<std::string> gpus;
  bool json = false;
};

int complain(const Error& error) {
  fmt::print(stderr, "gpuvet: {}{}{}\n", printable(error.where), error.where.empty() ? "" : ": ",
             error.what);
  return exit_code::usage;
}

Result<BuildLog> read_standard_input() {
  BuildLogReader reader;
  std::string piece(kPiece, '\0');
  while (true) {
    ssize_t got = read(0, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(std::strerror(errno), "standard input");
    if (got == 0) return reader.finish();
    reader.feed(std::string_view(piece).substr(0, static_cast<size_t>(got)));
  }
}

Result<BuildLog> read_log(const std::string& path, const Terminal& terminal) {
  if (path == "-") return read_standard_input();
  auto map = map_file(path);
  if (!map) return tl::unexpected(map.error());
  Bytes bytes = map->bytes();
  BuildLogReader reader;
  Progress progress(terminal, "reading", bytes.size());
  for (size_t at = 0; at < bytes.size(); at += kPiece) {
    Bytes piece = bytes.clamp(at, kPiece);
    reader.feed(piece.text());
    release_pages(piece);
    progress.add(piece.size(), path);
  }
  if (map->changed()) return fail("the file became shorter while it was read", path);
  return reader.finish();
}

Json targets_json(const std::vector<LoggedTarget>& targets) {
  Json list = json_list();
  for (const LoggedTarget& one : targets)
    list.items.push_back(json_of(one.ptx ? compute_name(one.target) : sm_name(one.target)));
  return list;
}

Json remarks_json(const std::vector<LoggedRemark>& remarks) {
  Json list = json_list();
  for (const LoggedRemark& one : remarks) {
    Json item = json_object();
    set(item, "text", json_of(one.text));
    set(item, "line", json_of(one.line));
    set(item, "times", json_of(one.times));
    list.items.push_back(std::move(item));
  }
  return list;
}

Json sets_json(const std::vector<LoggedSet>& sets) {
  Json list = json_list();
  for (const LoggedSet& one : sets) {
    Json item = json_object();
    set(item, "targets", targets_json(one.targets));
    set(item, "word", one.word.empty() ? Json{} : json_of(one.word));
    set(item, "compiler", json_of(one.compiler));
    set(item, "commands", json_of(one.commands));
    set(item, "first_line", json_of(one.first_line));
    list.items.push_back(std::move(item));
  }
  return list;
}

std::string log_json(const BuildLog& log, const LogVerdict& verdict, const Report& report) {
  Json root = json_object();
  set(root, "schema", json_of("gpuvet-arch-log/1"));
  set(root, "gpuvet", json_of(GPUVET_VERSION));
  set(root, "verdict", json_of(report.verdict));
  set(root, "state",
      json_of(report.state == State::ok      ? "ok"
              : report.state == State::fault ? "fault"
                                             : "unknown"));
  set(root, "made", targets_json(verdict.made));
  set(root, "from_commands", json_of(verdict.from_commands));
  set(root, "sets", sets_json(verdict.sets));
  Json asked = json_object();
  set(asked, "value", verdict.asked.empty() ? Json{} : json_of(verdict.asked));
  set(asked, "from", verdict.asked_from.empty() ? Json{} : json_of(verdict.asked_from));
  set(asked, "missing", targets_json(verdict.missing));
  set(asked, "extra", targets_json(verdict.extra));
  set(root, "asked", std::move(asked));
  Json gpus = json_list();
  for (const LogDevice& one : verdict.devices) {
    Json item = json_object();
    set(item, "name", json_of(one.device.name));
    set(item, "capability", json_of(cc_name(one.device.sm)));
    set(item, "commands", json_of(one.commands));
    set(item, "commands_with_code", json_of(one.serving));
    set(item, "commands_unknown", json_of(one.unsure));
    set(item, "reason", one.reason.empty() ? Json{} : json_of(one.reason));
    gpus.items.push_back(std::move(item));
  }
  set(root, "gpus", std::move(gpus));
  set(root, "refused", remarks_json(log.refused));
  set(root, "asked_in_log", remarks_json(log.asked));
  set(root, "detected", remarks_json(log.detected));
  set(root, "silent_objects", json_of(log.silent_objects));
  set(root, "lines", json_of(log.lines));
  return write_json(root);
}

void add_served(Report& report, const LogVerdict& verdict) {
  for (const LogDevice& one : verdict.devices)
    if (one.commands > 0 && one.serving == one.commands)
      report.notes.insert(report.notes.begin(), one.device.name +
                                                    ": everything that was made has code "
                                                    "for it");
}

int run_log(const LogOptions& options, Context& context) {
  auto tables = context.facts.lint();
  if (!tables) return complain(tables.error());
  auto rules = context.facts.load_rules();
  if (!rules) return complain(rules.error());
  LogAsked asked{options.asked, {}};
  for (const std::string& gpu : options.gpus) {
    auto device = device_from(gpu, context.facts);
    if (!device) return complain(device.error());
    asked.gpus.push_back(*device);
  }
  auto log = read_log(options.path, context.err);
  if (!log) return complain(log.error());
  auto verdict = judge_log(*log, asked, **tables, **rules);
  if (!verdict) return complain(verdict.error());
  Report report = log_report(*log, *verdict);
  if (options.json)
    fmt::print("{}", log_json(*log, *verdict, report));
  else {
    add_served(report, *verdict);
    fmt::print("{}", render_terminal(report, {context.out.colour, context.out.width}));
  }
  bool unanswered =
      std::any_of(verdict->devices.begin(), verdict->devices.end(),
                  [](const LogDevice& one) { return one.commands == 0 || one.unsure > 0; });
  if (report.state == State::fault) return exit_code::falls_short;
  return report.state == State::unknown || unanswered ? exit_code::usage : exit_code::ok;
}

} // namespace

std::function<int(Context&)> define_arch_log(CLI::App& app) {
  auto options = std::make_shared<LogOptions>();
  app.add_option("LOG", options->path, "log of a build; - reads standard input")
      ->type_name("")
      ->required();
  app.add_option("--asked", options->asked,
                 "what was asked for, as 8.0;8.6+PTX or NAME=VALUE; default: what the log says")
      ->type_name("VALUE");
  app.add_option("--gpu", options->gpus, "does what was made run on this GPU? may repeat")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_flag("--json", options->json, "print JSON (schema gpuvet-arch-log/1)");
  app.footer("Exit status: 0 made as asked, 1 something asked for is missing, refused, or a named "
             "GPU isn't served, 2 bad usage, unreadable input, or the log doesn't tell.");
  return [options](Context& context) { return run_log(*options, context); };
}

} // namespace gpuvet
