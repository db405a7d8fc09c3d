#include "base/fill_text.hpp"

#include <algorithm>
#include <string_view>

namespace gpuvet {
namespace {

using Fields = std::map<std::string, std::string>;

// The end of "[?A|B]" from its '[' on, and where B begins; npos: it is not closed.
struct Choice {
  size_t bar = std::string::npos, end = std::string::npos;
};

Choice choice_at(const std::string& text, size_t open) {
  Choice choice;
  choice.end = text.find(']', open);
  if (choice.end == std::string::npos) return choice;
  size_t bar = text.find('|', open);
  choice.bar = std::min(bar, choice.end);
  return choice;
}

constexpr std::string_view kNameBytes = "abcdefghijklmnopqrstuvwxyz0123456789_.-";

// Visits the {names} of a text; what stands in braces and is no name is text.
template <class Name, class Text> void each_part(std::string_view text, Name name, Text plain) {
  for (size_t at = 0; at < text.size();) {
    size_t close = text.find('}', at);
    size_t open = close == std::string_view::npos ? close : text.substr(0, close).rfind('{');
    if (close == std::string_view::npos) {
      plain(text.substr(at));
      return;
    }
    if (open == std::string_view::npos || open < at) {
      plain(text.substr(at, close + 1 - at));
      at = close + 1;
      continue;
    }
    std::string_view inside = text.substr(open + 1, close - open - 1);
    bool is_name =
        !inside.empty() && inside.find_first_not_of(kNameBytes) == std::string_view::npos;
    plain(text.substr(at, (is_name ? open : close + 1) - at));
    if (is_name) name(inside);
    at = close + 1;
  }
}

bool all_known(std::string_view text, const Fields& fields) {
  bool known = true;
  each_part(
      text,
      [&](std::string_view name) {
        auto at = fields.find(std::string(name));
        known = known && at != fields.end() && !at->second.empty();
      },
      [](std::string_view) {});
  return known;
}

void append_filled(std::string& out, std::string_view text, const Fields& fields) {
  each_part(
      text,
      [&](std::string_view name) {
        auto at = fields.find(std::string(name));
        out += at == fields.end() ? "(unknown " + std::string(name) + ")" : at->second;
      },
      [&](std::string_view part) { out += part; });
}

// Calls for the parts of a text outside of "[?A|B]", and for each of those.
template <class Plain, class Chosen>
void each_choice(const std::string& text, Plain plain, Chosen chosen) {
  size_t at = 0;
  for (size_t open = text.find("[?"); open != std::string::npos; open = text.find("[?", at)) {
    Choice choice = choice_at(text, open);
    if (choice.end == std::string::npos) break;
    plain(std::string_view(text).substr(at, open - at));
    std::string_view first = std::string_view(text).substr(open + 2, choice.bar - open - 2);
    std::string_view second =
        choice.bar == choice.end
            ? std::string_view()
            : std::string_view(text).substr(choice.bar + 1, choice.end - choice.bar - 1);
    chosen(first, second);
    at = choice.end + 1;
  }
  plain(std::string_view(text).substr(at));
}

} // namespace

std::string fill_text(const std::string& text, const Fields& fields) {
  std::string out;
  each_choice(
      text, [&](std::string_view part) { append_filled(out, part, fields); },
      [&](std::string_view first, std::string_view second) {
        append_filled(out, all_known(first, fields) ? first : second, fields);
      });
  return out;
}

bool can_fill(const std::string& text, const Fields& fields) {
  bool known = true;
  each_choice(
      text, [&](std::string_view part) { known = known && all_known(part, fields); },
      [](std::string_view, std::string_view) {});
  return known;
}

std::string first_choices(const std::string& text) {
  std::string out;
  each_choice(
      text, [&](std::string_view part) { out += part; },
      [&](std::string_view first, std::string_view) { out += first; });
  return out;
}

} // namespace gpuvet
