// systemd units that bear on GPUs, by their files, links and cgroups: systemd itself is asked only
// about a unit that should run and does not, because a question to it takes milliseconds.
#include "base/text.hpp"
#include "probe/place/parts.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace gpuvet::place {
namespace {

constexpr std::array<std::string_view, 4> kFolders = {
    "/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"};
constexpr std::array<std::string_view, 24> kNames = {"nvidia-fabricmanager",
                                                     "nvidia-persistenced",
                                                     "nvidia-powerd",
                                                     "nvidia-suspend",
                                                     "nvidia-resume",
                                                     "nvidia-hibernate",
                                                     "nvidia-dcgm",
                                                     "dcgm",
                                                     "dcgm-exporter",
                                                     "nvidia-imex",
                                                     "nvidia-cdi-refresh",
                                                     "docker",
                                                     "containerd",
                                                     "crio",
                                                     "kubelet",
                                                     "k3s",
                                                     "k3s-agent",
                                                     "rke2-server",
                                                     "rke2-agent",
                                                     "slurmd",
                                                     "openibd",
                                                     "nvidia-gridd",
                                                     "snap.docker.dockerd",
                                                     "snap.microk8s.daemon-containerd"};
// Daemons: a unit of these that is enabled should be running.
constexpr std::array<std::string_view, 8> kDaemons = {"nvidia-fabricmanager",
                                                      "nvidia-persistenced",
                                                      "nvidia-dcgm",
                                                      "nvidia-imex",
                                                      "docker",
                                                      "containerd",
                                                      "kubelet",
                                                      "slurmd"};
// Other units are of interest when they name one of these: they may want a GPU.
constexpr std::array<std::string_view, 7> kWords = {"nvidia", "cuda",   "python", "torch",
                                                    "vllm",   "ollama", "triton"};
constexpr std::array<std::string_view, 16> kKeys = {
    "PrivateDevices", "DevicePolicy", "DeviceAllow",   "LimitMEMLOCK",
    "LimitNOFILE",    "ExecStart",    "User",          "SupplementaryGroups",
    "After",          "Requires",     "Wants",         "BindsTo",
    "Restart",        "Environment",  "ProtectSystem", "MemoryDenyWriteExecute"};

bool is_list(std::string_view key) {
  static constexpr std::array<std::string_view, 7> lists = {
      "DeviceAllow", "SupplementaryGroups", "After", "Requires", "Wants", "BindsTo", "Environment"};
  return std::find(lists.begin(), lists.end(), key) != lists.end();
}

// Variables of a unit may be secrets; those that bear on GPUs are not.
std::string telling_variables(const std::string& value) {
  std::string kept;
  for (const std::string& word : words_of(value)) {
    std::string_view text = unquoted(word);
    if (text.starts_with('"')) text.remove_prefix(1);
    bool telling = text.starts_with("CUDA_") || text.starts_with("NVIDIA_") ||
                   text.starts_with("NCCL_") || text.starts_with("LD_LIBRARY_PATH");
    if (telling) kept += (kept.empty() ? "" : " ") + std::string(text);
  }
  return kept;
}

// As systemd reads them: a list grows, an empty value clears it; of others the last counts.
void take_settings(const std::vector<std::string>& text,
                   std::map<std::string, std::string>& settings) {
  for (Setting& setting : settings_in(text)) {
    if (std::find(kKeys.begin(), kKeys.end(), setting.key) == kKeys.end()) continue;
    std::string& value = settings[setting.key];
    std::string told =
        setting.key == "Environment" ? telling_variables(setting.value) : setting.value;
    if (setting.value.empty() || !is_list(setting.key))
      value = told;
    else if (!told.empty())
      value += (value.empty() ? "" : "; ") + told;
    if (value.empty()) settings.erase(setting.key);
  }
}

// Names that .wants and .requires folders link to.
std::set<std::string> linked_units(const Source& source) {
  std::set<std::string> linked;
  for (std::string_view folder : kFolders)
    for (const std::string& name : names_in(source, std::string(folder))) {
      if (!name.ends_with(".wants") && !name.ends_with(".requires")) continue;
      for (const std::string& unit : names_in(source, std::string(folder) + "/" + name))
        linked.insert(unit);
    }
  return linked;
}

// Version 2 tells of the processes in all cgroups below, version 1 of those in this one only.
Observed<bool> is_running(const Source& source, const std::string& unit) {
  for (const char* base : {"/sys/fs/cgroup/system.slice", "/sys/fs/cgroup/systemd/system.slice"}) {
    std::string slice = base;
    if (!is_folder(source, slice)) continue;
    std::string folder = slice + "/" + unit;
    for (const std::string& line : lines(source, folder + "/cgroup.events"))
      if (line.starts_with("populated ")) return known(line == "populated 1", folder);
    bool any = !first_line(source, folder + "/cgroup.procs").empty();
    return known(any, any ? folder : folder + " has no process");
  }
  return unknown<bool>("no systemd cgroup is visible here");
}

std::string unit_file(const Source& source, const std::string& unit) {
  for (std::string_view folder : kFolders) {
    std::string path = std::string(folder) + "/" + unit;
    if (source.entry(path)) return path;
  }
  return {};
}

ServiceUnit read_unit(const Source& source, const std::string& file,
                      const std::set<std::string>& linked) {
  ServiceUnit unit;
  unit.file = file;
  unit.name = file.substr(file.rfind('/') + 1);
  auto target = source.link_target(file);
  if (target && *target == "/dev/null") {
    unit.enabled = known(false, file + " is masked");
    unit.state = "masked";
  } else {
    bool is_linked = linked.count(unit.name) != 0;
    unit.enabled = known(is_linked, is_linked ? "linked from a target" : "no target links it");
    take_settings(lines(source, file), unit.settings);
    for (std::string_view folder : kFolders)
      for (const std::string& part :
           matching(source, std::string(folder) + "/" + unit.name + ".d", "*.conf"))
        take_settings(lines(source, part), unit.settings);
  }
  unit.running = is_running(source, unit.name);
  return unit;
}

// Units of the administrator that may want a GPU.
void read_own_units(const Source& source, const std::set<std::string>& linked,
                    std::vector<ServiceUnit>& services) {
  constexpr size_t most = 200;
  std::vector<std::string> files = matching(source, "/etc/systemd/system", "*.service");
  for (size_t i = 0; i < std::min(files.size(), most); ++i) {
    auto same = [&](const ServiceUnit& unit) { return unit.file == files[i]; };
    if (std::any_of(services.begin(), services.end(), same)) continue;
    auto text = source.read_file(files[i], size_t{64} << 10);
    bool names_one = text && std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
                       return holds_word(*text, word);
                     });
    if (names_one) services.push_back(read_unit(source, files[i], linked));
  }
}

