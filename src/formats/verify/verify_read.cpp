#include "formats/verify/fields.hpp"
#include "formats/verify/verify_lines.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace gpuvet {
namespace {

// More than any machine has or any run gives: a file beyond them is none of ours.
constexpr size_t kLongestLine = size_t{16} << 20U; // bytes
constexpr size_t kMostGpus = 256, kMostSteps = 20'000;
constexpr size_t kMostNumbers = 50'000'000; // samples and values of moments

constexpr std::array<std::pair<StepState, const char*>, 6> kStates = {{
    {StepState::done, "done"},
    {StepState::failed, "failed"},
    {StepState::hung, "hung"},
    {StepState::crashed, "crashed"},
    {StepState::unsupported, "unsupported"},
    {StepState::not_run, "not-run"},
}};

// A column: as many values as there are times, or none.
struct ColumnReader {
  const Json& json;
  std::vector<GpuMoment>& to;
  FieldReader& fields;
  const JsonPlace& at;
  JsonProblem& problem;
  size_t numbers = 0;

  template <class T> void operator()(const char* name, std::optional<T> GpuMoment::*field) {
    const Json* list = fields.take(name);
    if (!list || !problem.what.empty()) return;
    const JsonPlace here{.outer = &at, .key = name};
    if (!expect(*list, Json::Kind::list, here, problem)) return;
    if (list->items.size() != to.size()) {
      problem.set("this column has another length than at_s", here);
      return;
    }
    numbers += to.size();
    for (size_t i = 0; i < to.size(); ++i)
      if (list->items[i].kind != Json::Kind::null &&
          !read_value(list->items[i], to[i].*field, JsonPlace{.outer = &here, .index = i}, problem))
        return;
  }
};

class LineReader {
 public:
  explicit LineReader(SavedRun& run) : run_(run) {}

  // False: `problem` says what is wrong.
  bool take(const Json& json) {
    const JsonPlace top;
    if (!expect(json, Json::Kind::object, top, problem)) return false;
    const std::string& type = json["type"].text;
    if (!begun_) return begin(json, type, top);
    if (type == "gpu") return take_gpu(json, top);
    if (type == "moments") return take_moments(json, top);
    if (type == "step") return take_step(json, top);
    if (type == "end") return take_end(json, top);
    if (type == "judged" || type == "verdict") return true;
    if (type == "run") return go_on(json, top);
    return problem.set("no line of a saved run has this type", JsonPlace{&top, "type"});
  }

  JsonProblem problem;

 private:
  bool begin(const Json& json, const std::string& type, const JsonPlace& top) {
    const std::string& schema = json["schema"].text;
    if (type != "run" || schema != kVerifySchema)
      return problem.set(
          schema.empty() || schema == kVerifySchema
              ? "this is no saved run of gpuvet verify"
              : fmt::format("this gpuvet reads {}, not another schema", std::string(kVerifySchema)),
          top);
    begun_ = true;
    FieldReader reader(json, top, problem);
    skip(reader, {"type", "schema"});
    run_fields(reader, run_.measured);
    return reader.finish();
  }

  // A soak that was interrupted and taken up again: what follows counts from where it stopped.
  bool go_on(const Json& json, const JsonPlace& top) {
    Measurements part;
    FieldReader reader(json, top, problem);
    skip(reader, {"type", "schema"});
    run_fields(reader, part);
    if (!reader.finish()) return false;
    if (!(part.continued_s > 0))
      return problem.set("a second run begins here: one file holds one run", top);
    offset_s_ = part.continued_s;
    run_.measured.interrupted = run_.complete = false;
    return true;
  }

  static void skip(FieldReader& reader, std::initializer_list<const char*> keys) {
    for (const char* key : keys)
      reader.take(key);
  }

  VerifiedGpu* find(const std::string& uuid) {
    auto& gpus = run_.measured.gpus;
    auto at = std::find_if(gpus.begin(), gpus.end(), [&](auto& gpu) { return gpu.uuid == uuid; });
    return at == gpus.end() ? nullptr : &*at;
  }

