// Events in the kernel log. The driver may print one Xid hundreds of thousands of times, so lines
// that differ in numbers only are one event with a count.
//   NVRM: Xid (PCI:0000:65:00): 79, pid=1234, name=python, GPU has fallen off the bus.
//   NVRM: Xid (PCI:0000:18:00 GPU-I:02): 31, pid=..., name=..., Ch 00000008, ...
//   nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 28006, Non-fatal, Link 46 ...
#include "base/text.hpp"
#include "probe/kernel/parts.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace gpuvet::kernel {
namespace {

constexpr size_t kMostEvents = 1000, kLongestDetail = 400;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// Numbers as '#', so that repeated events with other addresses look alike.
std::string signature_of(std::string_view text) {
  std::string signature;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    bool starts_word = i == 0 || text[i - 1] == ' ' || !is_hex(text[i - 1]);
    while (end < text.size() && is_hex(text[end]))
      ++end;
    bool has_digit = std::any_of(text.begin() + static_cast<std::ptrdiff_t>(i),
                                 text.begin() + static_cast<std::ptrdiff_t>(end), is_digit);
    if (starts_word && has_digit) {
      signature += '#';
      i = end;
    } else {
      signature += text[i++];
    }
  }
  return signature;
}

// "PCI:0000:65:00", "PCI:0000:18:00 GPU-I:02", "0000:65:00" -> the address
std::string address_of(std::string_view text) {
  if (text.starts_with("PCI:")) text.remove_prefix(4);
  return std::string(text.substr(0, text.find(' ')));
}

// Takes "pid=1234, name=python" from the front of the text.
std::string take_process(std::string_view& text) {
  if (!text.starts_with("pid=")) return {};
  size_t comma = text.find(", ");
  size_t end = comma;
  if (comma != std::string_view::npos && text.substr(comma + 2).starts_with("name="))
    end = text.find(", ", comma + 2);
  std::string process(text.substr(0, end));
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
  return process;
}

std::optional<XidEvent> event_of(const LogLine& line) {
  std::string_view text = line.text;
  XidEvent event;
  size_t at = text.find("Xid (");
  if (at == std::string_view::npos) return std::nullopt;
  event.sxid = at > 0 && text[at - 1] == 'S';
  bool by_driver = holds_word(text.substr(0, at), event.sxid ? "nvidia-nvswitch" : "NVRM:");
  text.remove_prefix(at + 5);
  size_t close = text.find("): ");
  if (!by_driver || close == std::string_view::npos) return std::nullopt;
  event.pci_address = address_of(text.substr(0, close));
  text.remove_prefix(close + 3);
  size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  auto code = decimal_number(text.substr(0, digits));
  if (!code || *code > UINT32_MAX) return std::nullopt;
  event.code = static_cast<uint32_t>(*code);
  text.remove_prefix(digits);
  if (text.starts_with(", ")) text.remove_prefix(2);
  event.process = take_process(text);
  event.detail = std::string(trimmed(text)).substr(0, kLongestDetail);
  event.first_s = event.last_s = line.seconds;
  event.count += line.more;
  return event;
}

} // namespace

std::vector<XidEvent> xids_of(const std::vector<LogLine>& log) {
  std::vector<XidEvent> events;
  std::map<std::tuple<std::string, uint32_t, bool, std::string>, size_t> seen;
  for (const LogLine& line : log) {
    std::optional<XidEvent> event = event_of(line);
    if (!event) continue;
    auto key =
        std::tuple(event->pci_address, event->code, event->sxid, signature_of(event->detail));
    auto [place, is_new] = seen.emplace(std::move(key), events.size());
    if (!is_new) {
      XidEvent& first = events[place->second];
      first.count += 1 + line.more;
      first.last_s = line.seconds;
    } else if (events.size() < kMostEvents) {
      events.push_back(std::move(*event));
    } else {
      seen.erase(place);
    }
  }
  return events;
}

void probe_log(const Source& source, KernelSide& side) {
  side.log = source.kernel_log();
  if (!side.log.lines) return;
  side.xids = xids_of(*side.log.lines);
  auto resumed = [](const LogLine& line) { return holds_word(line.text, "PM: suspend exit"); };
  side.suspends =
      static_cast<uint64_t>(std::count_if(side.log.lines->begin(), side.log.lines->end(), resumed));
}

} // namespace gpuvet::kernel
