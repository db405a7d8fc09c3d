#include "judge/load/load.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace gpuvet {
namespace {

constexpr auto kCrashingKind = static_cast<ImageKind>(0x10);
constexpr uint32_t kBareEntryHeader = 0x40; // bytes; toolkits write 0x48 and more for PTX

bool is_tegra(const LoadRules& rules, uint32_t sm) {
  return std::find(rules.tegra.begin(), rules.tegra.end(), sm) != rules.tegra.end();
}

const Family* find_family(const LoadRules& rules, uint32_t sm) {
  auto found = std::find_if(rules.families.begin(), rules.families.end(),
                            [&](const Family& family) { return family.sm == sm; });
  return found == rules.families.end() ? nullptr : &*found;
}

bool in_family(const LoadRules& rules, uint32_t sm, uint32_t device) {
  const Family* family = find_family(rules, sm);
  return family &&
         std::find(family->devices.begin(), family->devices.end(), device) != family->devices.end();
}

// Desktop code on a Tegra device of the same major, or the reverse: NVIDIA promises nothing, and
// reports of both outcomes exist. Never a certain yes.
bool disputed_sass(const LoadRules& rules, Target target, const LoadDevice& device) {
  if (target.suffix || target.sm == device.sm) return false;
  bool tegra = device.tegra || is_tegra(rules, device.sm) || is_tegra(rules, target.sm);
  return tegra && cc_major(target.sm) == cc_major(device.sm) &&
         cc_minor(target.sm) <= cc_minor(device.sm);
}

// `a` before `f` before plain at equal sm.
int suffix_rank(char suffix) {
  return suffix == 'a' ? 2 : suffix == 'f' ? 1 : 0;
}

bool better(const Image& candidate, const Image& than) {
  if (candidate.target.sm != than.target.sm) return candidate.target.sm > than.target.sm;
  return suffix_rank(candidate.target.suffix) > suffix_rank(than.target.suffix);
}

// The best image of a kind that passes `fits`; the first in file order at a full tie.
template <class Fits> int best_image(const Container& container, ImageKind kind, Fits&& fits) {
  int best = -1;
  for (size_t i = 0; i < container.images.size(); ++i) {
    const Image& image = container.images[i];
    if (image.kind != kind || !fits(image.target)) continue;
    if (best < 0 || better(image, container.images[static_cast<size_t>(best)]))
      best = static_cast<int>(i);
  }
  return best;
}

// The same for PTX, with an exception that was measured in both orders: of several texts for
// exactly the device's own plain target the last is compiled; of others, and of suffixed ones, the
// first.
template <class Fits> int best_ptx(const Container& container, uint32_t device_sm, Fits&& fits) {
  int best = best_image(container, ImageKind::ptx, fits);
  if (best < 0) return best;
  Target exact{device_sm, 0};
  if (container.images[static_cast<size_t>(best)].target != exact) return best;
  for (size_t i = container.images.size(); i-- > 0;)
    if (container.images[i].kind == ImageKind::ptx && container.images[i].target == exact)
      return static_cast<int>(i);
  return best;
}

LoadVerdict refuse(int error, std::string reason, int image = -1) {
  return {LoadOutcome::none, image, error, std::move(reason), std::nullopt};
}

std::optional<LoadVerdict> malformed(const Container& container) {
  if (container.version != 1)
    return refuse(200, fmt::format("the fat binary says version {}, the driver knows only 1",
                                   container.version));
  if (container.hangs) return refuse(0, container.problem + ": loading it never returns");
  if (!container.problem.empty()) return refuse(200, "damaged: " + container.problem);
  for (const Image& image : container.images)
    if ((image.kind == ImageKind::cubin || image.kind == ImageKind::ptx) &&
        (image.target.sm == 0 || image.target.sm >= 1000))
      return refuse(999, fmt::format("an entry names target {}, which loses the whole fat binary",
                                     image.target.sm));
  return std::nullopt;
}

// "sm_80, sm_86" without repeats, in numeric order.
std::string targets_text(const Container& container, ImageKind kind) {
  std::set<Target> targets;
  for (const Image& image : container.images)
    if (image.kind == kind) targets.insert(image.target);
  std::string text;
  for (Target target : targets)
    text += (text.empty() ? "" : ", ") +
            (kind == ImageKind::cubin ? sm_name(target) : compute_name(target));
  return text;
}

std::string why_no_image(const Container& container, const LoadEnvironment& environment) {
  std::string sass = targets_text(container, ImageKind::cubin);
  std::string ptx = targets_text(container, ImageKind::ptx);
  bool lto = std::any_of(container.images.begin(), container.images.end(),
                         [](const Image& image) { return image.kind == ImageKind::lto_ir; });
  std::string text;
  if (!sass.empty())
    text =
        (environment.force_ptx_jit ? "SASS is switched off by CUDA_FORCE_PTX_JIT: " : "SASS for ") +
        sass;
  if (!ptx.empty())
    text += (text.empty() ? "PTX for " : ", PTX for ") + ptx;
  else if (!text.empty())
    text += ", no PTX";
  if (lto) text += text.empty() ? "LTO IR only, which the driver does not load" : ", LTO IR";
  return text.empty() ? "it holds no code" : text;
}

LoadVerdict load_sass(const Container& container, int index, const LoadDevice& device,
                      const LoadRules& rules) {
  const Image& image = container.images[static_cast<size_t>(index)];
  std::string name = sm_name(image.target);
  if (image.damage != Damage::none)
    return refuse(200, name + " would be chosen, but its bytes are damaged", index);
  if (image.payload_sm && !sass_fits(rules, {image.payload_sm, 0}, device))
    return refuse(
        300, fmt::format("the entry says {}, the code inside is sm_{}", name, image.payload_sm),
        index);
  LoadOutcome outcome =
      image.target.sm == device.sm ? LoadOutcome::native : LoadOutcome::same_major;
  return {outcome, index, 0, name, std::nullopt};
}

// The ISA that first knew a target: text that claims an older one does not compile.
std::optional<Version> first_isa(const LoadRules& rules, Target target) {
  for (const SassRange& range : rules.sass_ranges) {
    if (range.target != target) continue;
    auto cuda = parse_version(range.first_cuda);
    for (const PtxIsa& isa : rules.ptx_isas)
      if (isa.cuda == cuda) return isa.isa;
  }
  return std::nullopt;
}

LoadVerdict load_ptx(const Container& container, int index, const LoadDevice& device,
                     const LoadDriver* driver, const LoadEnvironment& environment,
                     const LoadRules& rules) {
  const Image& image = container.images[static_cast<size_t>(index)];
  std::string name = compute_name(image.target);
  Version isa{{image.version_major, image.version_minor}};
  if (environment.disable_ptx_jit && !environment.jit_cache_warm) {
    LoadVerdict verdict =
        refuse(223, "only PTX fits (" + name + ") and its compilation is switched off", index);
    verdict.isa = isa;
    return verdict;
  }
  if (image.damage != Damage::none)
    return refuse(218, name + " would be compiled, but its text is damaged", index);
  if (driver && driver->max_isa && isa > *driver->max_isa) {
    LoadVerdict verdict =
        refuse(222,
               fmt::format("PTX {} ({}) is newer than driver {} reads ({})", to_string(isa), name,
                           driver->text, to_string(*driver->max_isa)),
               index);
    verdict.isa = isa;
    return verdict;
  }
  if (image.payload_sm > device.sm)
    return refuse(
        218, fmt::format("the entry says {}, the text is for compute_{}", name, image.payload_sm),
        index);
  // The text counts, not the entry: TensorFlow 2.8 has entries for compute_80 with PTX 6.3 whose
  // text is for sm_75. Where the text was not read (it is compressed), nothing is said.
  bool text_read = image.compression == Compression::none || image.payload_sm != 0;
  Target written = image.payload_sm != 0 ? Target{image.payload_sm, 0} : image.target;
  if (auto first = first_isa(rules, written); text_read && first && isa < *first)
    return refuse(218,
                  fmt::format("PTX {} does not know {}: it came with PTX {}", to_string(isa),
                              compute_name(written), to_string(*first)),
                  index);
  if (image.header_size == kBareEntryHeader)
    return {LoadOutcome::may_fail, index, 999,
            name + ": an entry without options, which crashed driver 580", isa};
  return {LoadOutcome::jit, index, 0, "PTX " + name, isa};
}

// The runtime leaves out a part that has nothing for the GPU. Without the first, the kernel itself
// is missing; without a later one, what the kernel calls (measured with two parts).
LoadVerdict link_failure(LoadVerdict verdict, size_t linked_before) {
  if (verdict.error == 209) {
    verdict.error = linked_before == 0 ? 500 : 300;
    verdict.reason = "a part that would be linked has nothing: " + verdict.reason;
  } else if (verdict.image == -1 && verdict.error != 222 && verdict.error != 223) {
    verdict.error = 999;
  }
  verdict.image = -1;
  return verdict;
}

} // namespace

