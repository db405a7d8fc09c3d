#include "judge/texts/forms.hpp"

#include "base/text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace gpuvet {
namespace {

constexpr uint64_t kKiB = 1024;

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "12.5" without signs and exponents, of at most 15 digits before the point.
std::optional<double> plain_number(std::string_view text) {
  size_t point = text.find('.');
  std::string_view whole = text.substr(0, point);
  std::string_view part = point == std::string_view::npos ? "" : text.substr(point + 1);
  if (!all_digits(whole) || whole.size() > 15 || (!part.empty() && !all_digits(part)))
    return std::nullopt;
  double value = 0, unit = 0.1;
  for (char digit : whole)
    value = value * 10 + (digit - '0');
  for (char digit : part.substr(0, 9)) {
    value += unit * (digit - '0');
    unit /= 10;
  }
  return value;
}

std::optional<std::string> bytes_of(std::string_view value, uint64_t unit) {
  for (std::string_view word : {"MiB", "GiB", "KiB", "MB", "GB"})
    if (value.ends_with(word)) value.remove_suffix(word.size());
  auto number = plain_number(trimmed(value));
  if (!number || *number * static_cast<double>(unit) > 1e18) return std::nullopt;
  return fmt::format("{}",
                     static_cast<uint64_t>(std::llround(*number * static_cast<double>(unit))));
}

std::optional<std::string> yes_or_no(std::string_view value) {
  std::string low = lower_ascii(value);
  for (std::string_view yes : {"yes", "true", "enabled", "on", "1", "cuda"})
    if (low == yes) return "yes";
  for (std::string_view no : {"no", "false", "disabled", "off", "0"})
    if (low == no) return "no";
  return std::nullopt;
}

// 12020 -> 12.2, as cuDriverGetVersion and CUDA_VERSION count.
std::optional<std::string> of_thousands(std::string_view value) {
  auto number = decimal_number(value);
  if (!number || *number < 1000 || *number > 99999) return std::nullopt;
  return fmt::format("{}.{}", *number / 1000, *number % 1000 / 10);
}

// 1201 -> 12.1, as xFormers counts.
std::optional<std::string> of_hundreds(std::string_view value) {
  auto number = decimal_number(value);
  if (number && *number >= 10000) return of_thousands(value);
  if (!number || *number < 100) return std::nullopt;
  return fmt::format("{}.{}", *number / 100, *number % 100);
}

// "cu118" without its letters: 118 -> 11.8; 92 -> 9.2; 12 -> 12, which is all it says.
std::optional<std::string> of_tag(std::string_view value) {
  if (value.find('.') != std::string_view::npos) return std::string(value); // "cu10.1"
  if (!all_digits(value) || value.size() > 4) return std::nullopt;
  if (value.size() == 2 && value[0] == '1') return std::string(value);
  if (value.size() < 2) return std::nullopt;
  return fmt::format("{}.{}", value.substr(0, value.size() - 1), value.substr(value.size() - 1));
}

// "310" -> 3.10
std::optional<std::string> of_python_tag(std::string_view value) {
  if (!all_digits(value) || value.size() < 2 || value.size() > 4) return std::nullopt;
  return fmt::format("{}.{}", value.substr(0, 1), value.substr(1));
}

// "86" -> 8.6, "120" -> 12.0
std::optional<std::string> of_capability(std::string_view value) {
  if (!all_digits(value) || value.size() < 2 || value.size() > 3) return std::nullopt;
  return fmt::format("{}.{}", value.substr(0, value.size() - 1), value.substr(value.size() - 1));
}

// CUDNN_VERSION: 8902 -> 8.9.2; since cuDNN 9 it counts by ten thousands, 90100 -> 9.1.0.
std::optional<std::string> of_cudnn(std::string_view value) {
  auto number = decimal_number(value);
  if (!number || *number < 1000 || *number > 999999) return std::nullopt;
  uint64_t unit = *number >= 90000 ? 10000 : 1000;
  return fmt::format("{}.{}.{}", *number / unit, *number % unit / 100, *number % 100);
}

std::optional<std::string> gpu_name(std::string_view value) {
  value = trimmed(value);
  if (value.find("...") != std::string_view::npos) return std::nullopt; // cut off by nvidia-smi
  if (value.size() < 2 || value.starts_with("N/A")) return std::nullopt;
  return std::string(value);
}

std::string os_id(std::string_view value, const TextTables& tables) {
  std::string low = lower_ascii(trimmed(value));
  if (low.starts_with("linux ") && low != "linux mint") low.erase(0, 6); // "Linux Ubuntu 16.04"
  for (const TextOs& system : tables.systems)
    if (lower_ascii(system.name) == low) return system.id;
  for (const TextOs& system : tables.systems)
    if (low.starts_with(lower_ascii(system.name) + " ")) return system.id;
  return low;
}

// "'sm_50', 'sm_60'" -> "sm_50 sm_60"
std::string arch_list(std::string_view value) {
  std::string text;
  for (char c : value)
    if (c != '\'' && c != ',') text += c;
  return text;
}

using Form = std::optional<std::string> (*)(std::string_view, const TextTables&);

struct NamedForm {
  std::string_view name;
  Form form;
};

constexpr std::array<NamedForm, 17> kForms = {{
    {"MiB", [](std::string_view v, const TextTables&) { return bytes_of(v, kKiB * kKiB); }},
    {"GiB", [](std::string_view v, const TextTables&) { return bytes_of(v, kKiB * kKiB * kKiB); }},
    {"KiB", [](std::string_view v, const TextTables&) { return bytes_of(v, kKiB); }},
    {"yesno", [](std::string_view v, const TextTables&) { return yes_or_no(v); }},
    {"cuda", [](std::string_view v, const TextTables&) { return of_thousands(v); }},
    {"hundreds", [](std::string_view v, const TextTables&) { return of_hundreds(v); }},
    {"tag", [](std::string_view v, const TextTables&) { return of_tag(v); }},
    {"py", [](std::string_view v, const TextTables&) { return of_python_tag(v); }},
    {"cc", [](std::string_view v, const TextTables&) { return of_capability(v); }},
    {"cudnn", [](std::string_view v, const TextTables&) { return of_cudnn(v); }},
    {"gpu", [](std::string_view v, const TextTables&) { return gpu_name(v); }},
    {"os", [](std::string_view v, const TextTables& t) { return std::optional(os_id(v, t)); }},
    {"lower", [](std::string_view v, const TextTables&) { return std::optional(lower_ascii(v)); }},
    {"archs", [](std::string_view v, const TextTables&) { return std::optional(arch_list(v)); }},
    {"unquoted",
     [](std::string_view v, const TextTables&) { return std::optional(std::string(unquoted(v))); }},
    {"size",
     [](std::string_view v, const TextTables&) -> std::optional<std::string> {
       auto bytes = size_in_bytes(v, 0);
       return bytes ? std::optional(fmt::format("{}", *bytes)) : std::nullopt;
     }},
    {"df",
     [](std::string_view v, const TextTables&) -> std::optional<std::string> {
       if (v == "unlimited") return std::string(v);
       auto bytes = size_in_bytes(v, kKiB);
       return bytes ? std::optional(fmt::format("{}", *bytes)) : std::nullopt;
     }},
}};

} // namespace

