// Checks of NVSwitch and NVLink, by what they look at, and what they share.
#pragma once

#include "judge/checks/common.hpp"
#include "judge/checks/subjects.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpuvet::fabric {

CheckList manager_checks(); // manager.cpp: the fabric manager
CheckList state_checks();   // state.cpp: registration, confidential computing, IMEX
CheckList link_checks();    // links.cpp: NVLink connections and NVSwitches

constexpr const char* kManagerUnit = "nvidia-fabricmanager.service";

// NVML's states of a GPU's registration with the fabric.
constexpr uint32_t kNotStarted = 1, kInProgress = 2, kCompleted = 3;

std::vector<const PciFunction*> nvswitches(const Machine& machine);
std::string switches_text(size_t count); // "4 NVSwitches"
std::string switches_evidence(const Machine& machine);

bool any_state(const Machine& machine, uint32_t state);
bool all_registered(const Machine& machine);
std::string state_evidence(const NvmlGpu& gpu);

// Evidence: GPUs that are not registered; what CUDA says; what the manager's log says.
void add_states(const Machine& machine, std::vector<std::string>& evidence);
void add_cuda(const Machine& machine, std::vector<std::string>& evidence);
void add_manager_lines(const Machine& machine, std::vector<std::string>& evidence);

// Fields "driver" and "branch".
std::map<std::string, std::string> version_fields(const Machine& machine);

// The answer of a check that needs a host with NVSwitches and a driver; nullopt: this is one.
std::optional<Outcome> no_switches(const Machine& machine);

Observed<bool> manager_running(const Machine& machine);

// GB200, GB300: the switches stand in trays of their own.
bool is_rack_scale(const Machine& machine);

} // namespace gpuvet::fabric
