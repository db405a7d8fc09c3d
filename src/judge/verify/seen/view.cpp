#include "judge/verify/seen/view.hpp"

#include "base/compute_capability.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace gpuvet {
namespace {

std::string word_of(const VerifiedGpu& gpu, const std::string& name) {
  const auto at = gpu.words.find(name);
  return at == gpu.words.end() ? "" : at->second;
}

bool is_guest(const std::string& virtualization) {
  return virtualization == "passthrough" || virtualization == "vgpu";
}

std::string why_lowered(const Measurements& measured, const VerifiedGpu& gpu, bool mig) {
  if (measured.host_kind == "wsl2") return "under WSL 2";
  if (mig) return "on a MIG instance";
  if (measured.host_kind == "virtual machine" || is_guest(word_of(gpu, "virtualization")))
    return "in a virtual machine";
  return "";
}

GpuView view_of(const Measurements& measured, const VerifiedGpu& gpu,
                const std::vector<Gpu>* table) {
  GpuView view;
  view.gpu = &gpu;
  if (table) view.known = find_gpu(*table, gpu.name).gpu;
  for (const GpuMoment& moment : gpu.moments)
    view.by_time.push_back(&moment);
  std::stable_sort(view.by_time.begin(), view.by_time.end(),
                   [](const auto* a, const auto* b) { return a->at_s < b->at_s; });
  const std::string mig = word_of(gpu, "mig");
  view.mig = mig == "on" || mig == "part";
  view.lowered = why_lowered(measured, gpu, view.mig);
  return view;
}

// "core"; "gemm" is the one of the step's engine: "own kernel sm_90a" is gemm_sm90a.
std::string kernel_name(const VerifyTarget& target, const std::string& kernel) {
  if (kernel != "gemm" || !target.step) return kernel;
  const std::string engine = word_of(*target.step, "engine");
  const size_t at = engine.find("sm_");
  if (at == std::string::npos) return kernel;
  const size_t end = engine.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz", at + 3);
  return kernel + "_sm" + engine.substr(at + 3, std::min(end, engine.size()) - at - 3);
}

} // namespace

std::optional<double> GpuView::number(const std::string& name) const {
  const auto at = gpu->numbers.find(name);
  if (at == gpu->numbers.end() || !std::isfinite(at->second)) return std::nullopt;
  return at->second;
}

VerifyCase verify_case(const Measurements& measured, const VerifyTables& tables,
                       const Facts& facts) {
  VerifyCase all{measured, tables, {}};
  const auto table = facts.gpus();
  for (const VerifiedGpu& gpu : measured.gpus)
    all.gpus.push_back(view_of(measured, gpu, table ? *table : nullptr));
  return all;
}

const GpuView* find_view(const VerifyCase& all, const std::string& uuid) {
  for (const GpuView& view : all.gpus)
    if (view.gpu->uuid == uuid) return &view;
  return nullptr;
}

const StepResult* find_step(const VerifyCase& all, const std::string& id, const std::string& gpu,
                            const std::string& peer) {
  const StepResult* found = nullptr;
  for (const StepResult& step : all.measured.steps)
    if (step.id == id && step.gpu == gpu && step.peer == peer) found = &step;
  return found;
}

std::string word_of(const StepResult& step, const std::string& name) {
  const auto at = step.words.find(name);
  return at == step.words.end() ? "" : at->second;
}

std::optional<double> total_of(const StepResult& step, const std::string& reading) {
  const auto at = step.readings.find(reading);
  if (at == step.readings.end() || at->second.samples.empty()) return std::nullopt;
  double total = 0;
  for (double sample : at->second.samples)
    total += sample;
  return total;
}

bool may_count(const VerifyCase& all, const VerifyTarget& target, const std::string& kernel) {
  if (kernel.empty()) return true;
  const uint32_t sm =
      target.gpu ? target.gpu->gpu->sm : (all.gpus.empty() ? 0 : all.gpus.front().gpu->sm);
  return is_proved(all.tables, kernel_name(target, kernel), sm);
}

bool was_right_elsewhere(const VerifyCase& all, const VerifyTarget& target) {
  if (!target.step || !target.gpu) return false;
  return std::any_of(all.measured.steps.begin(), all.measured.steps.end(), [&](const auto& step) {
    const GpuView* other = find_view(all, step.gpu);
    return step.id == target.step->id && other && other != target.gpu &&
           other->gpu->sm == target.gpu->gpu->sm && step.state == StepState::done &&
           total_of(step, "checked").value_or(0) > 0 && total_of(step, "mismatches") == 0.0 &&
           word_of(step, "engine") == word_of(*target.step, "engine");
  });
}

std::string why_not_counted(const VerifyTarget& target, const std::string& kernel) {
  const std::string name = kernel_name(target, kernel);
  if (!target.gpu) return fmt::format("gpuvet's kernel {} is not yet proved on these GPUs", name);
  return fmt::format("gpuvet's kernel {} is not yet proved on compute capability {}", name,
                     cc_name(target.gpu->gpu->sm));
}

std::string figure_text(double value, const std::string& unit) {
  value += 0.0; // no "-0"
  const double size = std::fabs(value);
  std::string text;
  if (size >= 100 || value == std::floor(value))
    text = fmt::format("{:.0f}", value);
  else if (size >= 10)
    text = fmt::format("{:.1f}", value);
  else if (size >= 1)
    text = fmt::format("{:.2f}", value);
  else
    text = fmt::format("{:.2g}", value);
  return unit.empty() || unit == "1" ? text : text + " " + unit;
}

std::string share_text(double share) {
  return fmt::format("{:.0f} %", share * 100);
}

std::string gpu_label(const VerifyCase& all, const std::string& uuid) {
  const GpuView* view = find_view(all, uuid);
  if (view && view->gpu->ordinal >= 0) return fmt::format("GPU {}", view->gpu->ordinal);
  if (view && view->gpu->nvml_index) return fmt::format("NVML {}", *view->gpu->nvml_index);
  return uuid;
}

std::string with_stop(std::string sentence) {
  if (!sentence.empty() && sentence.back() != '.') sentence += '.';
  return sentence;
}

void conclude(JudgedStep& made, const VerifyRow& row, Verdict verdict, const std::string& detail) {
  made.verdict = verdict;
  if (verdict == Verdict::pass || verdict == Verdict::info) return;
  std::string sentence = verdict == Verdict::fail ? row.fail : row.warn;
  if (sentence.empty()) sentence = row.fail.empty() ? row.warn : row.fail;
  if (!detail.empty()) {
    if (!sentence.empty() && sentence.back() == '.') sentence.pop_back();
    sentence += ": " + detail;
  }
  made.why = with_stop(sentence);
  made.next = row.next;
  made.action = Action::none;
  if (verdict != Verdict::fail) return;
  for (Action action : {Action::monitor, Action::reset, Action::isolate, Action::fix_software})
    if (row.action == action_word(action)) made.action = action;
}

void leave_open(JudgedStep& made, Verdict verdict, std::string why) {
  made.verdict = verdict;
  made.why = with_stop(std::move(why));
  made.action = Action::none;
}

} // namespace gpuvet
