// Where this machine's kernel log can be read, best first: the ring buffer, the journal, the files
// that a logging daemon writes.
#include "os/file_entry.hpp"
#include "os/file_map.hpp"
#include "os/file_tree.hpp"
#include "os/kernel_messages.hpp"
#include "os/system_info.hpp"
#include "probe/source/live_parts.hpp"
#include "probe/source/log_lines.hpp"

#include <unistd.h>

namespace gpuvet {
namespace {

constexpr double kJournalDeadline = 1.0; // seconds
constexpr size_t kMostOfFile = size_t{16} << 20;

using ReadLine = std::optional<LogLine> (*)(std::string_view);

size_t add_lines(std::string_view text, ReadLine read, LogLines& to) {
  size_t count = 0;
  while (!text.empty()) {
    size_t end = text.find('\n');
    if (auto line = read(text.substr(0, end))) {
      to.add(std::move(*line));
      ++count;
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return count;
}

// Only members of certain groups may read the system's journal; for others journalctl would take
// its time to find nothing.
bool journal_is_readable() {
  for (const std::string folder : {"/var/log/journal", "/run/log/journal"}) {
    auto machines = list_folder(folder);
    if (!machines) continue;
    for (const std::string& machine : *machines)
      if (access(join_path(join_path(folder, machine), "system.journal").c_str(), R_OK) == 0)
        return true;
  }
  return false;
}

std::optional<KernelLog> from_journal() {
  if (!journal_is_readable()) return std::nullopt;
  auto answer = live_run({"/usr/bin/journalctl", "-k", "-b", "-o", "short-monotonic", "--no-pager",
                          "-q", "--lines=30000"},
                         kJournalDeadline);
  if (!answer || answer->timed_out) return std::nullopt;
  LogLines lines;
  if (add_lines(answer->output, journal_line, lines) == 0) return std::nullopt;
  return lines.take("journalctl -k -b");
}

// The end of a file that may be very large, from the last start of the kernel on.
std::optional<KernelLog> from_file(const std::string& path, ReadLine read, int64_t booted) {
  auto entry = file_entry(path);
  if (!entry || entry->changed < booted) return std::nullopt; // of an earlier boot
  auto map = map_file(path);
  if (!map) return std::nullopt;
  std::string_view text = map->bytes().text();
  if (text.size() > kMostOfFile) text.remove_prefix(text.size() - kMostOfFile);
  size_t start = text.rfind("Linux version ");
  size_t line_start = start == std::string_view::npos ? start : text.rfind('\n', start);
  if (line_start != std::string_view::npos) text.remove_prefix(line_start + 1);
  LogLines lines;
  if (add_lines(text, read, lines) == 0 || map->changed()) return std::nullopt;
  return lines.take(path);
}

} // namespace

KernelLog live_kernel_log() {
  LogLines lines;
  auto buffer = read_kernel_messages([&](std::string_view record) {
    if (auto line = kmsg_line(record)) lines.add(std::move(*line));
  });
  if (buffer) return lines.take("/dev/kmsg");
  if (auto log = from_journal()) return std::move(*log);
  const int64_t booted = system_info().booted;
  for (const char* path : {"/var/log/kern.log", "/var/log/messages"})
    if (auto log = from_file(path, syslog_line, booted)) return std::move(*log);
  if (auto log = from_file("/var/log/dmesg", dmesg_line, booted)) return std::move(*log);
  KernelLog log;
  log.lines = unknown<std::vector<LogLine>>(
      buffer.error().where + ": " + buffer.error().what +
      "; neither the journal nor a log file of this boot can be read");
  return log;
}

} // namespace gpuvet