LoadDriver make_driver(const LoadRules& rules, std::string_view text, const Version& version) {
  LoadDriver driver{std::string(text), version, std::nullopt, std::nullopt};
  // The branch at or below: 525.60.13 is branch 525, 384.81 is 384.
  for (const DriverBranch& branch : rules.branches)
    if (branch.branch <= version.major()) {
      driver.cuda = branch.cuda;
      driver.max_isa = branch.ptx_isa;
    }
  return driver;
}

bool sass_fits(const LoadRules& rules, Target target, const LoadDevice& device) {
  if (target.suffix == 'a') return target.sm == device.sm;
  if (target.suffix == 'f') return in_family(rules, target.sm, device.sm);
  if (cc_major(target.sm) != cc_major(device.sm)) return false;
  if (device.tegra || is_tegra(rules, device.sm) || is_tegra(rules, target.sm))
    return target.sm == device.sm;
  return cc_minor(target.sm) <= cc_minor(device.sm);
}

bool ptx_fits(const LoadRules& rules, Target target, const LoadDevice& device) {
  if (target.suffix == 'a') return target.sm == device.sm;
  if (target.suffix == 'f') return in_family(rules, target.sm, device.sm);
  return target.sm <= device.sm;
}

// PTX text without a container goes straight to the compiler, whatever it is for: what does not fit
// is error 218, not 209.
std::optional<LoadVerdict> load_bare_text(const Container& container, const LoadDevice& device,
                                          const LoadDriver* driver,
                                          const LoadEnvironment& environment,
                                          const LoadRules& rules) {
  if (container.role != Role::bare || container.images.size() != 1 ||
      container.images[0].kind != ImageKind::ptx)
    return std::nullopt;
  LoadVerdict verdict = load_ptx(container, 0, device, driver, environment, rules);
  if (loads(verdict) && !ptx_fits(rules, container.images[0].target, device))
    return refuse(
        218, "PTX for " + compute_name(container.images[0].target) + " does not compile for it", 0);
  return verdict;
}