  bool take_gpu(const Json& json, const JsonPlace& top) {
    VerifiedGpu gpu;
    FieldReader reader(json, top, problem);
    skip(reader, {"type"});
    fields(reader, gpu);
    if (!reader.finish()) return false;
    if (gpu.uuid.empty()) return problem.set("a GPU needs its UUID", top);
    if (VerifiedGpu* known = find(gpu.uuid)) {
      gpu.moments = std::move(known->moments);
      if (offset_s_ > 0) gpu.before = known->before; // of the whole soak
      *known = std::move(gpu);
      return true;
    }
    if (run_.measured.gpus.size() >= kMostGpus)
      return problem.set(fmt::format("more than {} GPUs are no machine", kMostGpus), top);
    run_.measured.gpus.push_back(std::move(gpu));
    return true;
  }

  bool take_moments(const Json& json, const JsonPlace& top) {
    VerifiedGpu* gpu = find(json["gpu"].text);
    if (!gpu) return problem.set("these moments are of a GPU that has no line before", top);
    FieldReader reader(json, top, problem);
    skip(reader, {"type", "gpu"});
    std::vector<double> times;
    reader("at_s", times);
    std::vector<GpuMoment> made(times.size());
    for (size_t i = 0; i < times.size(); ++i)
      made[i].at_s = times[i] + offset_s_;
    ColumnReader reads{json, made, reader, top, problem, made.size()};
    columns(reads);
    if (!reader.finish() || !count(reads.numbers, top)) return false;
    gpu->moments.insert(gpu->moments.end(), made.begin(), made.end());
    return true;
  }

  bool take_step(const Json& json, const JsonPlace& top) {
    StepResult step;
    FieldReader reader(json, top, problem);
    skip(reader, {"type"});
    fields(reader, step);
    if (!reader.finish()) return false;
    if (step.id.empty()) return problem.set("a step needs its id", top);
    step.begin_s += offset_s_;
    step.end_s += offset_s_;
    size_t numbers = 0;
    for (const auto& [name, reading] : step.readings)
      numbers += reading.samples.size();
    if (!count(numbers, top)) return false;
    if (run_.measured.steps.size() >= kMostSteps)
      return problem.set(fmt::format("more than {} steps are no run", kMostSteps), top);
    run_.measured.steps.push_back(std::move(step));
    return true;
  }

  bool take_end(const Json& json, const JsonPlace& top) {
    FieldReader reader(json, top, problem);
    skip(reader, {"type"});
    reader("seconds", run_.measured.seconds);
    reader("interrupted", run_.measured.interrupted);
    run_.measured.seconds += offset_s_;
    run_.complete = true;
    return reader.finish();
  }

  bool count(size_t numbers, const JsonPlace& top) {
    numbers_ += numbers;
    return numbers_ <= kMostNumbers ||
           problem.set(fmt::format("more than {} numbers are no run", kMostNumbers), top);
  }

  SavedRun& run_;
  bool begun_ = false;
  double offset_s_ = 0; // of the part that is read
  size_t numbers_ = 0;
};

constexpr std::string_view kRunBegins = R"({"type": "run")";

std::string place_of(const std::string& where, uint64_t line, const std::string& field) {
  return fmt::format("{}:{}{}{}", where, line, field.empty() ? "" : ", ", field);
}

} // namespace

Json to_json(StepState state) {
  for (const auto& [value, name] : kStates)
    if (value == state) return json_of(name);
  return json_of("not-run");
}

bool read_value(const Json& json, StepState& to, const JsonPlace& at, JsonProblem& problem) {
  if (!expect(json, Json::Kind::text, at, problem)) return false;
  for (const auto& [value, name] : kStates)
    if (json.text == name) {
      to = value;
      return true;
    }
  return problem.set("this is none of done, failed, hung, crashed, unsupported, not-run", at);
}

Result<SavedRun> read_measurements(std::string_view text, const std::string& where) {
  SavedRun run;
  LineReader reader(run);
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const bool cut = end == std::string_view::npos;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(cut ? text.size() : end + 1);
    ++run.lines;
    if (line.size() > kLongestLine)
      return fail("this line is longer than any of a saved run", place_of(where, run.lines, ""));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    auto json = parse_json(line, place_of(where, run.lines, ""));
    // What a crash leaves: half a line, at the end or before the run was taken up again.
    if (!json && run.lines > 1 && (cut || text.starts_with(kRunBegins))) continue;
    if (!json) return tl::unexpected<Error>(json.error());
    if (!reader.take(*json))
      return fail(reader.problem.what, place_of(where, run.lines, reader.problem.where));
  }
  if (run.lines == 0) return fail("this file is empty", where);
  if (!run.complete)
    run.why_not =
        fmt::format("the run was cut off after line {}: what follows was not run", run.lines);
  return run;
}

} // namespace gpuvet
