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

} // namespace gpuvet
