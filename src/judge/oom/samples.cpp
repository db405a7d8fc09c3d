#include "judge/oom/samples.hpp"

#include "base/text.hpp"
#include "judge/oom/amount.hpp"

#include <algorithm>
#include <charconv>

namespace gpuvet {
namespace {

constexpr size_t kMostSeries = 128;
constexpr size_t kMostSamples = 4096; // of one series
constexpr size_t kMostCells = 64;     // in a line of a poll

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  auto [rest, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

// Days since 1970-01-01 of a day of the Gregorian calendar.
int64_t days_from_civil(int64_t year, int64_t month, int64_t day) {
  year -= month <= 2 ? 1 : 0;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t of_era = year - era * 400;
  const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

// "2024/05/01 12:00:01.123" as nvidia-smi prints it, in seconds.
std::optional<double> seconds_in(std::string_view text) {
  if (text.size() < 19) return std::nullopt;
  std::string digits(text.substr(0, 19));
  for (char& c : digits)
    if (c < '0' || c > '9') c = ' ';
  const std::vector<std::string> parts = words_of(digits);
  if (parts.size() != 6) return std::nullopt;
  std::vector<int64_t> n;
  for (const std::string& part : parts)
    n.push_back(static_cast<int64_t>(decimal_number(part).value_or(0)));
  double seconds = static_cast<double>(days_from_civil(n[0], n[1], n[2]) * 86400 + n[3] * 3600 +
                                       n[4] * 60 + n[5]);
  if (text.size() > 20) seconds += number_in("0." + std::string(text.substr(20, 6))).value_or(0);
  return seconds;
}

// "memory.used [MiB]": name and unit.
std::pair<std::string, std::string> column_of(const std::string& cell) {
  const std::string text(trimmed(cell));
  const size_t at = text.find(" [");
  if (at == std::string::npos || !text.ends_with(']')) return {text, ""};
  return {text.substr(0, at), text.substr(at + 2, text.size() - at - 3)};
}

bool is_column_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
  });
}

} // namespace

OomSamples::Growing* OomSamples::growing(const std::string& id, const std::string& what,
                                         const std::string& key) {
  const std::string name = id + "\n" + what + "\n" + key;
  auto at = all_.find(name);
  if (at != all_.end()) return &at->second;
  if (all_.size() >= kMostSeries) return nullptr;
  Growing made;
  made.series.id = id;
  made.series.what = what;
  made.series.key = key;
  return &all_.emplace(name, std::move(made)).first->second;
}

void OomSamples::add(const std::string& id, const std::string& what, const std::string& key,
                     OomSample sample, std::optional<double> step, std::optional<uint64_t> total) {
  Growing* to = growing(id, what, key);
  if (to == nullptr) return;
  if (total) to->series.total = total;
  std::vector<OomSample>& samples = to->series.samples;
  if (samples.size() >= kMostSamples) { // two become one, the lower one
    for (size_t i = 0; i + 1 < samples.size(); i += 2) {
      const size_t low = samples[i + 1].bytes < samples[i].bytes ? i + 1 : i;
      samples[i / 2] = samples[low];
      to->steps[i / 2] = to->steps[low];
    }
    samples.resize(samples.size() / 2);
    to->steps.resize(samples.size());
    to->series.dropped += samples.size() * to->each;
    to->each *= 2;
  }
  if (to->in_merged == 0 || sample.bytes < to->merged.bytes) {
    to->merged = sample;
    to->merged_step = step;
  }
  if (++to->in_merged < to->each) return;
  to->in_merged = 0;
  samples.push_back(to->merged);
  to->steps.push_back(to->merged_step);
}

bool OomSamples::take_header(std::string_view line) {
  if (line.find("memory.used") == std::string_view::npos) return false;
  const std::vector<std::string> cells = split_at(line, ',');
  if (cells.size() > kMostCells) return false;
  Csv csv;
  csv.columns = cells.size();
  for (size_t i = 0; i < cells.size(); ++i) {
    const auto [name, unit] = column_of(cells[i]);
    if (!is_column_name(name)) return false;
    if (name == "timestamp") csv.time = i;
    if (name == "index" ||
        ((name == "uuid" || name == "gpu_uuid" || name == "pci.bus_id") && !csv.key))
      csv.key = i;
    if (name == "memory.used") {
      csv.used = i;
      csv.used_unit = unit;
    }
    if (name == "memory.total") {
      csv.total = i;
      csv.total_unit = unit;
    }
  }
  if (!csv.used) return false;
  csv_ = csv;
  return true;
}

