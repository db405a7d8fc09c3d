// Machines for tests of checks. Each is healthy; a test breaks what it is about, so that nothing
// else can explain what fires.
#pragma once

#include "judge/checks/subjects.hpp"
#include "judge/doctor/diagnose.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet::testing {

const Facts& facts();

// What check `id` says of `machine`.
Outcome ask(const CheckList& checks, std::string_view id, const Machine& machine);

// Ids of the checks that fire, in order.
std::vector<std::string> firing(const CheckList& checks, const Machine& machine);

// Ids of what the whole doctor finds, worst first, consequences left out. Infos are left out too.
std::vector<std::string> found(const Machine& machine, const std::set<std::string>& areas = {});

// The first command that the doctor gives for check `id`; empty: none.
std::string first_command(const Machine& machine, std::string_view id);

PciFunction pci_function(std::string address, std::string id, std::string driver,
                         uint32_t device_class = 0x030200);

KernelModule kernel_module(std::string name, std::string version = {});

DeviceNode device_node(std::string path, uint32_t major, uint32_t minor);

DeviceNode absent_node(std::string path);

std::string gpu_address(uint32_t index);

// Idle, as most machines are when they are looked at: the link has stepped down.
NvmlGpu nvml_gpu(uint32_t index, std::string name, uint32_t capability);

LibraryFile library_file(std::string path, std::string version, std::string owner = {});

ServiceUnit service(std::string name, bool enabled, bool running);

// What every machine with a driver of this version has; `gpus` of one kind.
Machine with_driver(const std::string& version, uint32_t gpus, const std::string& id,
                    const std::string& name, uint32_t capability, uint32_t device_class = 0x030200);

// HGX H100: eight GPUs, four NVSwitches, fabric manager.
Machine healthy_h100();

// A desktop with one GeForce card, proprietary module, display on it.
Machine healthy_desktop_4090();

// Docker with one GPU of an H100 machine: the host's module, no module files, no host log.
Machine container();

// A machine on which there never was a GPU or a driver.
Machine no_gpu();

KernelModule* find_module(Machine& machine, std::string_view name);

void unload(Machine& machine, std::string_view name);

DeviceNode& node(Machine& machine, std::string_view path);

// What NVML, CUDA and /proc say when the nvidia module is not in the kernel.
void without_module(Machine& machine);

void log_line(Machine& machine, std::string text);

} // namespace gpuvet::testing
