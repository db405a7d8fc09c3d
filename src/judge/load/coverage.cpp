#include "judge/load/coverage.hpp"

#include "judge/load/driver_needs.hpp"
#include "judge/load/kernel_architecture.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace gpuvet {
namespace {

constexpr size_t kMaxPlaces = 5;

bool has_code(const Container& container) {
  return std::any_of(container.images.begin(), container.images.end(), [](const Image& image) {
    return image.kind == ImageKind::cubin || image.kind == ImageKind::ptx ||
           image.kind == ImageKind::lto_ir || image.kind == ImageKind::relocatable_ptx;
  });
}

// Nothing in it can be launched, so nothing can fail: device linking leaves such shells behind.
bool harmless(const Container& container) {
  if (!container.problem.empty() || container.version != 1) return false;
  if (!has_code(container)) return true;
  return container.kernels_read && container.kernels.empty();
}

std::string place_of(const Container& container) {
  if (!container.member.empty()) return container.member;
  std::string place = fmt::format("{:#x}", container.offset);
  return container.section.empty() ? place : container.section + " " + place;
}

// NVIDIA's own libraries choose kernels by the GPU: what they lack they never launch.
bool dispatching_library(const Binary& binary, const LoadRules& rules) {
  std::string_view name = binary.path;
  name.remove_prefix(name.find_last_of("/!") + 1); // npos + 1 is 0: no folder
  return std::any_of(
      rules.dispatching_libraries.begin(), rules.dispatching_libraries.end(),
      [&](const DispatchingLibrary& library) { return name.starts_with(library.prefix); });
}

struct Tally {
  FileVerdict verdict;
  std::map<std::pair<bool, std::string>, Shortfall> shortfalls; // by variant and reason
};

void count_load(FileVerdict& verdict, const LoadVerdict& load) {
  switch (load.outcome) {
  case LoadOutcome::native:
    ++verdict.native;
    break;
  case LoadOutcome::same_major:
    ++verdict.same_major;
    break;
  case LoadOutcome::jit:
    ++verdict.jit;
    break;
  case LoadOutcome::linked:
    ++verdict.linked;
    break;
  case LoadOutcome::may_fail:
    ++verdict.uncertain;
    break;
  case LoadOutcome::none:
    break;
  }
  if (load.isa && (!verdict.needs_isa || *load.isa > *verdict.needs_isa))
    verdict.needs_isa = load.isa;
}

void add_shortfall(Tally& tally, const Container& container, const LoadVerdict& load,
                   bool variant) {
  Shortfall& shortfall = tally.shortfalls[{variant, load.reason}];
  shortfall.reason = load.reason;
  shortfall.error = load.error;
  shortfall.variant = variant;
  ++shortfall.containers;
  if (shortfall.places.size() < kMaxPlaces) shortfall.places.push_back(place_of(container));
  for (const std::string& kernel : container.kernels)
    if (shortfall.kernels.size() < kMaxShortfallKernels) shortfall.kernels.push_back(kernel);
}

void count(Tally& tally, const Container& container, const LoadVerdict& load, bool variant) {
  count_load(tally.verdict, load);
  if (loads(load)) return;
  if (load.outcome == LoadOutcome::may_fail)
    variant = false;
  else if (variant)
    ++tally.verdict.variants;
  else
    ++tally.verdict.failing;
  add_shortfall(tally, container, load, variant);
}

bool only_specific_code(const Container& container) {
  bool any = false;
  for (const Image& image : container.images) {
    if (image.kind != ImageKind::cubin && image.kind != ImageKind::ptx) continue;
    if (!image.target.suffix) return false;
    any = true;
  }
  return any;
}

// Loaded by address: the program looks at the GPU and picks. One that serves the GPU in the same
// section (or member) means that it has something to pick.
void judge_embedded(Tally& tally, const std::vector<const Container*>& embedded, bool nvjitlink,
                    const LoadDevice& device, const LoadDriver* driver,
                    const LoadEnvironment& environment, const LoadRules& rules) {
  std::map<std::pair<std::string, std::string>, bool> served; // section and member
  std::vector<LoadVerdict> verdicts;
  for (const Container* container : embedded) {
    LoadVerdict load = load_container(*container, device, driver, environment, rules);
    if (!loads(load) && load.error == 209 && nvjitlink)
      for (const Image& image : container->images)
        if (image.kind == ImageKind::lto_ir && image.target.sm <= device.sm)
          load = {LoadOutcome::linked, -1, 0, "LTO IR, linked at run time by nvJitLink",
                  std::nullopt};
    if (loads(load)) served[{container->section, container->member}] = true;
    verdicts.push_back(std::move(load));
  }
  for (size_t i = 0; i < embedded.size(); ++i) {
    const Container& container = *embedded[i];
    if (harmless(container)) continue;
    bool variant = served.count({container.section, container.member}) > 0 ||
                   tally.verdict.native + tally.verdict.same_major + tally.verdict.jit > 0;
    count(tally, container, verdicts[i], variant && verdicts[i].error == 209);
  }
}

void judge_registered(Tally& tally, const Binary& binary, const LoadDevice& device,
                      const LoadDriver* driver, const LoadEnvironment& environment,
                      const LoadRules& rules) {
  std::vector<const Container*> parts, embedded;
  bool dispatches = selects_by_architecture(binary);
  bool library = dispatching_library(binary, rules);
  bool device_linked = std::any_of(binary.containers.begin(), binary.containers.end(),
                                   [](const Container& c) { return c.role == Role::linked; });
  for (const Container& container : binary.containers)
    if (container.role == Role::relocatable) parts.push_back(&container);
  for (const Container& container : binary.containers) {
    LoadVerdict load;
    switch (container.role) {
    case Role::unreferenced:
      continue;
    case Role::embedded:
    case Role::bare:
      embedded.push_back(&container);
      continue;
    case Role::relocatable:
      if (device_linked) continue; // judged with the linked container
      load = load_container(container, device, driver, environment, rules);
      break;
    case Role::registered:
      load = load_container(container, device, driver, environment, rules);
      break;
    case Role::linked:
      if (parts.empty() && harmless(container)) continue;
      load = load_linked(container, parts, device, driver, environment, rules);
      break;
    }
    if (harmless(container) && !loads(load)) continue;
    bool variant = load.error == 209 && (library || only_specific_code(container) ||
                                         named_for_others(container, device, dispatches, rules));
    count(tally, container, load, variant);
  }
  bool nvjitlink = std::any_of(binary.runtime_compilers.begin(), binary.runtime_compilers.end(),
                               [](const RuntimeCompiler& c) { return c.name == "nvJitLink"; });
  judge_embedded(tally, embedded, nvjitlink, device, driver, environment, rules);
}

// What a person would call the result, from the counts.
void conclude(Tally& tally) {
  FileVerdict& verdict = tally.verdict;
  size_t running = verdict.native + verdict.same_major + verdict.jit + verdict.linked;
  size_t all = running + verdict.failing + verdict.variants + verdict.uncertain;
  for (auto& [key, shortfall] : tally.shortfalls)
    verdict.shortfalls.push_back(std::move(shortfall));
  std::stable_sort(verdict.shortfalls.begin(), verdict.shortfalls.end(),
                   [](const Shortfall& a, const Shortfall& b) {
                     if (a.variant != b.variant) return !a.variant;
                     return a.containers > b.containers;
                   });
  if (all == 0) {
    verdict.coverage = Coverage::no_code;
    verdict.reason = "no code for NVIDIA GPUs";
    return;
  }
  if (!verdict.shortfalls.empty()) {
    const Shortfall& first = verdict.shortfalls.front();
    verdict.error = first.error;
    verdict.reason = first.reason;
  }
  if (running == 0 && verdict.uncertain == 0) {
    verdict.coverage = Coverage::none;
  } else if (verdict.failing > 0) {
    verdict.coverage = Coverage::partial;
    verdict.reason =
        fmt::format("{} of {} fat binaries do not load: {}", verdict.failing, all, verdict.reason);
  } else if (verdict.uncertain > 0) {
    verdict.coverage = Coverage::may_fail;
  } else if (verdict.variants > 0) {
    verdict.coverage = Coverage::variants;
    verdict.error = 0;
    verdict.reason =
        fmt::format("{} of {} fat binaries are variants for other GPUs", verdict.variants, all);
  } else {
    verdict.coverage = Coverage::full;
  }
}

} // namespace

