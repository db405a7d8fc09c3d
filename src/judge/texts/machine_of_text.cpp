#include "judge/texts/machine_of_text.hpp"

#include "base/text.hpp"
#include "judge/rules/words.hpp"
#include "judge/texts/facts_in_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>

namespace gpuvet {
namespace {

constexpr const char* kNotTold = "not in the text";

// The one value of a name: what programs printed before what people said. "12.2" and "12.2.140" do
// not contradict each other.
Observed<std::string> the_one(const std::vector<KnownFact>& facts, std::string_view name) {
  for (bool said : {false, true}) {
    const KnownFact* best = nullptr;
    std::vector<std::string> all;
    bool agree = true;
    for (const KnownFact& fact : facts) {
      if (fact.name != name || only_said(fact) != said) continue;
      all.push_back(fmt::format("{} ({})", fact.value, fact.where));
      if (!best) {
        best = &fact;
        continue;
      }
      const KnownFact& longer = fact.value.size() > best->value.size() ? fact : *best;
      const KnownFact& shorter = &longer == &fact ? *best : fact;
      agree = agree && longer.value.starts_with(shorter.value);
      best = &longer;
    }
    if (best && agree) return known(best->value, best->where);
    if (best) return unknown<std::string>("the text tells several: " + joined(all));
  }
  return unknown<std::string>(kNotTold);
}

std::optional<bool> yes_no(const Observed<std::string>& told) {
  if (!told) return std::nullopt;
  return *told == "yes";
}

std::optional<uint64_t> number_of(const Observed<std::string>& told) {
  return told ? decimal_number(*told) : std::nullopt;
}

// "8.6" -> 86
std::optional<uint32_t> capability_of(std::string_view text) {
  auto version = parse_version(text);
  if (!version || version->parts.size() != 2) return std::nullopt;
  return version->major() * 10 + version->minor();
}

// "12.2" -> 12020
std::optional<uint32_t> cuda_number(const Observed<std::string>& told) {
  auto version = told ? parse_version(*told) : std::nullopt;
  if (!version || version->major() > 1000 || version->minor() > 99) return std::nullopt;
  return version->major() * 1000 + version->minor() * 10;
}

template <class T> void not_told(Observed<T>& field) {
  field = unknown<T>(kNotTold);
}

void add_system(const std::vector<KnownFact>& facts, const TextTables& tables, Machine& machine) {
  machine.system.kernel_release = the_one(facts, "kernel.version");
  machine.system.architecture = the_one(facts, "architecture").value.value_or("");
  machine.system.glibc = the_one(facts, "glibc.version");
  not_told(machine.system.user);
  not_told(machine.system.now);
  not_told(machine.system.booted);
  if (auto told = the_one(facts, "memlock"); told)
    machine.system.memlock_bytes = *told == "unlimited" ? UINT64_MAX : decimal_number(*told);
  machine.distribution.id = the_one(facts, "os.name");
  machine.distribution.version = the_one(facts, "os.version").value.value_or("");
  if (machine.distribution.id)
    for (const TextOs& system : tables.systems)
      if (system.id == *machine.distribution.id) {
        static constexpr std::array<std::pair<std::string_view, PackageSystem>, 5> kSystems = {
            {{"apt", PackageSystem::apt},
             {"dnf", PackageSystem::dnf},
             {"zypper", PackageSystem::zypper},
             {"pacman", PackageSystem::pacman},
             {"apk", PackageSystem::apk}}};
        for (const auto& [name, packages] : kSystems)
          if (system.packages == name) machine.distribution.packages = packages;
      }
}

void add_surroundings(const std::vector<KnownFact>& facts, Machine& machine) {
  Surroundings& around = machine.surroundings;
  Observed<std::string> container = the_one(facts, "container");
  not_told(around.container);
  if (container)
    if (auto kind = container_kind(*container)) around.container = known(*kind, container.source);
  around.wsl = yes_no(the_one(facts, "wsl")).value_or(false);
  around.jetson = yes_no(the_one(facts, "jetson")).value_or(false);
  around.jetson_release = the_one(facts, "jetson.release").value.value_or("");
  not_told(around.hypervisor);
  around.cloud = the_one(facts, "cloud");
  around.instance_type = the_one(facts, "cloud.type").value.value_or("");
  not_told(around.user_namespace);
  not_told(around.own_pid_namespace);
  not_told(around.shm_free_bytes);
  Observed<std::string> shm = the_one(facts, "shm.bytes");
  around.shm_bytes = unknown<uint64_t>(shm.why_unknown);
  if (auto bytes = number_of(shm)) around.shm_bytes = known(*bytes, shm.source);
}

void add_kernel(const std::vector<KnownFact>& facts, const SeenInText& seen, Machine& machine) {
  KernelSide& side = machine.kernel;
  not_told(side.functions);
  not_told(side.modules);
  not_told(side.module_files);
  not_told(side.headers);
  not_told(side.kernel_compiler);
  not_told(side.char_majors);
  not_told(side.proc_gpus);
  not_told(side.command_line);
  not_told(side.iommu);
  not_told(side.selinux_enforcing);
  not_told(side.modprobe_setuid);
  not_told(side.log.lines);

  side.module_version = the_one(facts, "driver.module");
  // nvidia-smi tells the version of the kernel's driver; on WSL that is the one of Windows.
  if (!side.module_version && !machine.surroundings.wsl &&
      the_one(facts, "nvml.error").why_unknown == kNotTold)
    if (auto told = the_one(facts, "driver.version");
        !told || told->find('.') != std::string::npos) // not a branch alone
      side.module_version = told;
  Observed<std::string> open = the_one(facts, "driver.open");
  side.flavour = unknown<Flavour>(open.why_unknown);
  if (open)
    side.flavour = known(*open == "yes" ? Flavour::open : Flavour::proprietary, open.source);
  Observed<std::string> secure = the_one(facts, "secure_boot");
  side.secure_boot = unknown<bool>(secure.why_unknown);
  if (secure) side.secure_boot = known(*secure == "yes", secure.source);

  if (!seen.functions.empty()) {
    std::vector<PciFunction> functions;
    for (const TextFunction& told : seen.functions) {
      PciFunction function;
      function.address = told.address.size() == 7 ? "0000:" + told.address : told.address;
      function.id = told.id;
      function.device_class =
          static_cast<uint32_t>(hexadecimal_number(told.device_class).value_or(0x0300) << 8);
      functions.push_back(std::move(function));
    }
    side.functions = known(std::move(functions), "lspci in the text");
  }
  if (!seen.kernel_lines.empty()) {
    std::vector<LogLine> lines;
    for (const auto& [number, text] : seen.kernel_lines)
      lines.push_back({std::nullopt, text, 0});
    side.log.lines = known(std::move(lines), "the text");
    side.log.from = "the text";
  }
  for (const TextXid& told : seen.xids) {
    XidEvent event;
    event.code = static_cast<uint32_t>(
        std::min<uint64_t>(decimal_number(told.code).value_or(0), UINT32_MAX));
    event.pci_address = told.pci;
    event.detail = std::string(trimmed(told.rest));
    side.xids.push_back(std::move(event));
  }
}

NvmlGpu nvml_gpu(const TextGpu& told) {
  NvmlGpu gpu;
  gpu.index = static_cast<uint32_t>(told.index);
  gpu.name = told.name;
  gpu.pci_address = told.pci_address;
  auto asked = [](auto& field, auto value) {
    field.error = -1;
    if (value) field = {std::move(value), 0};
  };
  asked(gpu.capability, capability_of(told.capability));
  asked(gpu.memory_total, told.memory_total);
  if (told.memory_total && told.memory_free && *told.memory_free <= *told.memory_total)
    asked(gpu.memory_used, std::optional(*told.memory_total - *told.memory_free));
  asked(gpu.mig, told.mig);
  if (told.compute_mode.starts_with("E") && told.compute_mode.find("rocess") != std::string::npos)
    gpu.compute_mode = {3, 0};
  else if (told.compute_mode == "Prohibited")
    gpu.compute_mode = {2, 0};
  else
    gpu.compute_mode.error = -1;
  return gpu;
}

// Values that NVML was not asked for must not look like a refusal of it.
void add_nvml(const std::vector<KnownFact>& facts, const SeenInText& seen, Machine& machine) {
  NvmlAnswers& nvml = machine.nvml;
  nvml.asked.problem = kNotTold;
  nvml.driver_version = the_one(facts, "driver.version").value.value_or("");
  nvml.cuda_version = cuda_number(the_one(facts, "driver.cuda"));
  if (auto error = number_of(the_one(facts, "nvml.error")); error && *error < 10000) {
    nvml.asked.state = AskState::failed;
    nvml.asked.error = static_cast<int>(*error);
    nvml.asked.problem.clear();
    nvml.library_version = the_one(facts, "driver.library").value.value_or("");
    return;
  }
  for (const TextGpu& told : seen.gpus)
    nvml.gpus.push_back(nvml_gpu(told));
  std::sort(nvml.gpus.begin(), nvml.gpus.end(),
            [](const NvmlGpu& a, const NvmlGpu& b) { return a.index < b.index; });
  if (nvml.gpus.empty()) { // one that is only named
    Observed<std::string> name = the_one(facts, "gpu.name");
    Observed<std::string> capability = the_one(facts, "gpu.capability");
    TextGpu told;
    told.name = name.value.value_or("");
    told.capability = capability.value.value_or("");
    told.memory_total = number_of(the_one(facts, "gpu.memory_bytes"));
    if (name || capability) nvml.gpus.push_back(nvml_gpu(told));
  }
  if (!seen.nvml_answered) return;
  nvml.asked.state = AskState::answered;
  nvml.asked.problem.clear();
  if (auto count = number_of(the_one(facts, "gpu.count")); count && *count <= SeenInText::kMostGpus)
    nvml.count = static_cast<uint32_t>(*count);
}

void add_driver_files(const std::vector<KnownFact>& facts, Machine& machine) {
  machine.driver.user_version = the_one(facts, "driver.library");
}

void add_toolkits(const std::vector<KnownFact>& facts, Machine& machine) {
  Toolkits& toolkits = machine.toolkits;
  Observed<std::string> version = the_one(facts, "nvcc.version");
  if (version) {
    NvccOnPath nvcc;
    nvcc.version = *version;
    nvcc.path = the_one(facts, "nvcc.path").value.value_or("nvcc");
    nvcc.real_path = nvcc.path;
    toolkits.nvcc.push_back(std::move(nvcc));
  }
  not_told(toolkits.cuda_link);
  toolkits.gcc = the_one(facts, "gcc.version");
  not_told(toolkits.clang);
  not_told(toolkits.host_compiler);
}

// Packages about which nothing is concluded from others that are not there: a report lists some.
bool stands_alone(std::string_view name) {
  static constexpr std::array<std::string_view, 7> kNames = {
      "torch", "pytorch", "torchvision", "torchaudio", "xformers", "vllm", "onnxruntime-gpu"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
         name.starts_with("cupy-cuda");
}

void add_python(const std::vector<KnownFact>& facts, const SeenInText& seen, Machine& machine) {
  std::map<std::string, std::vector<const KnownFact*>> packages;
  for (const KnownFact& fact : facts)
    if (fact.name.starts_with("package.")) {
      std::string name = fact.name.substr(8);
      std::replace(name.begin(), name.end(), '_', '-');
      packages[name].push_back(&fact);
    }
  Observed<std::string> torch = the_one(facts, "torch.version");
  PythonEnv env;
  env.executable = "python3";
  env.why = "in the text";
  env.python_version = the_one(facts, "python.version").value.value_or("");
  std::vector<PythonPackage> list;
  for (const auto& [name, told] : packages) {
    if (told.size() != 1 && name != "torch") continue; // contradictory
    if (!seen.all_packages && !stands_alone(name)) continue;
    if (name == "torch" || name == "pytorch") continue; // below, with all that is known of it
    PythonPackage package;
    package.name = name;
    package.version = told.front()->value;
    list.push_back(std::move(package));
  }
  if (torch) {
    PythonPackage package;
    package.name = packages.count("pytorch") && !packages.count("torch") ? "pytorch" : "torch";
    package.conda = package.name == "pytorch";
    package.version = *torch;
    list.push_back(std::move(package));
    env.torch["version"] = *torch;
    if (auto abi = yes_no(the_one(facts, "torch.cxx11_abi")))
      env.torch["cxx11_abi"] = *abi ? "1" : "0";
    Observed<std::string> cuda = the_one(facts, "torch.cuda");
    if (cuda && *cuda != "none") env.torch["cuda"] = *cuda;
    if (cuda) env.torch_has_cuda = *cuda != "none";
  }
  auto kept = [&](const char* fact, const char* key) {
    if (auto told = the_one(facts, fact)) env.xformers[key] = *told;
  };
  kept("xformers.torch", "torch");
  kept("xformers.cuda", "cuda");
  if (list.empty()) return;
  env.packages = known(std::move(list), "the text");
  machine.pythons.push_back(std::move(env));
}

} // namespace

Machine machine_of_text(const std::vector<KnownFact>& facts, const SeenInText& seen,
                        const TextTables& tables) {
  Machine machine;
  machine.seen = Seen::recording;
  add_system(facts, tables, machine);
  add_surroundings(facts, machine);
  add_kernel(facts, seen, machine);
  add_nvml(facts, seen, machine);
  machine.cuda.asked.problem = kNotTold;
  add_driver_files(facts, machine);
  not_told(machine.packages.relevant);
  add_toolkits(facts, machine);
  not_told(machine.loader.cache_sonames);
  add_python(facts, seen, machine);
  not_told(machine.container_host.toolkit);
  if (auto told = the_one(facts, "container_toolkit.version"))
    machine.container_host.toolkit = told;
  not_told(machine.container_host.docker_config);
  not_told(machine.fabric_manager.version);
  not_told(machine.processes);
  for (const KnownFact& fact : facts)
    if (fact.name.starts_with("env.") && !only_said(fact))
      machine.environment.emplace(fact.name.substr(4), fact.value);
  return machine;
}

Result<void> add_capabilities(Machine& machine, const Facts& facts) {
  bool missing = false;
  for (const NvmlGpu& gpu : machine.nvml.gpus)
    missing |= !gpu.capability && !gpu.name.empty();
  if (!missing) return {};
  auto table = facts.gpus();
  if (!table) return tl::unexpected<Error>(table.error());
  for (NvmlGpu& gpu : machine.nvml.gpus) {
    if (gpu.capability || gpu.name.empty()) continue;
    if (const Gpu* row = find_gpu(**table, gpu.name).gpu) gpu.capability = {row->sm, 0};
  }
  return {};
}

} // namespace gpuvet
