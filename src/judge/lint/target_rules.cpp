// What the architectures mean for the toolkit that compiles and for the GPUs that run the product.
#include "base/text.hpp"
#include "judge/lint/code_image.hpp"
#include "judge/lint/parts.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

bool knows(const std::vector<Target>& list, Target target) {
  return std::find(list.begin(), list.end(), target) != list.end();
}

const Toolkit* toolkit_of(const std::vector<Toolkit>& toolkits, const Version& version) {
  for (const Toolkit& toolkit : toolkits) {
    auto own = parse_version(toolkit.version);
    if (own && own->major() == version.major() && own->minor() == version.minor()) return &toolkit;
  }
  return nullptr;
}

const SassRange* range_of(const LoadRules& rules, Target target) {
  for (const SassRange& range : rules.sass_ranges)
    if (range.target == target) return &range;
  return nullptr;
}

struct NamedToolkit {
  const Toolkit* toolkit = nullptr;
  std::string mention;
};

// The toolkits that can be the one that compiles; empty: not known.
std::vector<NamedToolkit> toolkits_for(const LintRun& run) {
  std::vector<NamedToolkit> list;
  if (!run.asked.toolkit.empty()) {
    if (auto version = parse_version(run.asked.toolkit))
      if (const Toolkit* toolkit = toolkit_of(run.facts.toolkits, *version))
        list.push_back({toolkit, "--toolkit " + run.asked.toolkit});
    return list;
  }
  for (const VersionMention& mention : run.file.toolkits) {
    const Toolkit* toolkit = toolkit_of(run.facts.toolkits, mention.version);
    if (!toolkit || mention.minimum) return {};
    list.push_back({toolkit, fmt::format("{} (line {})", mention.text, mention.at.line)});
  }
  return list;
}

std::string target_name(const CodeTarget& target) {
  return target.sass ? sm_name(target.target) : compute_name(target.target);
}

LoadVerdict verdict_for(const std::vector<CodeTarget>& targets, const LoadDevice& device,
                        const LoadRules& rules) {
  Container container;
  for (const CodeTarget& target : targets) {
    if (target.sass) container.images.push_back(code_image(target.target, false, rules));
    if (target.ptx) container.images.push_back(code_image(target.target, true, rules));
  }
  return load_container(container, device, nullptr, {}, rules);
}

void judge_gpus(LintRun& run, const BuildSetting& setting, const std::vector<CodeTarget>& targets,
                const LintVariable& variable) {
  for (const LoadDevice& device : run.asked.gpus) {
    LoadVerdict verdict = verdict_for(targets, device, run.facts.rules);
    if (loads(verdict)) continue;
    std::string truth =
        fmt::format("{} is {}; the list gives {}", device.name, cc_name(device.sm), verdict.reason);
    ListEntry entry;
    entry.is_target = true;
    entry.target = {device.sm, 0};
    if (variable.numbers == std::vector<std::string>{"gencode"}) {
      std::string number = std::to_string(device.sm);
      run.add("gpu-not-served", setting, setting.at,
              {{"name", setting.name},
               {"item", device.name},
               {"truth", truth},
               {"right", fmt::format("-gencode arch=compute_{0},code=sm_{0}", number)}})
          .label = "nothing for " + cc_name(device.sm);
      continue;
    }
    run.add("gpu-not-served", setting, setting.at,
            {{"name", setting.name},
             {"item", device.name},
             {"truth", truth},
             {"right", spelled_for(entry, variable).value_or(cc_name(device.sm))}})
        .label = "nothing for " + cc_name(device.sm);
  }
}

std::string with_ptx(Target target, const LintVariable& variable) {
  ListEntry entry;
  entry.is_target = true;
  entry.target = target;
  if (variable.ptx == "plus") {
    entry.plus_ptx = true;
    return spelled_for(entry, variable).value_or("+PTX");
  }
  if (variable.ptx == "cmake") return std::to_string(target.sm);
  return compute_name({target.sm, 0});
}

} // namespace

void judge_targets(LintRun& run, const BuildSetting& setting,
                   const std::vector<CodeTarget>& targets, const FilePlace& at) {
  std::vector<NamedToolkit> toolkits = toolkits_for(run);
  if (toolkits.empty()) return;
  for (const CodeTarget& target : targets) {
    const SassRange* range = range_of(run.facts.rules, target.target);
    if (!range) continue;
    bool lacks = std::none_of(toolkits.begin(), toolkits.end(), [&](const NamedToolkit& one) {
      return knows(target.sass ? one.toolkit->sass_targets : one.toolkit->ptx_targets,
                   target.target);
    });
    if (!lacks) continue;
    const NamedToolkit& named = toolkits.front();
    auto first = parse_version(range->first_cuda), now = parse_version(named.toolkit->version);
    bool too_new = first && now && *now < *first;
    std::string name = target_name(target);
    LintFinding& finding = run.add(
        "toolkit-lacks", setting, at,
        {{"version", named.toolkit->version},
         {"lacks", too_new ? "doesn't know" : "no longer knows"},
         {"item", name},
         {"truth", too_new ? fmt::format("CUDA {} brought it", range->first_cuda)
                           : fmt::format("CUDA {} is the last that has it", range->last_cuda)},
         {"mention", named.mention},
         {"suggestion",
          too_new ? fmt::format("use CUDA {} or newer, or leave {} out", range->first_cuda, name)
                  : fmt::format("leave {} out, or stay with CUDA {}", name, range->last_cuda)}});
    finding.label = too_new ? "since CUDA " + range->first_cuda : "until CUDA " + range->last_cuda;
    return;
  }
}

void judge_coverage(LintRun& run, const BuildSetting& setting,
                    const std::vector<CodeTarget>& targets, const LintVariable& variable) {
  if (targets.empty()) return;
  judge_gpus(run, setting, targets, variable);
  bool has_ptx = std::any_of(targets.begin(), targets.end(),
                             [](const CodeTarget& target) { return target.ptx; });
  if (has_ptx || variable.ptx == "none" || run.file.publishes.empty()) return;
  Target last = targets.front().target;
  for (const CodeTarget& target : targets)
    if (target.target.sm > last.sm) last = target.target;
  const VersionMention& by = run.file.publishes.front();
  run.add("no-ptx", setting, setting.at,
          {{"name", setting.name},
           {"mention", run.file.kind == BuildFileKind::conda_recipe
                           ? "a recipe"
                           : fmt::format("{} (line {})", by.text, by.at.line)},
           {"right", with_ptx(last, variable)}})
      .label = "machine code only";
}

} // namespace gpuvet
