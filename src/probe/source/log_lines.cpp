#include "probe/source/log_lines.hpp"

#include <algorithm>
#include <charconv>

namespace gpuvet {
namespace {

constexpr size_t kFirst = 12, kLast = 4; // lines kept of each kind
constexpr size_t kMostKept = 3000;       // lines in all
constexpr size_t kLongestLine = 1000;    // bytes

// What bears on GPUs: the driver and its rivals, the PCI bus and its error reports, IOMMU, power
// states, what kills or blocks programs, the network of a cluster, what loads modules.
constexpr std::string_view kRelevant =
    R"(NVRM|[Nn]vidia|NVIDIA|nouveau|nova[-_ ]|SXid|pcieport|AER:|pciehp|DMAR|IOMMU|AMD-Vi|)"
    R"(BAR \d.*(no space|fail|can't|invalid)|no space for|available PCIe bandwidth|PM: (suspend|hibernation|resume|freeze)|)"
    R"(oom-kill|Out of memory|oom_reaper|blocked for more than|soft lockup|rcu.*stall|)"
    R"(segfault at .* in |traps: .* in lib|Hardware Error|mlx5|ib_core|peer_?mem|)"
    R"(nfs: server|file-max|fork rejected|Command line:|^Linux version|[Ll]ocked down|Lockdown:|[Ss]ecure ?[Bb]oot|)"
    R"(module verification failed|Loading of |disagrees about version|gVisor|vfio|)"
    R"(WPR2|efifb|simple-?fb|simpledrm|HMM|Kernel panic|general protection|Oops)";

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// How much of the line counts as it stands: of an Xid the GPU and the code.
size_t verbatim_part(std::string_view text) {
  size_t xid = text.find("Xid (");
  size_t close = xid == std::string_view::npos ? xid : text.find("): ", xid);
  if (close == std::string_view::npos) return 0;
  return std::min(text.find(',', close), text.size());
}

// FNV-1a over the line with numbers left out, apart from those beside a colon: PCI addresses.
uint64_t kind_of(std::string_view text) {
  uint64_t hash = 14695981039346656037U;
  auto mix = [&](char c) { hash = (hash ^ static_cast<uint8_t>(c)) * 1099511628211U; };
  const size_t verbatim = verbatim_part(text);
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    bool has_digit = false;
    while (end < text.size() && is_word(text[end])) {
      has_digit |= text[end] >= '0' && text[end] <= '9';
      ++end;
    }
    const bool beside_colon =
        (at > 0 && text[at - 1] == ':') || (end < text.size() && text[end] == ':');
    if (end > at && has_digit && !beside_colon && at >= verbatim) {
      mix('#');
    } else {
      end = std::max(end, at + 1);
      for (size_t i = at; i < end; ++i)
        mix(text[i]);
    }
    at = end;
  }
  return hash;
}

std::optional<double> seconds_in(std::string_view text) {
  while (text.starts_with(' '))
    text.remove_prefix(1);
  double seconds = 0;
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, seconds);
  return error == std::errc{} && stop == end ? std::optional(seconds) : std::nullopt;
}

// Takes "[  12.345678] " from the front.
std::optional<double> take_seconds(std::string_view& text) {
  size_t end = text.find(']');
  if (!text.starts_with('[') || end == std::string_view::npos) return std::nullopt;
  auto seconds = seconds_in(text.substr(1, end - 1));
  if (!seconds) return std::nullopt;
  text.remove_prefix(std::min(end + 2, text.size()));
  return seconds;
}

std::string shortened(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with('\r'))
    text.remove_suffix(1);
  return std::string(text.substr(0, kLongestLine));
}

} // namespace

std::optional<LogLine> kmsg_line(std::string_view record) {
  size_t semicolon = record.find(';');
  if (semicolon == std::string_view::npos) return std::nullopt;
  std::string_view head = record.substr(0, semicolon);
  uint64_t microseconds = 0;
  size_t first = head.find(','), second = head.find(',', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return std::nullopt;
  std::string_view time = head.substr(second + 1);
  auto [stop, error] = std::from_chars(time.data(), time.data() + time.size(), microseconds);
  if (error != std::errc{}) return std::nullopt;
  std::string_view text = record.substr(semicolon + 1);
  return LogLine{.seconds = static_cast<double>(microseconds) / 1e6,
                 .text = shortened(text.substr(0, text.find('\n')))};
}

std::optional<LogLine> dmesg_line(std::string_view line) {
  auto seconds = take_seconds(line);
  if (!seconds) return std::nullopt;
  return LogLine{.seconds = seconds, .text = shortened(line)};
}

std::optional<LogLine> journal_line(std::string_view line) {
  auto seconds = take_seconds(line);
  constexpr std::string_view mark = " kernel: ";
  size_t at = line.find(mark);
  if (!seconds || at == std::string_view::npos) return std::nullopt;
  return LogLine{.seconds = seconds, .text = shortened(line.substr(at + mark.size()))};
}

std::optional<LogLine> syslog_line(std::string_view line) {
  constexpr std::string_view mark = " kernel: ";
  size_t at = line.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + mark.size());
  auto seconds = take_seconds(line);
  return LogLine{.seconds = seconds, .text = shortened(line)};
}

LogLines::LogLines() {
  if (auto regex = Regex::compile(kRelevant)) relevant_ = std::move(*regex);
}

void LogLines::add(LogLine line) {
  if (line.text.size() > kLongestLine) line.text.resize(kLongestLine);
  if (!relevant_ || !relevant_->found_in(line.text)) return;
  Kind& kind = kinds_[kind_of(line.text)];
  ++order_;
  if (kind.first.size() < kFirst && kept_ < kMostKept) {
    kind.first.push_back({order_, std::move(line)});
    ++kept_;
    return;
  }
  if (kind.first.empty()) { // no room for a new kind
    kinds_.erase(kind_of(line.text));
    ++left_out_;
    return;
  }
  kind.last.push_back({order_, std::move(line)});
  if (kind.last.size() <= kLast) return;
  kind.last.pop_front();
  ++kind.left_out;
}

KernelLog LogLines::take(const std::string& from) {
  std::vector<Kept> all;
  for (auto& [hash, kind] : kinds_) {
    kind.first.back().line.more = kind.left_out;
    left_out_ += kind.left_out;
    std::move(kind.first.begin(), kind.first.end(), std::back_inserter(all));
    std::move(kind.last.begin(), kind.last.end(), std::back_inserter(all));
  }
  std::sort(all.begin(), all.end(), [](const Kept& a, const Kept& b) { return a.order < b.order; });
  std::vector<LogLine> lines;
  lines.reserve(all.size());
  for (Kept& kept : all)
    lines.push_back(std::move(kept.line));
  KernelLog log{.lines = known(std::move(lines), from), .from = from, .left_out = left_out_};
  *this = LogLines();
  return log;
}

} // namespace gpuvet
