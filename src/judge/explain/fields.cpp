#include "judge/explain/fields.hpp"

#include "base/text.hpp"
#include "judge/explain/symbol.hpp"
#include "judge/here/here.hpp"
#include "judge/ldd/cuda_names.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

using Fields = std::map<std::string, std::string>;

void put(Fields& fields, const std::string& name, std::string value) {
  if (!value.empty()) fields.emplace(name, std::move(value));
}

// The first branch whose drivers go up to a CUDA release.
std::string branch_for(const LoadRules& rules, const Version& cuda) {
  for (const DriverBranch& branch : rules.branches)
    if (branch.cuda >= cuda) return fmt::format("{}", branch.branch);
  return {};
}

void derive_symbol(Fields& fields, const std::string& name, const std::string& value) {
  SymbolFacts symbol = symbol_facts(value);
  put(fields, name + "_plain", std::move(symbol.plain));
  put(fields, name + "_abi", std::move(symbol.abi));
  put(fields, name + "_owner", std::move(symbol.owner));
  put(fields, name + "_optional", std::move(symbol.optional));
}

void derive_number(Fields& fields, const std::string& name, const std::string& value,
                   const LoadRules& rules) {
  auto number = decimal_number(value);
  if (!number || *number < 1000 || *number >= 1000000) return;
  Version cuda = cuda_version(static_cast<uint32_t>(*number));
  put(fields, name + "_cuda", to_string(cuda));
  put(fields, name + "_branch", branch_for(rules, cuda));
}

void derive_cuda(Fields& fields, const std::string& name, const std::string& value,
                 const LoadRules& rules) {
  auto cuda = parse_version(value);
  if (!cuda) return;
  put(fields, name + "_branch", branch_for(rules, *cuda));
  put(fields, name + "_major", fmt::format("{}", cuda->major()));
  for (const MinorFloor& floor : rules.floors)
    if (floor.cuda_major == cuda->major()) put(fields, name + "_driver", floor.min_linux);
}

void derive_arch(Fields& fields, const std::string& name, const std::string& value,
                 const LoadRules& rules) {
  auto target = parse_target(value);
  if (!target) return;
  put(fields, name + "_capability", cc_name(target->sm));
  for (const SassRange& range : rules.sass_ranges) {
    if (range.target != *target) continue;
    put(fields, name + "_first", range.first_cuda);
    put(fields, name + "_last", range.last_cuda);
  }
}

void derive_library(Fields& fields, const std::string& name, const std::string& value) {
  CudaName library = cuda_name(value);
  if (library.cuda) put(fields, name + "_cuda", fmt::format("{}", library.cuda));
  std::vector<std::string> commands = commands_for(value, true);
  if (!commands.empty()) put(fields, name + "_command", commands.front());
}

// As nvidia-smi -i takes it: the kernel log leaves out the function.
void derive_bus(Fields& fields, const std::string& value) {
  put(fields, "gpu", "GPU " + value);
  put(fields, "pci", value.find('.') == std::string::npos ? value + ".0" : value);
}

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
        out += at == fields.end() ? fmt::format("(unknown {})", name) : at->second;
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

void derive_fields(Fields& fields, const Facts& facts) {
  auto rules = facts.load_rules();
  const Fields given = fields;
  for (const auto& [name, value] : given) {
    std::string_view kind = std::string_view(name).substr(name.rfind('_') + 1);
    if (kind == "symbol") derive_symbol(fields, name, value);
    if (kind == "library") derive_library(fields, name, value);
    if (kind == "bus") derive_bus(fields, value);
    if (kind == "hex")
      if (auto number = hexadecimal_number(value))
        put(fields, name + "_decimal", fmt::format("{}", *number));
    if (!rules) continue;
    if (kind == "number") derive_number(fields, name, value, **rules);
    if (kind == "cuda") derive_cuda(fields, name, value, **rules);
    if (kind == "arch") derive_arch(fields, name, value, **rules);
  }
}

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

} // namespace gpuvet