FileVerdict judge_file(const Binary& binary, const LoadDevice& device, const LoadDriver* driver,
                       const LoadEnvironment& environment, const LoadRules& rules) {
  Tally tally;
  judge_registered(tally, binary, device, driver, environment, rules);
  conclude(tally);
  FileVerdict& verdict = tally.verdict;
  if (verdict.coverage == Coverage::no_code) return verdict;
  if (driver) {
    Refusal refusal = driver_refuses(device, *driver, rules);
    int error = 100;
    if (refusal.reason.empty()) {
      refusal = toolkit_refuses(binary, *driver, rules);
      error = 35;
    }
    if (!refusal.reason.empty()) {
      verdict.coverage = Coverage::none;
      verdict.error = error;
      verdict.reason = refusal.reason;
      verdict.driver_fix = refusal.fix;
      verdict.shortfalls.clear();
    }
  }
  add_driver_needs(verdict, binary, device, rules);
  return verdict;
}

std::vector<size_t> containers_to_name(const std::vector<Container>& containers,
                                       const std::vector<LoadDevice>& devices,
                                       const LoadRules& rules, const LoadEnvironment& environment) {
  constexpr size_t shown = 8;
  std::vector<bool> wanted(containers.size(), false);
  for (const LoadDevice& device : devices) {
    std::vector<size_t> failing;
    bool something_loads = false;
    for (size_t i = 0; i < containers.size(); ++i) {
      if (loads(load_container(containers[i], device, nullptr, environment, rules)))
        something_loads = true;
      else if (containers[i].problem.empty())
        failing.push_back(i);
    }
    for (size_t i = 0; i < failing.size(); ++i)
      if (i < shown || (something_loads && !only_specific_code(containers[failing[i]])))
        wanted[failing[i]] = true;
  }
  std::vector<size_t> indices;
  for (size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i]) indices.push_back(i);
  return indices;
}

bool names_would_help(const Container& container, const std::vector<LoadDevice>& devices,
                      const LoadRules& rules, const LoadEnvironment& environment) {
  if (!container.problem.empty() || only_specific_code(container)) return false;
  return std::any_of(devices.begin(), devices.end(), [&](const LoadDevice& device) {
    return !loads(load_container(container, device, nullptr, environment, rules));
  });
}

std::string coverage_name(Coverage coverage) {
  switch (coverage) {
  case Coverage::full:
    return "full";
  case Coverage::variants:
    return "variants";
  case Coverage::partial:
    return "partial";
  case Coverage::may_fail:
    return "may-fail";
  case Coverage::none:
    return "none";
  case Coverage::no_code:
    return "no-gpu-code";
  }
  return "none";
}

} // namespace gpuvet
