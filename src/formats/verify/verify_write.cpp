#include "formats/verify/fields.hpp"
#include "formats/verify/verify_lines.hpp"

#include <algorithm>
#include <cmath>

namespace gpuvet {
namespace {

constexpr size_t kChunk = 256; // moments on a line

Json typed(const char* type) {
  Json json = json_object();
  set(json, "type", json_of(type));
  return json;
}

void append(Json& to, Json&& more) {
  for (size_t i = 0; i < more.keys.size(); ++i)
    set(to, std::move(more.keys[i]), std::move(more.items[i]));
}

template <class T> std::string line_of(const char* type, const T& value) {
  Json json = typed(type);
  append(json, to_json(value));
  return write_json_line(json);
}

// A column that is never known is left out.
struct ColumnWriter {
  const GpuMoment* from;
  size_t count;
  Json& to;

  template <class T> void operator()(const char* name, std::optional<T> GpuMoment::*field) {
    Json list = json_list();
    bool known = false;
    for (size_t i = 0; i < count; ++i) {
      list.items.push_back(to_json(from[i].*field));
      known = known || (from[i].*field).has_value();
    }
    if (known) set(to, name, std::move(list));
  }
};

} // namespace

Json to_json(const Reading& reading) {
  Json json = json_object();
  set(json, "unit", json_of(reading.unit));
  Json samples = json_list();
  for (double sample : reading.samples)
    if (std::isfinite(sample)) samples.items.push_back(json_of(sample));
  set(json, "samples", std::move(samples));
  return json;
}

std::string run_line(const Measurements& measured) {
  Json json = typed("run");
  set(json, "schema", json_of(kVerifySchema));
  FieldWriter writer;
  run_fields(writer, measured);
  append(json, std::move(writer.object));
  return write_json_line(json);
}

std::string gpu_line(const VerifiedGpu& gpu) {
  return line_of("gpu", gpu);
}

std::string step_line(const StepResult& step) {
  return line_of("step", step);
}

std::string moment_lines(const std::string& gpu, const std::vector<GpuMoment>& moments) {
  std::string lines;
  for (size_t at = 0; at < moments.size(); at += kChunk) {
    const size_t count = std::min(kChunk, moments.size() - at);
    Json json = typed("moments");
    set(json, "gpu", json_of(gpu));
    Json times = json_list();
    for (size_t i = 0; i < count; ++i)
      times.items.push_back(json_of(moments[at + i].at_s));
    set(json, "at_s", std::move(times));
    ColumnWriter writer{&moments[at], count, json};
    columns(writer);
    lines += write_json_line(json);
  }
  return lines;
}

std::string end_line(const Measurements& measured) {
  Json json = typed("end");
  set(json, "seconds", json_of(measured.seconds));
  set(json, "interrupted", json_of(measured.interrupted));
  return write_json_line(json);
}

std::string write_measurements(const Measurements& measured) {
  std::string text = run_line(measured);
  for (const VerifiedGpu& gpu : measured.gpus)
    text += gpu_line(gpu) + moment_lines(gpu.uuid, gpu.moments);
  for (const StepResult& step : measured.steps)
    text += step_line(step);
  return text + end_line(measured);
}

} // namespace gpuvet
