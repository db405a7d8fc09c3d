// What the package system changed lately, as its log says. Only transactions that touched relevant
// packages are kept, and of them only these packages.
#include "probe/software/packages.hpp"
#include "probe/software/text.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

constexpr size_t kLargestLog = size_t{16} << 20;
constexpr size_t kMostEvents = 20;
using Event = Packages::Event;
using Change = Packages::Change;

// "upgrade libcuda1 550.90-1 -> 550.107-1 and 11 more"
std::string summary(const Event& event) {
  const Change& first = event.changes.front();
  std::string text = first.action + " " + first.package;
  if (!first.from.empty()) text += " " + first.from;
  if (!first.from.empty() && !first.to.empty()) text += " ->";
  if (!first.to.empty()) text += " " + first.to;
  if (event.changes.size() > 1)
    text += " and " + std::to_string(event.changes.size() - 1) + " more";
  return text;
}

void keep(Event& event, std::vector<Event>& events) {
  if (!event.changes.empty()) {
    event.text = summary(event);
    events.push_back(std::move(event));
  }
  event = {};
}

std::string_view without_architecture(std::string_view package) {
  return package.substr(0, package.find(':'));
}

// "a:amd64 (1.0), b:amd64 (1.0, 1.1), c:amd64 (1.0, automatic)"
void read_apt_changes(const std::string& action, std::string_view list, Event& event) {
  while (!list.empty()) {
    size_t end = list.find(')');
    std::string_view item = list.substr(0, end);
    list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
    size_t open = item.find('(');
    if (open == std::string_view::npos) return;
    std::string_view name =
        without_architecture(trimmed(item.substr(item.find_first_not_of(", "), open)));
    name = trimmed(name.substr(0, name.find('(')));
    if (!is_relevant_package(name)) continue;
    auto versions = parts_of(item.substr(open + 1), ", ");
    if (!versions.empty() && versions.back() == "automatic") versions.pop_back();
    Change change{.action = action, .package = std::string(name), .from = {}, .to = {}};
    bool removal = action == "remove" || action == "purge";
    if (versions.size() == 1) (removal ? change.from : change.to) = versions[0];
    if (versions.size() > 1) {
      change.from = versions[0];
      change.to = versions[1];
    }
    event.changes.push_back(std::move(change));
  }
}

std::vector<Event> read_apt(std::string_view text) {
  std::vector<Event> events;
  Event event;
  each_line(text, [&](std::string_view line) {
    size_t colon = line.find(':');
    if (colon == std::string_view::npos) return keep(event, events);
    std::string_view field = line.substr(0, colon), value = trimmed(line.substr(colon + 1));
    if (field == "Start-Date") {
      keep(event, events);
      auto words = parts_of(value);
      if (words.size() == 2) event.date = std::string(words[0]) + " " + std::string(words[1]);
    } else if (field == "Commandline") {
      event.command = value;
    } else if (field == "Install" || field == "Upgrade" || field == "Remove" || field == "Purge" ||
               field == "Downgrade" || field == "Reinstall") {
      read_apt_changes(lower_ascii(field), value, event);
    }
  });
  keep(event, events);
  return events;
}

// What happened within one minute is one event: these logs know no transactions.
void add_line(std::string date, Change change, std::vector<Event>& events, Event& event) {
  if (!is_relevant_package(change.package)) return;
  if (change.from == "<none>") change.from.clear();
  if (change.to == "<none>") change.to.clear();
  if (event.date.substr(0, 16) != date.substr(0, 16)) keep(event, events);
  if (event.date.empty()) event.date = std::move(date);
  event.changes.push_back(std::move(change));
}

// "2025-03-04 06:25:10 upgrade libcuda1:amd64 550.90-1 550.107-1"
std::vector<Event> read_dpkg_log(std::string_view text) {
  std::vector<Event> events;
  Event event;
  each_line(text, [&](std::string_view line) {
    auto words = parts_of(line);
    if (words.size() != 6) return;
    if (words[2] != "upgrade" && words[2] != "install" && words[2] != "remove" &&
        words[2] != "purge")
      return;
    add_line(std::string(words[0]) + " " + std::string(words[1]),
             {.action = std::string(words[2]),
              .package = std::string(without_architecture(words[3])),
              .from = std::string(words[4]),
              .to = std::string(words[5])},
             events, event);
  });
  keep(event, events);
  return events;
}

