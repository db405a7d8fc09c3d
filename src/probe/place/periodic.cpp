// Jobs that call nvidia-smi again and again: crontabs and systemd timers.
#include "base/text.hpp"
#include "probe/place/parts.hpp"

#include <array>

namespace gpuvet::place {
namespace {

constexpr size_t kMost = 100;
constexpr std::array<std::string_view, 4> kCalls = {"nvidia-smi", "gpustat", "nvitop", "dcgmi"};

bool calls_it(std::string_view text) {
  for (std::string_view call : kCalls)
    if (holds_word(text, call)) return true;
  return false;
}

// By the fields for minute and hour: "*/5 *" is 300 s. Lists and ranges are not worked out.
std::optional<double> period_of(const std::vector<std::string>& fields) {
  static constexpr std::array<std::pair<std::string_view, double>, 4> names = {
      {{"@hourly", 3600}, {"@daily", 86400}, {"@midnight", 86400}, {"@weekly", 604800}}};
  for (const auto& [name, seconds] : names)
    if (fields[0] == name) return seconds;
  if (fields.size() < 2) return std::nullopt;
  const std::string& minute = fields[0];
  if (minute == "*") return 60;
  if (minute.starts_with("*/")) {
    auto step = decimal_number(std::string_view(minute).substr(2));
    if (step && *step > 0 && *step < 60) return static_cast<double>(*step) * 60;
  }
  if (!decimal_number(minute)) return std::nullopt;
  if (fields[1] == "*") return 3600;
  return decimal_number(fields[1]) ? std::optional<double>(86400) : std::nullopt;
}

void read_crontab(const Source& source, const std::string& file, std::vector<PeriodicJob>& jobs) {
  size_t number = 0;
  for (const std::string& line : lines(source, file)) {
    ++number;
    std::string text(trimmed(line));
    std::vector<std::string> fields = words_of(text);
    if (fields.empty() || text[0] == '#' || !calls_it(text) || jobs.size() == kMost) continue;
    jobs.push_back({file + ":" + std::to_string(number), text, period_of(fields)});
  }
}

void read_scripts(const Source& source, const std::string& folder, double period_s,
                  std::vector<PeriodicJob>& jobs) {
  for (const std::string& file : matching(source, folder, "*"))
    for (const std::string& line : lines(source, file)) {
      std::string text(trimmed(line));
      if (text.empty() || text[0] == '#' || !calls_it(text) || jobs.size() == kMost) continue;
      jobs.push_back({file, text, period_s});
      break;
    }
}

// "*:0/5" and "*-*-* *:0/5:00" every five minutes, "minutely", "*:*:00".
std::optional<double> calendar_period(const std::string& text) {
  if (text == "minutely" || text == "*:*" || text == "*:*:00" || text == "*-*-* *:*:00") return 60;
  if (text == "hourly") return 3600;
  if (text == "daily") return 86400;
  for (const char* start : {"*:0/", "*:00/"}) {
    size_t at = text.find(start);
    if (at == std::string::npos) continue;
    std::string_view rest = std::string_view(text).substr(at + std::string_view(start).size());
    auto minutes = decimal_number(rest.substr(0, rest.find(':')));
    if (minutes && *minutes > 0 && *minutes < 60) return static_cast<double>(*minutes) * 60;
  }
  return std::nullopt;
}

void read_timer(const Source& source, const std::string& folder, const std::string& file,
                std::vector<PeriodicJob>& jobs) {
  std::string service =
      file.substr(0, file.size() - std::string_view(".timer").size()) + ".service";
  std::optional<double> period;
  for (const Setting& setting : settings_in(lines(source, file))) {
    if (setting.key == "OnUnitActiveSec" || setting.key == "OnUnitInactiveSec")
      period = time_span(setting.value);
    if (setting.key == "OnCalendar") period = calendar_period(setting.value);
    if (setting.key == "Unit") service = folder + "/" + setting.value;
  }
  for (const Setting& setting : settings_in(lines(source, service)))
    if (setting.key.starts_with("ExecStart") && calls_it(setting.value) && jobs.size() < kMost)
      jobs.push_back({file, setting.value, period});
}

} // namespace

void probe_periodic(const Source& source, std::vector<PeriodicJob>& jobs) {
  read_crontab(source, "/etc/crontab", jobs);
  for (const char* folder : {"/etc/cron.d", "/var/spool/cron/crontabs", "/var/spool/cron"})
    for (const std::string& file : matching(source, folder, "*"))
      read_crontab(source, file, jobs);
  read_scripts(source, "/etc/cron.hourly", 3600, jobs);
  const std::string units = "/etc/systemd/system";
  for (const std::string& file : matching(source, units, "*.timer"))
    read_timer(source, units, file, jobs);
}

} // namespace gpuvet::place
