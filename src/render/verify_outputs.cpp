#include "render/verify_outputs.hpp"

#include "render/junit.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace gpuvet {
namespace {

JunitState junit_state(Verdict verdict) {
  switch (verdict) {
  case Verdict::fail:
    return JunitState::failed;
  case Verdict::unknown:
    return JunitState::error;
  case Verdict::skipped:
    return JunitState::skipped;
  case Verdict::pass:
  case Verdict::warn:
  case Verdict::info:
    break;
  }
  return JunitState::passed;
}

std::string case_name(const JudgedStep& step) {
  std::string name = step.id;
  if (!step.gpu.empty()) name += " " + step.gpu;
  if (!step.peer.empty()) name += " " + step.peer;
  return name;
}

std::string details(const JudgedStep& step) {
  std::string text;
  for (const std::string& line : step.evidence)
    text += line + "\n";
  if (!step.limit_from.empty()) text += "limit: " + step.limit_from + "\n";
  if (!step.next.empty()) text += "next: " + step.next + "\n";
  return text;
}

// Label values: backslash, quote and line feed are escaped, other control characters dropped.
std::string label(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n')
      out += "\\n";
    else if (static_cast<unsigned char>(c) >= 0x20)
      out += c;
  }
  return out;
}

std::string labels_of(const JudgedStep& step) {
  std::string text = fmt::format("check=\"{}\",layer=\"{}\"", label(step.id), label(step.layer));
  if (!step.gpu.empty()) text += fmt::format(",gpu=\"{}\"", label(step.gpu));
  if (!step.peer.empty()) text += fmt::format(",peer=\"{}\"", label(step.peer));
  return text;
}

// Base units, as Prometheus wants them.
std::pair<std::string, double> base_unit(const std::string& unit) {
  static const std::map<std::string, std::pair<std::string, double>> units = {
      {"GB/s", {"bytes_per_second", 1e9}},
      {"TFLOP/s", {"flop_per_second", 1e12}},
      {"us", {"seconds", 1e-6}},
      {"ms", {"seconds", 1e-3}},
      {"ns", {"seconds", 1e-9}},
      {"s", {"seconds", 1}},
      {"MHz", {"hertz", 1e6}},
      {"bytes", {"bytes", 1}},
      {"%", {"ratio", 0.01}},
      {"FLOP", {"flop", 1}}};
  const auto at = units.find(unit);
  return at == units.end() ? std::pair<std::string, double>{"count", 1} : at->second;
}

struct Family { // one metric with all its lines; Prometheus wants them together
  std::string help;
  std::vector<std::string> lines;
};

void add(std::map<std::string, Family>& families, const std::string& name, const std::string& help,
         const std::string& labels, double value) {
  if (!std::isfinite(value)) return;
  Family& family = families[name];
  family.help = help;
  const std::string line = labels.empty() ? fmt::format("{} {}\n", name, value)
                                          : fmt::format("{}{{{}}} {}\n", name, labels, value);
  // A series may stand only once.
  const std::string series = line.substr(0, line.rfind(' ') + 1);
  for (const std::string& other : family.lines)
    if (other.compare(0, series.size(), series) == 0) return;
  family.lines.push_back(line);
}

std::string written(const std::map<std::string, Family>& families) {
  std::string text;
  for (const auto& [name, family] : families) {
    text += fmt::format("# HELP {} {}\n# TYPE {} gauge\n", name, family.help, name);
    for (const std::string& line : family.lines)
      text += line;
  }
  return text;
}

constexpr std::array<Verdict, 6> kVerdicts = {Verdict::pass,    Verdict::info,    Verdict::warn,
                                              Verdict::skipped, Verdict::unknown, Verdict::fail};

void add_step(std::map<std::string, Family>& families, const JudgedStep& step) {
  const std::string labels = labels_of(step);
  for (Verdict verdict : kVerdicts)
    add(families, "gpuvet_verify_verdict", "1 for the verdict of a check, 0 for the others",
        labels + fmt::format(",verdict=\"{}\"", verdict_word(verdict)), step.verdict == verdict);
  if (!step.value) return;
  const auto [unit, factor] = base_unit(step.unit);
  add(families, "gpuvet_verify_" + unit, "median that a check measured", labels,
      *step.value * factor);
  if (step.theoretical && *step.theoretical > 0)
    add(families, "gpuvet_verify_fraction", "measured, as a share of what the hardware can do",
        labels, *step.value / *step.theoretical);
}

