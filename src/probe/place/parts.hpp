// The parts of probe_place; each fills what it is named for.
#pragma once

#include "probe/source.hpp"

#include <map>
#include <string>
#include <vector>

namespace gpuvet::place {

using Environment = std::map<std::string, std::string>;

void probe_distribution(const Source& source, Distribution& distribution);
void probe_container(const Source& source, const Environment& environment, Surroundings& around);
void probe_machine_kind(const Source& source, Surroundings& around); // WSL, Jetson, VM, cloud
void probe_limits(const Source& source, Surroundings& around);       // /dev/shm, cgroup, namespaces
void probe_cluster(const Source& source, const Environment& environment, Surroundings& around);
void probe_mps(const Source& source, const Environment& environment, Surroundings& around);
void probe_services(const Source& source, std::vector<ServiceUnit>& services);
void probe_docker(const Source& source, const Environment& environment, ContainerHost& host);
void probe_runtimes(const Source& source, ContainerHost& host); // NVIDIA's runtime, containerd
void probe_cdi(const Source& source, ContainerHost& host);
void probe_network(const Source& source, const Environment& environment, NetworkFacts& network);
void probe_periodic(const Source& source, std::vector<PeriodicJob>& jobs);
void probe_fabric_manager(const Source& source, FabricManager& manager);

struct ToldCloud {
  std::string cloud, by; // "aws", and what tells it; empty: nothing does
};
ToldCloud cloud_by_devices(const Source& source);

// The value of a variable; empty: not set.
std::string variable(const Environment& environment, const std::string& name);

// Names in a folder, or none.
std::vector<std::string> names_in(const Source& source, const std::string& folder);

// "key = value" lines of TOML and systemd units, each under its [section]; quotes are taken away
// from keys and values, so that "nvidia-container-cli.no-cgroups" -> "true". Lists stay as written.
struct Setting {
  std::string section, key, value;
  uint32_t line = 0;
};
std::vector<Setting> settings_in(const std::vector<std::string>& lines);
// Names of the sections that are there, empty ones too, without quotes.
std::vector<std::string> sections_in(const std::vector<std::string>& lines);

// "15s", "1min 30s", "90": seconds, as systemd reads them.
std::optional<double> time_span(std::string_view text);

// The first version number in a text, "580.65.06"; empty: none.
std::string dotted_number(std::string_view text);

} // namespace gpuvet::place
