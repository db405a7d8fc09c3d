// Reading small configuration files: sections of "key = value", time spans.
#include "base/text.hpp"
#include "probe/place/parts.hpp"

#include <array>
#include <cstdlib>
#include <utility>

namespace gpuvet::place {
namespace {

// [plugins."io.containerd.grpc.v1.cri".containerd] -> plugins.io.containerd.grpc.v1.cri.containerd
std::string section_name(std::string_view line) {
  std::string name;
  for (char c : line)
    if (c != '[' && c != ']' && c != '"' && c != '\'' && c != ' ') name += c;
  return name;
}

// Without what follows a '#' outside quotes.
std::string_view without_comment(std::string_view text) {
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (quote != 0) {
      if (text[i] == quote) quote = 0;
    } else if (text[i] == '"' || text[i] == '\'') {
      quote = text[i];
    } else if (text[i] == '#') {
      return text.substr(0, i);
    }
  }
  return text;
}

bool is_section(std::string_view text) {
  return text.starts_with('[') && text.ends_with(']') && !holds_word(text, "=");
}

} // namespace

std::string variable(const Environment& environment, const std::string& name) {
  auto at = environment.find(name);
  return at == environment.end() ? "" : at->second;
}

std::vector<std::string> names_in(const Source& source, const std::string& folder) {
  auto names = source.list(folder);
  return names ? std::move(*names) : std::vector<std::string>{};
}

std::vector<Setting> settings_in(const std::vector<std::string>& lines) {
  std::vector<Setting> settings;
  std::string section;
  uint32_t number = 0;
  for (const std::string& line : lines) {
    ++number;
    std::string_view text = trimmed(line);
    if (text.empty() || text[0] == '#' || text[0] == ';') continue;
    text = trimmed(without_comment(text));
    if (is_section(text)) {
      section = section_name(text);
    } else if (auto pair = key_and_value(text, '=')) {
      settings.push_back({section, std::string(unquoted(pair->first)),
                          std::string(unquoted(pair->second)), number});
    }
  }
  return settings;
}

std::vector<std::string> sections_in(const std::vector<std::string>& lines) {
  std::vector<std::string> sections;
  for (const std::string& line : lines) {
    std::string_view text = trimmed(without_comment(trimmed(line)));
    if (is_section(text)) sections.push_back(section_name(text));
  }
  return sections;
}

std::optional<double> time_span(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, double>, 14> units = {{{"s", 1},
                                                                                 {"sec", 1},
                                                                                 {"second", 1},
                                                                                 {"seconds", 1},
                                                                                 {"ms", 0.001},
                                                                                 {"m", 60},
                                                                                 {"min", 60},
                                                                                 {"minute", 60},
                                                                                 {"minutes", 60},
                                                                                 {"h", 3600},
                                                                                 {"hr", 3600},
                                                                                 {"hour", 3600},
                                                                                 {"hours", 3600},
                                                                                 {"d", 86400}}};
  double total = 0;
  text = trimmed(text);
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
    if (digits == 0 || digits > 12) return std::nullopt;
    double number = std::strtod(std::string(text.substr(0, digits)).c_str(), nullptr);
    text = trimmed(text.substr(digits));
    size_t letters = std::min(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz"), text.size());
    std::string_view unit = text.substr(0, letters);
    double factor = unit.empty() ? 1 : 0;
    for (const auto& [name, seconds] : units)
      if (name == unit) factor = seconds;
    if (factor == 0) return std::nullopt;
    total += number * factor;
    text = trimmed(text.substr(letters));
  }
  return total;
}

std::string dotted_number(std::string_view text) {
  constexpr std::string_view kind = "0123456789.";
  for (size_t at = text.find_first_of("0123456789"); at != std::string_view::npos;) {
    size_t end = std::min(text.find_first_not_of(kind, at), text.size());
    std::string_view number = text.substr(at, end - at);
    while (number.ends_with('.'))
      number.remove_suffix(1);
    if (holds_word(number, ".")) return std::string(number);
    at = text.find_first_of("0123456789", end);
  }
  return {};
}

} // namespace gpuvet::place
