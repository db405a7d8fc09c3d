#include "judge/load/kernel_architecture.hpp"

#include <algorithm>
#include <cctype>
#include <set>

namespace gpuvet {
namespace {

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::set<uint32_t> code_targets(const Container& container) {
  std::set<uint32_t> targets;
  for (const Image& image : container.images)
    if (image.kind == ImageKind::cubin || image.kind == ImageKind::ptx)
      targets.insert(image.target.sm);
  return targets;
}

void add_numbers_behind(const std::string& name, std::string_view mark,
                        std::vector<NamedArchitecture>& named) {
  for (size_t at = 0; (at = name.find(mark, at)) != std::string::npos; at += mark.size()) {
    size_t digits = at + mark.size();
    if (digits < name.size() && name[digits] == '_') ++digits;
    size_t end = digits;
    while (end < name.size() && is_digit(name[end]))
      ++end;
    if (end - digits < 2 || end - digits > 3) continue;
    auto target = parse_target(std::string_view(name).substr(digits, end - digits));
    if (target && target->sm >= 50 && target->sm < 200) named.push_back({target->sm, target->sm});
  }
}

} // namespace

std::vector<NamedArchitecture> architectures_in_name(std::string_view kernel,
                                                     const LoadRules& rules) {
  std::vector<NamedArchitecture> named;
  std::string name(kernel);
  std::transform(name.begin(), name.end(), name.begin(), lower);
  // "sm80", "sm_80" and CUTLASS's "cutlass_80_"
  for (std::string_view mark : {"sm", "cutlass_"})
    add_numbers_behind(name, mark, named);
  for (const ArchitectureWord& word : rules.architecture_words)
    if (name.find(word.word) != std::string::npos) named.push_back({word.first_sm, word.last_sm});
  return named;
}

bool named_for_others(const Container& container, const LoadDevice& device, bool dispatches,
                      const LoadRules& rules) {
  std::set<uint32_t> targets = code_targets(container);
  bool for_others = false;
  for (const std::string& kernel : container.kernels)
    for (NamedArchitecture named : architectures_in_name(kernel, rules)) {
      bool built_for_it = std::any_of(targets.begin(), targets.end(), [&](uint32_t sm) {
        return cc_major(sm) == cc_major(named.first_sm) && sm >= named.first_sm;
      });
      if (!built_for_it) continue;
      if (named.first_sm > device.sm) for_others = true;
      if (named.last_sm < device.sm && dispatches) for_others = true;
      // Named for this very architecture and yet not built for it: a real gap.
      if (named.first_sm <= device.sm && device.sm <= named.last_sm) return false;
    }
  return for_others;
}

bool selects_by_architecture(const Binary& binary) {
  std::set<std::set<uint32_t>> sets;
  for (const Container& container : binary.containers)
    if (container.role == Role::registered) {
      auto targets = code_targets(container);
      if (!targets.empty() && targets.size() <= 3) sets.insert(targets);
    }
  for (auto a = sets.begin(); a != sets.end(); ++a)
    for (auto b = std::next(a); b != sets.end(); ++b) {
      bool disjoint = std::none_of(a->begin(), a->end(), [&](uint32_t sm) { return b->count(sm); });
      if (disjoint) return true;
    }
  return false;
}

} // namespace gpuvet
