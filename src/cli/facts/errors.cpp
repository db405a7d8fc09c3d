#include "cli/facts/page.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

std::string error_json(const ErrorCode& error) {
  return json_object({{"code", json_number(error.code)},
                      {"names", json_texts(error.names)},
                      {"text", json_text(error.text)},
                      {"cause", json_text(error.cause)},
                      {"fix", json_text(error.fix)},
                      {"source", json_text(error.source)}});
}

// The shortest name says most in a narrow table: "NO_BINARY_FOR_GPU".
std::string short_name(const ErrorCode& error) {
  std::string name = error.names.empty() ? "" : error.names.back();
  for (std::string_view prefix : {"CUDA_ERROR_", "cudaError"})
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
  return name;
}

FactsPage list(const std::vector<const ErrorCode*>& errors, std::string verdict) {
  FactsPage page;
  page.verdict = std::move(verdict);
  PageSection section;
  section.table = make_table({">code", "name", "text"});
  std::vector<std::string> rows;
  for (const ErrorCode* error : errors) {
    std::string text = error->text;
    constexpr size_t room = 42;
    if (text.size() > room) text = text.substr(0, room - 3) + "...";
    add_row(section.table, {std::to_string(error->code), short_name(*error), text});
    rows.push_back(error_json(*error));
  }
  page.sections.push_back(std::move(section));
  page.notes = {"one code with its cause: gpuvet facts errors 209."};
  page.data = {{"errors", json_array(rows)}};
  return page;
}

FactsPage one_error(const ErrorCode& error) {
  FactsPage page;
  page.verdict = fmt::format("CUDA error {}: {}", error.code, error.text);
  page.sections.emplace_back().lines = {{"names", joined(error.names, ", ")},
                                        {"why", or_unknown(error.cause)},
                                        {"mend", or_unknown(error.fix)},
                                        {"source", error.source}};
  page.data = {{"errors", json_array({error_json(error)})}};
  return page;
}

// By number, by exact name or text, else by a part of one of them.
std::vector<const ErrorCode*> matching(const std::vector<ErrorCode>& errors,
                                       const std::string& query) {
  std::string key = lower_case(query);
  std::vector<const ErrorCode*> exact, part;
  for (const ErrorCode& error : errors) {
    bool is_it = key == std::to_string(error.code) || key == lower_case(error.text);
    bool holds = lower_case(error.text).find(key) != std::string::npos;
    for (const std::string& name : error.names) {
      is_it |= key == lower_case(name);
      holds |= lower_case(name).find(key) != std::string::npos;
    }
    // A whole line of a log holds the text or a name.
    holds |= key.find(lower_case(error.text)) != std::string::npos && error.text.size() > 8;
    if (is_it) exact.push_back(&error);
    if (holds) part.push_back(&error);
  }
  return exact.empty() ? part : exact;
}

} // namespace

Result<FactsPage> errors_page(const Facts& facts, const std::string& query) {
  auto errors = facts.errors();
  if (!errors) return tl::unexpected<Error>(errors.error());
  std::vector<const ErrorCode*> all;
  for (const ErrorCode& error : **errors)
    all.push_back(&error);
  if (query.empty())
    return list(all, fmt::format("{} CUDA errors of drivers, devices and loading.", all.size()));
  std::vector<const ErrorCode*> found = matching(**errors, query);
  if (found.size() == 1) return one_error(*found[0]);
  if (found.size() > 1)
    return list(found, fmt::format("\"{}\" fits {} CUDA errors:", query, found.size()));
  FactsPage page;
  page.found = false;
  page.verdict = fmt::format("no CUDA error of drivers, devices or loading fits \"{}\".", query);
  page.notes = {"type a number such as 209, a name such as CUDA_ERROR_NO_BINARY_FOR_GPU, or a part "
                "of the text. The list: gpuvet facts errors"};
  page.data = {{"errors", "[]"}};
  return page;
}

} // namespace gpuvet
