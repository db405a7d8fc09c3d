// gpuvet facts: look up what gpuvet knows.
#include "cli/command.hpp"
#include "cli/facts/page.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <memory>

namespace gpuvet {
namespace {

struct FactsOptions {
  std::string subject;
  std::vector<std::string> query;
  bool features = false, json = false;
};

const std::vector<std::string> subjects = {"gpus",   "toolkits",   "drivers",
                                           "errors", "frameworks", "buildvars"};

Result<FactsPage> make_page(const Facts& facts, const FactsOptions& options,
                            const std::string& query) {
  if (options.subject == "gpus") return gpus_page(facts, query, options.features);
  if (options.subject == "toolkits") return toolkits_page(facts, query);
  if (options.subject == "drivers") return drivers_page(facts, query);
  if (options.subject == "errors") return errors_page(facts, query);
  if (options.subject == "frameworks") return frameworks_page(facts, query);
  return buildvars_page(facts, query);
}

std::string page_json(const FactsPage& page, const std::string& subject, const std::string& query) {
  JsonFields fields = {{"schema", json_text("gpuvet-facts/1")},
                       {"subject", json_text(subject)},
                       {"query", json_text(query)},
                       {"found", json_flag(page.found)},
                       {"answer", json_text(page.verdict)}};
  fields.insert(fields.end(), page.data.begin(), page.data.end());
  fields.emplace_back("notes", json_texts(page.notes));
  return json_indented(json_object(fields));
}

int run_facts(const FactsOptions& options, Context& context) {
  std::string query = joined(options.query, " ");
  auto complain = [](const std::string& text) {
    fmt::print(stderr, "gpuvet: {}\n", text);
    return exit_code::usage;
  };
  if (options.features && (options.subject != "gpus" || query.empty()))
    return complain("--features needs a GPU or a capability: gpuvet facts gpus T4 --features");
  auto page = make_page(context.facts, options, query);
  if (!page) return complain(page.error().where + ": " + page.error().what);
  if (options.json)
    fmt::print("{}\n", page_json(*page, options.subject, query));
  else
    fmt::print("{}", render_page(*page, {context.out.colour, context.out.width}));
  return page->found ? exit_code::ok : exit_code::falls_short;
}

} // namespace

std::function<int(Context&)> define_facts(CLI::App& app) {
  auto options = std::make_shared<FactsOptions>();
  app.add_option("SUBJECT", options->subject,
                 "gpus, toolkits, drivers, errors, frameworks or buildvars")
      ->required()
      ->check(CLI::IsMember(subjects))
      ->type_name("");
  app.add_option("QUERY", options->query,
                 "what to look up, such as T4, 8.6, 12.8, 535.104.05, 209, 'torch 2.7 cu128', "
                 "cmake; without it, an overview")
      ->type_name("");
  app.add_flag("--features", options->features, "what the GPU's compute capability brings");
  app.add_flag("--json", options->json, "print JSON (schema gpuvet-facts/1)");
  return [options](Context& context) { return run_facts(*options, context); };
}

} // namespace gpuvet