// Kinds whose handling by the driver depends on more than the entry tells.
std::optional<LoadVerdict> load_unusual(const Container& container, const LoadDevice& device,
                                        const LoadRules& rules) {
  int relocatable = best_image(container, ImageKind::relocatable_ptx,
                               [&](Target target) { return ptx_fits(rules, target, device); });
  if (relocatable < 0) return std::nullopt;
  return LoadVerdict{LoadOutcome::may_fail, relocatable, 300,
                     "relocatable PTX loads only if it needs nothing from other files",
                     std::nullopt};
}

LoadVerdict load_container(const Container& container, const LoadDevice& device,
                           const LoadDriver* driver, const LoadEnvironment& environment,
                           const LoadRules& rules) {
  if (auto refused = malformed(container)) return *refused;
  for (const Image& image : container.images)
    if (image.kind == kCrashingKind)
      return {LoadOutcome::may_fail, -1, 0, "an entry of kind 0x10, which crashed driver 580",
              std::nullopt};
  if (auto bare = load_bare_text(container, device, driver, environment, rules)) return *bare;
  int sass =
      environment.force_ptx_jit ? -1 : best_image(container, ImageKind::cubin, [&](Target target) {
        return sass_fits(rules, target, device);
      });
  if (sass >= 0) return load_sass(container, sass, device, rules);

  int ptx = best_ptx(container, device.sm,
                     [&](Target target) { return ptx_fits(rules, target, device); });
  if (ptx >= 0) return load_ptx(container, ptx, device, driver, environment, rules);

  if (auto unusual = load_unusual(container, device, rules)) return *unusual;

  int disputed =
      environment.force_ptx_jit ? -1 : best_image(container, ImageKind::cubin, [&](Target target) {
        return disputed_sass(rules, target, device);
      });
  if (disputed >= 0)
    return {LoadOutcome::may_fail, disputed, 209,
            sm_name(container.images[static_cast<size_t>(disputed)].target) +
                ": NVIDIA promises no binary compatibility between desktop and Tegra chips",
            std::nullopt};
  return refuse(209, why_no_image(container, environment));
}

LoadVerdict load_linked(const Container& linked, const std::vector<const Container*>& parts,
                        const LoadDevice& device, const LoadDriver* driver,
                        const LoadEnvironment& environment, const LoadRules& rules) {
  LoadVerdict own = load_container(linked, device, driver, environment, rules);
  if (loads(own) || own.error != 209) return own; // no fallback from a damaged image
  if (parts.empty()) return own;
  LoadVerdict result{LoadOutcome::linked, -1, 0, "linked at run time from relocatable parts",
                     std::nullopt};
  size_t added = 0;
  for (const Container* part : parts) {
    if (part->problem.empty() && part->version == 1 && part->images.empty())
      return refuse(500, "the relocatable parts that would be linked are gone");
    LoadVerdict verdict = load_container(*part, device, driver, environment, rules);
    if (loads(verdict)) {
      ++added;
      if (verdict.isa && (!result.isa || *verdict.isa > *result.isa)) result.isa = verdict.isa;
      continue;
    }
    verdict.image = verdict.image >= 0 ? -1 : -2; // -2: nothing was chosen
    return link_failure(verdict, added);
  }
  return result;
}

bool loads(const LoadVerdict& verdict) {
  return verdict.outcome != LoadOutcome::none && verdict.outcome != LoadOutcome::may_fail;
}

std::string outcome_name(LoadOutcome outcome) {
  switch (outcome) {
  case LoadOutcome::native:
    return "native";
  case LoadOutcome::same_major:
    return "same-major";
  case LoadOutcome::jit:
    return "jit";
  case LoadOutcome::linked:
    return "linked";
  case LoadOutcome::may_fail:
    return "may-fail";
  case LoadOutcome::none:
    return "none";
  }
  return "none";
}

} // namespace gpuvet