// Nagios cuts at '|' and at the line's end.
std::string one_line(const std::string& text) {
  std::string out;
  for (char c : text)
    out += c == '|' || static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  return out;
}

std::string performance_of(const std::vector<JudgedStep>& steps) {
  std::string text;
  std::map<std::string, unsigned> numbers; // of the GPUs, in the order of the report
  std::map<std::string, unsigned> times;
  for (const JudgedStep& step : steps) {
    if (!step.value || !std::isfinite(*step.value) || !step.peer.empty()) continue;
    std::string name = step.id;
    if (!step.gpu.empty()) {
      numbers.emplace(step.gpu, static_cast<unsigned>(numbers.size()));
      name += fmt::format("_{}", numbers.at(step.gpu));
    }
    if (times[name]++ > 0) continue;
    const std::string unit = step.unit == "1" ? "" : step.unit;
    // A critical range "N:" is one that alerts below N.
    std::string range;
    if (step.limit && std::isfinite(*step.limit))
      range = fmt::format(";;{:.6g}{}", *step.limit, step.at_most ? "" : ":");
    text += fmt::format(" '{}'={:.6g}{}{}", one_line(name), *step.value, unit, range);
  }
  return text;
}

} // namespace

std::string verify_junit(const std::vector<JudgedStep>& steps) {
  std::vector<JunitSuite> suites;
  for (const JudgedStep& step : steps) {
    auto at = std::find_if(suites.begin(), suites.end(),
                           [&](const JunitSuite& suite) { return suite.name == step.layer; });
    if (at == suites.end()) at = suites.insert(suites.end(), {step.layer, {}});
    at->cases.push_back({case_name(step), junit_state(step.verdict), step.why, details(step)});
  }
  return render_junit("gpuvet verify", suites);
}

std::string verify_prometheus(const Measurements& measured, const std::vector<JudgedStep>& steps,
                              int exit_status) {
  std::map<std::string, Family> families;
  add(families, "gpuvet_verify_exit_status", "exit status of the run: 0 is ready", "", exit_status);
  add(families, "gpuvet_verify_duration_seconds", "how long the run took", "", measured.seconds);
  add(families, "gpuvet_verify_info", "what was verified, with which driver",
      fmt::format("version=\"{}\",driver=\"{}\",host=\"{}\"", label(measured.version),
                  label(measured.driver), label(measured.host_kind)),
      1);
  for (const VerifiedGpu& gpu : measured.gpus)
    add(families, "gpuvet_verify_gpu_info", "the GPUs of the run",
        fmt::format("gpu=\"{}\",name=\"{}\",pci_address=\"{}\",ordinal=\"{}\"", label(gpu.uuid),
                    label(gpu.name), label(gpu.pci_address), gpu.ordinal),
        1);
  for (const JudgedStep& step : steps)
    add_step(families, step);
  return written(families);
}

NagiosLine verify_nagios(const std::string& verdict, const std::vector<JudgedStep>& steps,
                         int exit_status) {
  const bool warned = std::any_of(steps.begin(), steps.end(), [](const JudgedStep& step) {
    return step.verdict == Verdict::warn;
  });
  NagiosLine line;
  const char* word = "UNKNOWN";
  if (exit_status == 1) {
    line.status = 2;
    word = "CRITICAL";
  } else if (exit_status == 4 || (exit_status == 0 && warned)) {
    line.status = 1;
    word = "WARNING";
  } else if (exit_status == 0) {
    line.status = 0;
    word = "OK";
  }
  line.text = fmt::format("GPUVET {} - {}", word, one_line(verdict));
  if (const std::string performance = performance_of(steps); !performance.empty())
    line.text += " |" + performance;
  return line;
}

} // namespace gpuvet
