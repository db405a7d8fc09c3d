// Checks of CUDA's multi-process service (MPS).
#include "judge/checks/common.hpp"
#include "judge/checks/subjects.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {
namespace {

constexpr const char* kPipes = "CUDA_MPS_PIPE_DIRECTORY";

const GpuProcess* server(const Machine& machine) {
  if (!machine.processes) return nullptr;
  for (const GpuProcess& process : *machine.processes)
    if (process.name.starts_with("nvidia-cuda-mps")) return &process;
  return nullptr;
}

bool runs(const Machine& machine) {
  return machine.surroundings.mps.daemon.value_or(false) || server(machine) != nullptr;
}

Outcome no_daemon(const Machine& machine, const Facts&) {
  std::string folder = variable(machine, kPipes);
  if (folder.empty()) return not_applicable("CUDA_MPS_PIPE_DIRECTORY is not set");
  const MpsFacts& mps = machine.surroundings.mps;
  if (!mps.control_socket)
    return not_known("whether MPS listens in " + folder + " (ls " + folder + ")");
  if (*mps.control_socket) return ok("MPS listens in " + folder);
  Outcome outcome =
      fires({fmt::format("environment: {}={}", kPipes, folder),
             fmt::format("{}/control: {}", folder,
                         mps.folder.value_or(true) ? "no such file" : "no such folder")},
            {{"folder", folder}});
  if (runs(machine))
    outcome.evidence.push_back("nvidia-cuda-mps-control runs, with another folder");
  return outcome;
}

Outcome other_user(const Machine& machine, const Facts&) {
  const MpsFacts& mps = machine.surroundings.mps;
  if (!runs(machine) && !mps.control_socket.value_or(false))
    return not_applicable("MPS does not run");
  if (!mps.owner || !machine.system.user)
    return not_known("whose MPS it is (ls -l " + mps.pipe_folder + ")");
  uint64_t user = *machine.system.user;
  // A daemon of root starts servers for whoever asks, one user at a time.
  if (*mps.owner == user || *mps.owner == 0 || user == 0) return ok("MPS serves this user");
  return fires({fmt::format("{}/control: belongs to user {}", mps.pipe_folder, *mps.owner),
                fmt::format("geteuid: {}", user)},
               {{"owner", fmt::format("{}", *mps.owner)}, {"folder", mps.pipe_folder}});
}

Outcome default_mode(const Machine& machine, const Facts&) {
  if (!runs(machine)) return not_applicable("MPS does not run");
  if (machine.nvml.asked.state != AskState::answered) return not_known("NVML did not answer");
  std::vector<std::string> evidence;
  for (const NvmlGpu& gpu : machine.nvml.gpus)
    if (gpu.compute_mode && *gpu.compute_mode == 0)
      evidence.push_back(fmt::format("nvmlDeviceGetComputeMode(GPU {}): 0 (default)", gpu.index));
  if (evidence.empty()) return ok("the GPUs take one process, the MPS server");
  return fires(std::move(evidence));
}

Outcome many_clients(const Machine& machine, const Facts&) {
  constexpr size_t kLimit = 48; // per GPU and server on Volta and newer, of the older limits
  if (!runs(machine)) return not_applicable("MPS does not run");
  if (machine.nvml.asked.state != AskState::answered) return not_known("NVML did not answer");
  size_t most = 0;
  uint32_t where = 0;
  for (const NvmlGpu& gpu : machine.nvml.gpus)
    if (gpu.processes && (*gpu.processes).size() > most) {
      most = (*gpu.processes).size();
      where = gpu.index;
    }
  if (most < kLimit) return ok(counted(most, "process") + " on the fullest GPU");
  return likely(
      fires({fmt::format("nvmlDeviceGetComputeRunningProcesses(GPU {}): {}", where, most)},
            {{"count", fmt::format("{}", most)}, {"gpu", fmt::format("GPU {}", where)}}),
      "how many clients the server has (echo get_client_list PID | nvidia-cuda-mps-control)");
}

} // namespace

CheckList mps_checks() {
  return {{"cuda-mps-no-daemon", no_daemon},
          {"cuda-mps-other-user", other_user},
          {"cuda-mps-default-mode", default_mode},
          {"cuda-mps-many-clients", many_clients}};
}

} // namespace gpuvet
