#include "judge/rules/visible_devices.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <optional>

namespace gpuvet {
namespace {

constexpr size_t kUuidLength = 40; // "GPU-" and 36 characters; more are not looked at

std::vector<std::string> entries(std::string_view value) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= value.size();) {
    size_t comma = std::min(value.find(',', at), value.size());
    parts.emplace_back(value.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

bool blank(std::string_view text) {
  return text.find_first_not_of(" \t") == std::string_view::npos;
}

// As strtol(text, nullptr, 10) cut to 32 bits; nullopt: no digits.
std::optional<int32_t> leading_number(std::string_view text) {
  size_t at = std::min(text.find_first_not_of(" \t\n"), text.size());
  bool negative = at < text.size() && text[at] == '-';
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  size_t first = at;
  uint32_t number = 0;
  for (; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])); ++at)
    number = number * 10 + static_cast<uint32_t>(text[at] - '0');
  if (at == first) return std::nullopt;
  return static_cast<int32_t>(negative ? 0 - number : number);
}

bool begins_alike(std::string_view uuid, std::string_view start) {
  if (uuid.size() < start.size()) return false;
  return std::equal(start.begin(), start.end(), uuid.begin(), [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  });
}

struct Place {
  std::optional<size_t> device;
  std::string why; // there is none
};

Place by_uuid(std::string_view entry, const std::vector<std::string>& uuids) {
  Place place;
  for (size_t i = 0; i < uuids.size(); ++i) {
    if (uuids[i].empty() || !begins_alike(uuids[i], entry.substr(0, kUuidLength))) continue;
    if (place.device) return {std::nullopt, "several GPUs have a UUID that begins like this"};
    place.device = i;
  }
  if (!place.device) place.why = "no GPU here has this UUID";
  return place;
}

Place by_number(std::string_view entry, size_t count) {
  std::optional<int32_t> number = leading_number(entry);
  if (!number) return {std::nullopt, "it is neither a number nor a UUID"};
  if (*number >= 0 && static_cast<size_t>(*number) < count)
    return {static_cast<size_t>(*number), {}};
  if (*number < 0) return {std::nullopt, "a negative number ends the list"};
  if (count == 1) return {std::nullopt, "the only GPU has number 0"};
  return {std::nullopt, fmt::format("the {} GPUs have numbers 0 to {}", count, count - 1)};
}

enum class Kind : uint8_t { number, gpu, mig };

Kind kind_of(std::string_view entry) {
  if (entry.starts_with("GPU-")) return Kind::gpu;
  return entry.starts_with("MIG-") ? Kind::mig : Kind::number;
}

} // namespace

VisibleDevices read_visible_devices(std::string_view value, const std::vector<std::string>& uuids,
                                    bool has_mig) {
  VisibleDevices result;
  result.empty = blank(value);
  if (result.empty) return result;
  result.listed = entries(value);
  Kind kind = kind_of(result.listed.front());
  for (const std::string& entry : result.listed) {
    Place place;
    if (kind_of(entry) != kind) {
      place.why = "numbers and UUIDs do not mix";
    } else if (kind == Kind::mig) {
      if (has_mig) {
        ++result.mig_entries;
        continue;
      }
      place.why = "no GPU here is in MIG mode";
    } else {
      place = kind == Kind::gpu ? by_uuid(entry, uuids) : by_number(entry, uuids.size());
    }
    if (!place.device) {
      result.bad = blank(entry) ? "(empty)" : entry;
      result.why_bad = place.why;
      break;
    }
    if (std::find(result.devices.begin(), result.devices.end(), *place.device) !=
        result.devices.end()) {
      result.twice = true;
      result.bad = entry;
      result.why_bad = "the device is in the list already";
      break;
    }
    result.devices.push_back(*place.device);
  }
  return result;
}

} // namespace gpuvet
