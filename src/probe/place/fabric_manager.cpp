// Fabric manager's program and what it told its log since its last start.
#include "base/text.hpp"
#include "probe/place/parts.hpp"

#include <algorithm>
#include <array>

namespace gpuvet::place {
namespace {

const std::string kLog = "/var/log/fabricmanager.log";
constexpr size_t kMostLog = size_t{2} << 20, kMostLines = 20, kLongest = 300;
constexpr std::array<std::string_view, 6> kTrouble = {
    "[ERROR]", "[CRITICAL]", "NV_WARN_NOTHING_TO_DO", "doesn't match", "don't match", "failed to"};

bool tells_trouble(const std::string& line) {
  return std::any_of(kTrouble.begin(), kTrouble.end(),
                     [&](std::string_view sign) { return holds_word(line, sign); });
}

} // namespace

void probe_fabric_manager(const Source& source, FabricManager& manager) {
  for (const char* path : {"/usr/bin/nv-fabricmanager", "/usr/local/bin/nv-fabricmanager"})
    if (manager.program.empty() && exists(source, path)) manager.program = path;
  manager.version = unknown<std::string>(kLog + " does not tell it");
  auto text = source.read_file(kLog, kMostLog);
  if (!text) {
    manager.version = unknown<std::string>(kLog + ": " + text.error().what);
    return;
  }
  manager.log_file = kLog;
  for (const std::string& line : split_at(*text, '\n')) {
    if (holds_word(line, "Log initializing at")) manager.lines.clear(); // a new start
    size_t at = line.find("Fabric Manager version");
    std::string version = at == std::string::npos ? "" : dotted_number(line.substr(at));
    if (!version.empty()) manager.version = known(version, kLog);
    if (!tells_trouble(line)) continue;
    if (manager.lines.size() == kMostLines) manager.lines.erase(manager.lines.begin());
    manager.lines.push_back(line.substr(0, kLongest));
  }
}

} // namespace gpuvet::place