std::string plain_date(std::string_view date) { // of ISO 8601, in its own time zone
  std::string plain(date.substr(0, 19));
  std::replace(plain.begin(), plain.end(), 'T', ' ');
  return plain;
}

// "2025-03-04T06:25:10+0000 SUBDEBUG Upgrade: nvidia-driver-3:550.90-1.el9.x86_64"
std::vector<Event> read_dnf(std::string_view text) {
  std::vector<Event> events;
  Event event;
  each_line(text, [&](std::string_view line) {
    auto words = parts_of(line);
    if (words.size() < 4 || words[1] != "SUBDEBUG") return;
    std::string action = lower_ascii(words[2].substr(0, words[2].find(':')));
    std::string_view name = words[3];
    size_t release = name.rfind('-');
    size_t version = release == std::string_view::npos || release == 0
                         ? std::string_view::npos
                         : name.rfind('-', release - 1);
    if (version == std::string_view::npos) return;
    Change change{
        .action = action, .package = std::string(name.substr(0, version)), .from = {}, .to = {}};
    bool old = action == "upgraded" || action == "erase" || action == "removed" ||
               action == "obsoleted" || action == "downgraded";
    (old ? change.from : change.to) = name.substr(version + 1);
    add_line(plain_date(words[0]), std::move(change), events, event);
  });
  keep(event, events);
  return events;
}

// "2025-03-04 06:25:10|install|nvidia-driver|550.90-1|x86_64|root@host|..."
std::vector<Event> read_zypper(std::string_view text) {
  std::vector<Event> events;
  Event event;
  each_line(text, [&](std::string_view line) {
    auto fields = parts_of(line, "|");
    if (line.starts_with('#') || fields.size() < 4) return;
    std::string_view action = trimmed(fields[1]);
    if (action != "install" && action != "remove") return;
    Change change{
        .action = std::string(action), .package = std::string(fields[2]), .from = {}, .to = {}};
    (action == "remove" ? change.from : change.to) = fields[3];
    add_line(std::string(fields[0]), std::move(change), events, event);
  });
  keep(event, events);
  return events;
}

// "[2025-03-04T06:25:10+0100] [ALPM] upgraded nvidia-utils (550.90-1 -> 550.107-1)"
std::vector<Event> read_pacman_log(std::string_view text) {
  std::vector<Event> events;
  Event event;
  each_line(text, [&](std::string_view line) {
    auto words = parts_of(line, " ()[]");
    if (words.size() < 5 || words[1] != "ALPM") return;
    if (words[2] != "upgraded" && words[2] != "installed" && words[2] != "removed" &&
        words[2] != "downgraded")
      return;
    Change change{
        .action = std::string(words[2]), .package = std::string(words[3]), .from = {}, .to = {}};
    (words[2] == "installed" ? change.to : change.from) = words[4];
    if (words.size() > 6) change.to = words[6];
    add_line(plain_date(words[0]), std::move(change), events, event);
  });
  keep(event, events);
  return events;
}

std::vector<Event> from(const Source& source, const std::string& file,
                        std::vector<Event> (*reader)(std::string_view)) {
  auto text = source.read_file(file, kLargestLog);
  return text ? reader(*text) : std::vector<Event>{};
}

} // namespace

std::vector<Packages::Event> read_history(const Source& source, PackageDatabase database) {
  std::vector<Event> events;
  if (database == PackageDatabase::dpkg) {
    events = from(source, "/var/log/apt/history.log", read_apt);
    // apt's older logs are compressed, dpkg's last one is not.
    for (const char* file : {"/var/log/dpkg.log", "/var/log/dpkg.log.1"})
      if (events.empty()) events = from(source, file, read_dpkg_log);
  } else if (database == PackageDatabase::rpm) {
    events = from(source, "/var/log/dnf.rpm.log", read_dnf);
    if (events.empty()) events = from(source, "/var/log/zypp/history", read_zypper);
  } else if (database == PackageDatabase::pacman) {
    events = from(source, "/var/log/pacman.log", read_pacman_log);
  }
  if (events.size() > kMostEvents)
    events.erase(events.begin(), events.end() - std::ptrdiff_t{kMostEvents});
  return events;
}

} // namespace gpuvet
