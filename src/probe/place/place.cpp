#include "probe/place/parts.hpp"
#include "probe/probe.hpp"

namespace gpuvet {

void probe_place(const Source& source, Machine& machine) {
  const std::map<std::string, std::string> environment = source.environment();
  place::probe_distribution(source, machine.distribution);
  place::probe_container(source, environment, machine.surroundings);
  place::probe_machine_kind(source, machine.surroundings);
  place::probe_limits(source, machine.surroundings);
  place::probe_cluster(source, environment, machine.surroundings);
  place::probe_mps(source, environment, machine.surroundings);
  place::probe_services(source, machine.services);
  place::probe_docker(source, environment, machine.container_host);
  place::probe_runtimes(source, machine.container_host);
  place::probe_cdi(source, machine.container_host);
  place::probe_network(source, environment, machine.network);
  place::probe_periodic(source, machine.periodic);
  place::probe_fabric_manager(source, machine.fabric_manager);
}

} // namespace gpuvet
