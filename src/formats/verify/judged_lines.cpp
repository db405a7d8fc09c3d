#include "formats/verify/judged_lines.hpp"

#include "formats/json_write.hpp"

#include <array>
#include <cmath>

namespace gpuvet {
namespace {

Json number_or_null(const std::optional<double>& number) {
  return number && std::isfinite(*number) ? json_of(*number) : Json{};
}

Json ratio_of(const JudgedStep& step) {
  if (!step.value || !step.theoretical || *step.theoretical == 0) return {};
  return number_or_null(*step.value / *step.theoretical);
}

Json start(const char* type) {
  Json json = json_object();
  set(json, "type", json_of(type));
  return json;
}

} // namespace

std::string judged_line(const JudgedStep& step) {
  Json json = start("judged");
  set(json, "id", json_of(step.id));
  set(json, "layer", json_of(step.layer));
  set(json, "title", json_of(step.title));
  set(json, "step", json_or_null(step.step));
  set(json, "gpu", json_or_null(step.gpu));
  set(json, "peer", json_or_null(step.peer));
  set(json, "required", json_of(step.required));
  set(json, "verdict", json_of(verdict_word(step.verdict)));
  set(json, "reading", json_or_null(step.reading));
  set(json, "value", number_or_null(step.value));
  set(json, "unit", json_or_null(step.unit));
  set(json, "n", json_of(uint64_t{step.samples}));
  set(json, "mad", number_or_null(step.mad));
  set(json, "min", number_or_null(step.least));
  set(json, "max", number_or_null(step.most));
  set(json, "theoretical", number_or_null(step.theoretical));
  set(json, "fraction", ratio_of(step));
  set(json, "limit", number_or_null(step.limit));
  set(json, "limit_is", json_of(step.at_most ? "most" : "least"));
  set(json, "limit_from", json_or_null(step.limit_from));
  set(json, "why", json_or_null(step.why));
  set(json, "next", json_or_null(step.next));
  set(json, "action", json_of(action_word(step.action)));
  set(json, "follows", json_or_null(step.follows));
  set(json, "evidence", json_of(step.evidence));
  set(json, "published", json_of(step.published));
  return write_json_line(json);
}

std::string verdict_line(const std::string& verdict, int exit_status,
                         const std::vector<JudgedStep>& steps) {
  constexpr std::array all = {Verdict::pass,    Verdict::warn,    Verdict::fail,
                              Verdict::skipped, Verdict::unknown, Verdict::info};
  Json counts = json_object();
  for (Verdict one : all) {
    uint64_t count = 0;
    for (const JudgedStep& step : steps)
      count += step.verdict == one;
    set(counts, verdict_word(one), json_of(count));
  }
  Json json = start("verdict");
  set(json, "text", json_of(verdict));
  set(json, "exit_status", json_of(int64_t{exit_status}));
  set(json, "counts", std::move(counts));
  return write_json_line(json);
}

} // namespace gpuvet
