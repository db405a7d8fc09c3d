#include "judge/explain/fact_view.hpp"

#include "base/text.hpp"
#include "facts/signatures/signatures.hpp"
#include "judge/here/python.hpp"
#include "judge/load/load.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace gpuvet {
namespace {

// A fact that follows from another one.
KnownFact follows(std::string_view name, std::string value, const KnownFact& from) {
  return {std::string(name), std::move(value), fmt::format("by {}", fact_text(from))};
}

// Whether there is code for a GPU is asked, not which driver compiles it: PTX of a release that
// knows every target.
constexpr uint16_t kAnyPtx = 99;

Image ptx_image(const Target& target) {
  Image image;
  image.kind = ImageKind::ptx;
  image.target = target;
  image.version_major = kAnyPtx;
  return image;
}

Image cubin_image(const Target& target) {
  Image image;
  image.kind = ImageKind::cubin;
  image.target = target;
  return image;
}

// "sm_50, sm_86, compute_90", "['sm_50', 'sm_86']", "5.0;8.6+PTX": SASS and PTX as images.
Container container_of(std::string_view archs) {
  Container container;
  std::string word;
  auto take = [&] {
    bool ptx = word.starts_with("compute");
    bool both = word.ends_with("+PTX");
    if (both) word.resize(word.size() - 4);
    auto target = parse_target(word);
    word.clear();
    if (!target) return;
    container.images.push_back(ptx ? ptx_image(*target) : cubin_image(*target));
    if (both) container.images.push_back(ptx_image(*target));
  };
  for (char c : archs) {
    if (std::string_view(" ,;'\"[]").find(c) != std::string_view::npos)
      take();
    else if (word.size() < 32)
      word += c;
  }
  take();
  return container;
}

Container container_of(const FrameworkBuild& build) {
  Container container;
  for (const Target& target : build.sass)
    container.images.push_back(cubin_image(target));
  for (const Target& target : build.ptx)
    container.images.push_back(ptx_image(target));
  return container;
}

} // namespace

bool is_hearsay(const KnownFact& fact) {
  return fact.where.find("(said)") != std::string::npos;
}

std::string fact_text(const KnownFact& fact) {
  return fmt::format("{} {}{}", fact.name, fact.value,
                     fact.where.empty() ? "" : " (" + fact.where + ")");
}

FactView::FactView(const std::vector<KnownFact>& text, const std::vector<KnownFact>& machine,
                   const Facts& tables)
    : tables_(tables) {
  for (const KnownFact& fact : text)
    add(fact);
  std::set<std::string, std::less<>> told;
  for (const auto& [name, values] : facts_)
    told.insert(name);
  for (const KnownFact& fact : machine)
    if (!told.count(fact.name)) add(fact);
}

void FactView::add(KnownFact fact) {
  std::vector<KnownFact>& values = facts_[fact.name];
  for (KnownFact& known : values)
    if (known.value == fact.value) {
      if (is_hearsay(known) && !is_hearsay(fact)) known = std::move(fact);
      return;
    }
  values.push_back(std::move(fact));
}

std::vector<KnownFact> FactView::of(std::string_view name) const {
  auto at = facts_.find(name);
  return at == facts_.end() ? derived(name) : at->second;
}

std::vector<KnownFact> FactView::derived(std::string_view name) const {
  std::vector<KnownFact> found;
  if (name == "nvcc.max_sm") return nvcc_limit(true);
  if (name == "nvcc.min_sm") return nvcc_limit(false);
  if (name == "gpu.last_branch") return last_branch();
  if (name == "torch.runs_on_gpu") return runs_on_gpu();
  if (name.starts_with("fit.")) return fitting_wheel(name);
  if (name == "torch.cxx11_abi") return wheel_abi();
  if (name == "driver.branch") {
    for (const KnownFact& driver : of("driver.version"))
      if (auto version = parse_version(driver.value))
        found.push_back(follows(name, fmt::format("{}", version->major()), driver));
  } else if (name == "driver.cuda") {
    auto rules = tables_.load_rules();
    for (const KnownFact& driver : of("driver.version")) {
      auto version = parse_version(driver.value);
      if (!version || !rules) continue;
      LoadDriver made = make_driver(**rules, driver.value, *version);
      if (made.cuda) found.push_back(follows(name, to_string(*made.cuda), driver));
    }
  } else if (name == "gpu.capability") {
    auto gpus = tables_.gpus();
    for (const KnownFact& gpu : of("gpu.name"))
      if (GpuMatch match; gpus && (match = find_gpu(**gpus, gpu.value), match.gpu))
        found.push_back(follows(name, cc_name(match.gpu->sm), gpu));
  } else if (name == "torch.cuda") {
    for (const KnownFact& torch : of("torch.version")) {
      std::string tag = local_tag(torch.value);
      if (auto cuda = cuda_of_tag(tag))
        found.push_back(follows(name, to_string(*cuda), torch));
      else if (tag.starts_with("cpu"))
        found.push_back(follows(name, "none", torch));
    }
  }
  return found;
}