std::optional<uint64_t> size_in_bytes(std::string_view text, uint64_t bare) {
  text = trimmed(text);
  size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  auto number = plain_number(text.substr(0, end));
  std::string unit = lower_ascii(trimmed(text.substr(end)));
  if (!number) return std::nullopt;
  uint64_t each = 1;
  if (unit.empty()) {
    each = bare;
  } else {
    size_t power = std::string_view("bkmgtp").find(unit[0]);
    std::string_view rest = std::string_view(unit).substr(1);
    if (power == std::string_view::npos ||
        (!rest.empty() && rest != "i" && rest != "b" && rest != "ib"))
      return std::nullopt;
    for (size_t i = 0; i < power; ++i)
      each *= kKiB;
  }
  if (each == 0 || *number * static_cast<double>(each) > 1e18) return std::nullopt;
  return static_cast<uint64_t>(std::llround(*number * static_cast<double>(each)));
}

std::optional<std::string> in_form(std::string_view value, std::string_view form,
                                   const TextTables& tables) {
  value = trimmed(value);
  if (value.empty()) return std::nullopt;
  if (form.empty()) return std::string(value);
  for (const NamedForm& known : kForms)
    if (known.name == form) return known.form(value, tables);
  return std::nullopt;
}

std::optional<std::string> filled(std::string_view text,
                                  const std::map<std::string, std::string>& groups,
                                  const TextTables& tables) {
  std::string result;
  for (;;) {
    size_t open = text.find('{');
    result += text.substr(0, open);
    if (open == std::string_view::npos) return result;
    size_t close = text.find('}', open);
    if (close == std::string_view::npos) return std::nullopt;
    std::string_view field = text.substr(open + 1, close - open - 1);
    size_t bar = field.find('|');
    auto found = groups.find(std::string(field.substr(0, bar)));
    if (found == groups.end()) return std::nullopt;
    auto value =
        in_form(found->second, bar == std::string_view::npos ? "" : field.substr(bar + 1), tables);
    if (!value) return std::nullopt;
    result += *value;
    text.remove_prefix(close + 1);
  }
}

} // namespace gpuvet