bool should_run_and_does_not(const ServiceUnit& unit) {
  std::string name = unit.name.substr(0, unit.name.rfind('.'));
  bool daemon = std::find(kDaemons.begin(), kDaemons.end(), name) != kDaemons.end();
  return daemon && unit.enabled && *unit.enabled && unit.running && !*unit.running;
}

// Answers come in blocks of "Key=value", one block per unit, parted by empty lines.
void take_states(const std::string& answer, std::vector<ServiceUnit>& services) {
  std::map<std::string, std::string> fields;
  for (const std::string& line : split_at(answer + "\n", '\n')) {
    if (auto pair = key_and_value(line, '=')) fields[pair->first] = pair->second;
    if (!line.empty()) continue;
    for (ServiceUnit& unit : services) {
      if (fields.empty() || unit.name != fields["Id"]) continue;
      unit.state = fields["ActiveState"];
      auto restarts = decimal_number(fields["NRestarts"]);
      if (restarts && *restarts <= UINT32_MAX) unit.restarts = static_cast<uint32_t>(*restarts);
      if (!fields["Result"].empty()) unit.settings["Result"] = fields["Result"];
    }
    fields.clear();
  }
}

void ask_systemd(const Source& source, std::vector<ServiceUnit>& services) {
  const std::string program = "/usr/bin/systemctl";
  if (!source.run || !exists(source, "/run/systemd/system") || !exists(source, program)) return;
  std::vector<std::string> command = {program, "show", "--no-pager",
                                      "--property=Id,ActiveState,NRestarts,Result"};
  size_t fixed = command.size();
  for (const ServiceUnit& unit : services)
    if (should_run_and_does_not(unit)) command.push_back(unit.name);
  if (command.size() == fixed) return;
  constexpr double deadline_s = 1.0;
  auto answer = source.run(command, deadline_s);
  if (answer && !answer->timed_out && answer->status == 0) take_states(answer->output, services);
}

} // namespace

void probe_services(const Source& source, std::vector<ServiceUnit>& services) {
  std::set<std::string> linked = linked_units(source);
  for (std::string_view name : kNames) {
    std::string file = unit_file(source, std::string(name) + ".service");
    if (!file.empty()) services.push_back(read_unit(source, file, linked));
  }
  read_own_units(source, linked, services);
  ask_systemd(source, services);
}

} // namespace gpuvet::place
