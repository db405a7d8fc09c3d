// Lines of modprobe.d and modules-load.d that name a GPU driver. A file in /etc hides one of the
// same name in /run and /usr/lib (modprobe.d(5), modules-load.d(5)).
#include "base/text.hpp"
#include "probe/kernel/parts.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace gpuvet::kernel {
namespace {

constexpr std::array<std::string_view, 5> kPlaces = {"/etc/", "/run/", "/usr/local/lib/",
                                                     "/usr/lib/", "/lib/"};

bool names_a_driver(const std::string& line) {
  return holds_word(line, "nvidia") || holds_word(line, "nouveau") || holds_word(line, "nova_core");
}

void take_lines(const Source& source, const std::string& file, std::vector<std::string>& found) {
  constexpr size_t most = 500;
  size_t number = 0;
  for (const std::string& line : lines(source, file)) {
    ++number;
    std::string text(trimmed(line));
    bool comment = text.empty() || text[0] == '#' || text[0] == ';';
    if (!comment && names_a_driver(text) && found.size() < most)
      found.push_back(file + ":" + std::to_string(number) + ": " + text);
  }
}

std::vector<std::string> lines_of(const Source& source, const std::string& kind) {
  std::vector<std::string> found;
  std::set<std::string> seen; // names; the first place wins
  for (std::string_view place : kPlaces) {
    std::string folder = std::string(place) + kind;
    for (const std::string& file : matching(source, folder, "*.conf"))
      if (seen.insert(file.substr(file.rfind('/') + 1)).second) take_lines(source, file, found);
  }
  return found;
}

} // namespace

void probe_settings(const Source& source, KernelSide& side) {
  side.modprobe_lines = lines_of(source, "modprobe.d");
  side.modules_load = lines_of(source, "modules-load.d");
  take_lines(source, "/etc/modules", side.modules_load);
}

} // namespace gpuvet::kernel
