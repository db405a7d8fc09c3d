#include "gpu/text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstring>

namespace gpuvet {

std::string bounded_text(const char* text, size_t most) {
  return {text, strnlen(text, most)};
}

std::string sysfs_address(std::string_view text) {
  size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::string(text);
  std::string_view domain = text.substr(0, colon);
  while (domain.size() > 4 && domain[0] == '0') // domains over ffff exist: Hyper-V, VMD
    domain.remove_prefix(1);
  std::string address = std::string(domain) + std::string(text.substr(colon));
  for (char& c : address)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return address;
}

std::string uuid_text(std::string_view kind, const unsigned char (&bytes)[16]) {
  std::string text(kind);
  for (size_t at = 0; at < sizeof(bytes); ++at) {
    bool group = at == 0 || at == 4 || at == 6 || at == 8 || at == 10;
    text += fmt::format("{}{:02x}", group ? "-" : "", bytes[at]);
  }
  return text;
}

std::string last_words(const std::string& printed) {
  size_t end = printed.find_last_not_of(" \n\r\t");
  if (end == std::string::npos) return {};
  size_t begin = printed.rfind('\n', end);
  begin = begin == std::string::npos ? 0 : begin + 1;
  return "; it printed: " + printed.substr(begin, std::min<size_t>(end + 1 - begin, 200));
}

std::string signal_name(int number) {
  const char* name = sigabbrev_np(number);
  return name ? std::string("SIG") + name : fmt::format("signal {}", number);
}

const std::vector<std::string>& driver_folders() {
  static const std::vector<std::string> folders = {
      "/usr/lib/wsl/lib",
      "/usr/local/nvidia/lib64",
      "/home/kubernetes/bin/nvidia/lib64",
      "/run/nvidia/driver/usr/lib/x86_64-linux-gnu",
      "/run/nvidia/driver/usr/lib/aarch64-linux-gnu",
      "/run/nvidia/driver/usr/lib64",
      "/usr/lib64-nvidia",
      "/run/opengl-driver/lib",
      "/usr/lib/aarch64-linux-gnu/nvidia",
      "/usr/lib/aarch64-linux-gnu/tegra",
  };
  return folders;
}

std::string escaped(std::string_view text) {
  std::string result;
  for (char c : text)
    if (c == '\n')
      result += "\\n";
    else if (c == '\\')
      result += "\\\\";
    else
      result += c;
  return result;
}

std::string unescaped(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size(); ++at) {
    bool special = text[at] == '\\' && at + 1 < text.size();
    if (special) ++at;
    result += special && text[at] == 'n' ? '\n' : text[at];
  }
  return result;
}

} // namespace gpuvet