void OomSamples::take_row(std::string_view line, uint64_t number) {
  std::vector<std::string> cells = split_at(line.substr(0, 1024), ',');
  // A reader of logs may have taken the time off.
  if (csv_->time && *csv_->time == 0 && cells.size() + 1 == csv_->columns)
    cells.insert(cells.begin(), std::string());
  if (cells.size() != csv_->columns) return;
  auto cell = [&](std::optional<size_t> index) {
    return index ? std::string(trimmed(cells[*index])) : std::string();
  };
  OomAmount used = parse_amount(cell(csv_->used), csv_->used_unit, grammar_.tables->units);
  if (!used || *used > kAbsurdBytes) return;
  OomAmount total;
  if (csv_->total)
    total = parse_amount(cell(csv_->total), csv_->total_unit, grammar_.tables->units);
  const std::string time = cell(csv_->time);
  std::optional<double> seconds = time.empty() ? std::nullopt : seconds_in(time);
  std::string key = cell(csv_->key);
  Growing* to = growing("nvidia-smi-csv", "used", key);
  if (to != nullptr && seconds) to->series.axis = OomAxis::second;
  add("nvidia-smi-csv", "used", key, {0, *used, number}, seconds, total.bytes);
}

std::optional<double> OomSamples::step_of(std::string_view line) const {
  std::optional<double> step;
  for (const OomPattern& axis : grammar_.axes) {
    axis.each(line, [&](size_t, const std::vector<OomGroup>& groups) {
      for (const OomGroup& group : groups)
        if (group.name == "step" && !step) step = number_in(group.text);
    });
    if (step) return step;
  }
  return std::nullopt;
}

void OomSamples::go_on(std::string_view line, uint64_t number) {
  if (csv_) take_row(line, number);
  if (line.size() > 256 || !line.starts_with('|')) return; // the tables of nvidia-smi
  for (size_t i = 0; i < grammar_.series.size(); ++i)
    if (!grammar_.tables->series[i].key.empty())
      grammar_.keys[i].each(line, [&](size_t, const std::vector<OomGroup>& groups) {
        for (const OomGroup& group : groups)
          if (group.name == "key") keys_[i] = std::string(group.text);
      });
}

void OomSamples::take(std::string_view line, uint64_t number, bool has_series) {
  if (take_header(line)) return;
  go_on(line, number);
  if (!has_series) return;
  for (size_t i = 0; i < grammar_.series.size(); ++i) {
    const OomSeriesRow& row = grammar_.tables->series[i];
    grammar_.series[i].each(line, [&](size_t, const std::vector<OomGroup>& groups) {
      OomAmount value, total;
      std::string key = keys_[i];
      std::optional<double> step;
      bool peak = false;
      for (const OomGroup& group : groups) {
        if (group.name == "peak") peak = true;
        if (group.name == "key") key = std::string(group.text);
        if (group.name == "step") step = number_in(group.text);
        if (group.name == "value")
          value = parse_amount(group.text, row.unit, grammar_.tables->units);
        if (group.name == "total")
          total = parse_amount(group.text, row.unit, grammar_.tables->units);
      }
      if (!value || peak || *value > kAbsurdBytes) return;
      if (!step) step = step_of(line);
      add(row.id, row.what, key, {0, *value, number}, step, total.bytes);
    });
  }
}

void OomSamples::take(const OomMessage& message) {
  const OomAmount& allocated = message.amount("allocated");
  if (!allocated) return;
  add("messages", "allocated", message.word("device"), {0, *allocated, message.line}, std::nullopt,
      message.amount("total").bytes);
}

void OomSamples::take(const OomTable& table) {
  for (const char* what : {"allocated", "reserved"}) {
    auto at = table.now.find(what);
    if (at == table.now.end() || !at->second) continue;
    add("memory-summary", what, table.device, {0, *at->second, at->second.line}, std::nullopt,
        std::nullopt);
  }
}

std::vector<OomSeries> OomSamples::end() {
  std::vector<OomSeries> result;
  for (auto& [name, one] : all_) {
    OomSeries& series = one.series;
    bool rising = !one.steps.empty() && one.steps.front().has_value();
    for (size_t i = 1; rising && i < one.steps.size(); ++i)
      rising = one.steps[i] && *one.steps[i] > *one.steps[i - 1];
    if (rising && series.axis == OomAxis::sample) series.axis = OomAxis::step;
    if (!rising) series.axis = OomAxis::sample;
    for (size_t i = 0; i < series.samples.size(); ++i)
      series.samples[i].at =
          rising ? *one.steps[i] : static_cast<double>(i) * static_cast<double>(one.each);
    result.push_back(std::move(series));
  }
  return result;
}

} // namespace gpuvet