std::vector<KnownFact> FactView::nvcc_limit(bool highest) const {
  std::vector<KnownFact> found;
  auto toolkits = tables_.toolkits();
  if (!toolkits) return found;
  for (const KnownFact& nvcc : of("nvcc.version")) {
    auto version = parse_version(nvcc.value);
    if (!version) continue;
    for (const Toolkit& toolkit : **toolkits) {
      auto row = parse_version(toolkit.version);
      if (!row || row->major() != version->major() || row->minor() != version->minor() ||
          toolkit.sass_targets.empty())
        continue;
      auto [low, high] =
          std::minmax_element(toolkit.sass_targets.begin(), toolkit.sass_targets.end(),
                              [](const Target& a, const Target& b) { return a.sm < b.sm; });
      found.push_back(follows(highest ? "nvcc.max_sm" : "nvcc.min_sm",
                              sm_name({highest ? high->sm : low->sm, 0}), nvcc));
    }
  }
  return found;
}

std::vector<KnownFact> FactView::last_branch() const {
  std::vector<KnownFact> found;
  auto rules = tables_.load_rules();
  if (!rules) return found;
  for (const KnownFact& gpu : of("gpu.capability")) {
    auto target = parse_target(gpu.value);
    if (!target) continue;
    std::string last = "none";
    for (const ArchitectureEnd& end : (*rules)->ends)
      if (target->sm >= end.first_sm && target->sm <= end.last_sm)
        last = fmt::format("{}", end.last_branch);
    found.push_back(follows("gpu.last_branch", last, gpu));
  }
  return found;
}

std::vector<KnownFact> FactView::runs_on_gpu() const {
  std::vector<KnownFact> found;
  auto rules = tables_.load_rules();
  auto builds = tables_.frameworks();
  if (!rules || !builds) return found;
  std::vector<std::pair<KnownFact, Container>> codes;
  for (const KnownFact& archs : of("torch.archs"))
    codes.emplace_back(archs, container_of(archs.value));
  if (codes.empty())
    for (const KnownFact& torch : of("torch.version"))
      for (const FrameworkBuild& build : **builds)
        if (build.framework == "torch" && build.version == minor_release(torch.value) &&
            build.variant == local_tag(torch.value) && build.sass_known && build.ptx_known)
          codes.emplace_back(torch, container_of(build));
  for (const KnownFact& gpu : of("gpu.capability")) {
    auto target = parse_target(gpu.value);
    if (!target) continue;
    bool tegra = std::find((*rules)->tegra.begin(), (*rules)->tegra.end(), target->sm) !=
                 (*rules)->tegra.end();
    for (const auto& [from, container] : codes) {
      if (container.images.empty()) continue;
      LoadVerdict verdict =
          load_container(container, {gpu.value, target->sm, tegra}, nullptr, {}, **rules);
      if (verdict.outcome == LoadOutcome::may_fail) continue;
      KnownFact fact = follows("torch.runs_on_gpu", loads(verdict) ? "yes" : "no", from);
      fact.where += fmt::format(" and {}", fact_text(gpu));
      found.push_back(std::move(fact));
    }
  }
  return found;
}

// Of PyTorch's own wheels, which carry their variant in the version.
std::vector<KnownFact> FactView::wheel_abi() const {
  std::vector<KnownFact> found;
  auto tables = tables_.signatures();
  if (!tables) return found;
  for (const KnownFact& torch : of("torch.version")) {
    std::string variant = local_tag(torch.value);
    auto release = parse_version(minor_release(torch.value));
    if (!release || !(variant.starts_with("cu") || variant == "cpu" || variant == "xpu")) continue;
    for (const WheelAbi& row : (*tables)->wheel_abis) {
      bool fits = *release >= row.first && (!row.last || *release <= *row.last) &&
                  (row.variants.empty() || std::find(row.variants.begin(), row.variants.end(),
                                                     variant) != row.variants.end());
      if (!fits) continue;
      found.push_back(follows("torch.cxx11_abi", row.cxx11 ? "yes" : "no", torch));
      break;
    }
  }
  return found;
}

// The doctor's choice of a wheel, asked with what is known.
std::vector<KnownFact> FactView::fitting_wheel(std::string_view name) const {
  Machine machine;
  machine.kernel.functions = known(std::vector<PciFunction>{}, "the text");
  std::vector<KnownFact> drivers = of("driver.version"), cudas = of("driver.cuda");
  std::vector<KnownFact> gpus = of("gpu.capability"), torches = of("torch.version");
  if (drivers.size() == 1) machine.nvml.driver_version = drivers.front().value;
  std::optional<Version> cuda;
  if (cudas.size() == 1) cuda = parse_version(cudas.front().value);
  if (cuda) machine.nvml.cuda_version = cuda->major() * 1000 + cuda->minor() * 10;
  for (const KnownFact& fact : gpus) {
    auto target = parse_target(fact.value);
    if (!target) return {};
    NvmlGpu gpu;
    gpu.capability.value = target->sm;
    machine.nvml.gpus.push_back(gpu);
  }
  bool driver_known = drivers.size() == 1 || cuda;
  if (!driver_known && gpus.empty()) return {};
  auto wheel =
      fitting_torch(tables_, machine, torches.empty() ? "" : minor_release(torches.front().value));
  if (!wheel) return {};
  const KnownFact& from = drivers.size() == 1 ? drivers.front()
                          : cuda              ? cudas.front()
                                              : gpus.front();
  return {follows(name, name == "fit.torch" ? wheel->version : wheel->variant, from)};
}

} // namespace gpuvet
