// The tables, for tests of judge/arch.
#pragma once

#include "judge/arch/plan.hpp"

#include <algorithm>
#include <stdexcept>

namespace gpuvet::testing {

inline const Facts& facts() {
  static const Facts table;
  return table;
}

template <class T> const T& sound(const Result<const T*>& read) {
  if (!read) throw std::runtime_error(read.error().where + ": " + read.error().what);
  return **read;
}

inline const PlanFacts& plan_facts() {
  static const PlanFacts all{&sound(facts().arch()), &sound(facts().load_rules()),
                             &sound(facts().toolkits()), &sound(facts().cmake_features())};
  return all;
}

inline const Toolkit& toolkit(const std::string& version) {
  for (const Toolkit& one : *plan_facts().toolkits)
    if (one.version == version) return one;
  throw std::runtime_error("no toolkit " + version);
}

inline const ArchSystem& system_named(const std::string& id) {
  const ArchSystem* found = find_arch_system(*plan_facts().tables, id);
  if (!found) throw std::runtime_error("no system " + id);
  return *found;
}

inline ArchContext with(const std::string& toolkit_version = {}) {
  return {plan_facts().tables, plan_facts().rules,
          toolkit_version.empty() ? nullptr : &toolkit(toolkit_version), std::nullopt};
}

inline LoadDevice capability(uint32_t sm) {
  const auto& tegra = plan_facts().rules->tegra;
  return {cc_name(sm), sm, std::find(tegra.begin(), tegra.end(), sm) != tegra.end()};
}

// "sm_80, sm_86 from compute_80, PTX of compute_90", or the error's sentence.
inline std::string reading(const std::string& system, const std::string& value,
                           const std::string& toolkit_version = {}) {
  auto read = read_value(system_named(system), value, with(toolkit_version));
  return read ? codes_text(*read) : "error: " + read.error().what;
}

} // namespace gpuvet::testing
