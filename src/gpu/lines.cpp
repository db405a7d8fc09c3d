#include "gpu/lines.hpp"

#include "gpu/text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <unistd.h>

namespace gpuvet {
namespace {

constexpr size_t kLongestText = 4096;   // bytes of one string
constexpr size_t kMostProcesses = 4096; // per GPU

// Takes a word off the front; nullopt when no blank follows.
std::optional<std::string_view> word(std::string_view& text) {
  size_t blank = text.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  std::string_view found = text.substr(0, blank);
  text.remove_prefix(blank + 1);
  return found;
}

} // namespace

std::optional<Line> parse_line(std::string_view text) {
  auto kind = word(text);
  auto gpu = word(text);
  auto name = word(text);
  if (!kind || kind->size() != 1 || !gpu || !name) return std::nullopt;
  Line line{(*kind)[0], kNoGpu, *name, unescaped(text)};
  if (*gpu != "-" && (!from_text(*gpu, line.gpu) || line.gpu < 0 || line.gpu >= kMostGpus))
    return std::nullopt;
  return line;
}

std::string to_text(const std::string& value) {
  return value.substr(0, kLongestText);
}

std::string to_text(double value) {
  return fmt::format("{}", value);
}

std::string to_text(const std::vector<NvmlProcess>& value) {
  std::string text;
  for (const NvmlProcess& process : value)
    text +=
        fmt::format("{}:{}:{} ", process.pid, process.bytes ? std::to_string(*process.bytes) : "-",
                    process.graphics ? "g" : "c");
  return text;
}

bool from_text(std::string_view text, std::string& to) {
  to = text.substr(0, kLongestText);
  return true;
}

bool from_text(std::string_view text, double& to) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return error == std::errc() && end == text.data() + text.size();
}

bool from_text(std::string_view text, bool& to) {
  to = text == "1";
  return to || text == "0";
}

bool from_text(std::string_view text, std::vector<NvmlProcess>& to) {
  to.clear();
  while (auto entry = word(text)) {
    size_t first = entry->find(':'), second = entry->rfind(':');
    if (first == second || to.size() >= kMostProcesses) return false;
    NvmlProcess process;
    if (!from_text(entry->substr(0, first), process.pid)) return false;
    std::string_view bytes = entry->substr(first + 1, second - first - 1);
    uint64_t number = 0;
    if (from_text(bytes, number))
      process.bytes = number;
    else if (bytes != "-")
      return false;
    process.graphics = entry->substr(second + 1) == "g";
    to.push_back(process);
  }
  return text.empty();
}

void Teller::line(char kind, int gpu, std::string_view name, std::string_view value) {
  waiting_ += fmt::format("{} {} {} {}\n", kind, gpu == kNoGpu ? "-" : std::to_string(gpu), name,
                          escaped(value));
}

void Teller::send() {
  std::string_view left = waiting_;
  while (!left.empty()) {
    ssize_t wrote = write(fd_, left.data(), left.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) break;
    left.remove_prefix(static_cast<size_t>(wrote));
  }
  waiting_.clear();
}

void Teller::about_to_call(int gpu, const char* call) {
  line('c', gpu, call, to_text(static_cast<int64_t>(seconds_since(start_) * 1e6)));
  send();
}

void Teller::stop(const char* state) {
  line('s', kNoGpu, "-", state);
}

void Teller::end() {
  line('e', kNoGpu, "-", to_text(static_cast<int64_t>(seconds_since(start_) * 1e6)));
  send();
}

} // namespace gpuvet
