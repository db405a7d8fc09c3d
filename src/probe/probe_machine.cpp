#include "probe/probe.hpp"

#include <array>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string_view>
#include <thread>

namespace gpuvet {
namespace {

// Variables of the environment that bear on CUDA, by their start.
constexpr std::array<std::string_view, 28> kPrefixes = {
    "CUDA",   "NVIDIA_", "NCCL_",  "TORCH_",  "PYTORCH_", "XLA_",    "TF_",
    "LD_",    "NV",      "PYTHON", "VIRTUAL", "CONDA_",   "SLURM_",  "KUBERN",
    "JAX_",   "TRITON_", "CMAKE",  "OMPI_",   "UCX_",     "DCGM_",   "CUDNN_",
    "CUBLAS", "GPU_",    "ROCR_",  "NSIGHT_", "COMPUTE_", "OPENCL_", "SUDO_UID"};

bool bears_on_cuda(std::string_view name) {
  if (name == "PATH" || name == "CC" || name == "CXX" || name == "USER_SITE") return true;
  for (std::string_view prefix : kPrefixes)
    if (name.starts_with(prefix)) return true;
  return false;
}

// A probe works on a Machine of its own, so that one that does not come back leaves nothing half
// written; `take` moves its part over once it is finished.
struct Part {
  std::string name;
  std::function<void(Machine&)> run;
  std::function<void(Machine& from, Machine& to)> take;
};

std::vector<Part> parts(const Source& source, const ProbeOptions& options) {
  return {
      {"what the kernel shows", [source](Machine& m) { probe_kernel(source, m); },
       [](Machine& from, Machine& to) { to.kernel = std::move(from.kernel); }},
      {"the surroundings", [source](Machine& m) { probe_place(source, m); },
       [](Machine& from, Machine& to) {
         to.distribution = std::move(from.distribution);
         to.surroundings = std::move(from.surroundings);
         to.services = std::move(from.services);
         to.container_host = std::move(from.container_host);
         to.network = std::move(from.network);
         to.periodic = std::move(from.periodic);
         to.fabric_manager = std::move(from.fabric_manager);
       }},
      {"software and shared libraries",
       [source](Machine& m) {
         probe_loader(source, m);
         probe_software(source, m);
         attribute_driver_files(source, m);
       },
       [](Machine& from, Machine& to) {
         to.loader = std::move(from.loader);
         to.driver = std::move(from.driver);
         to.packages = std::move(from.packages);
         to.toolkits = std::move(from.toolkits);
         to.cudnn_headers = std::move(from.cudnn_headers);
         to.libraries.insert(to.libraries.end(), from.libraries.begin(), from.libraries.end());
       }},
      {"Python environments", [source, options](Machine& m) { probe_pythons(source, options, m); },
       [](Machine& from, Machine& to) {
         to.pythons = std::move(from.pythons);
         to.toolkits.installed.insert(to.toolkits.installed.end(), from.toolkits.installed.begin(),
                                      from.toolkits.installed.end());
         to.libraries.insert(to.libraries.end(), from.libraries.begin(), from.libraries.end());
       }},
      {"processes", [source](Machine& m) { m.processes = source.processes(); },
       [](Machine& from, Machine& to) { to.processes = std::move(from.processes); }},
      {"NVML", [source](Machine& m) { m.nvml = source.nvml(); },
       [](Machine& from, Machine& to) { to.nvml = std::move(from.nvml); }},
      {"the CUDA driver",
       [source, options](Machine& m) {
         if (options.cuda) m.cuda = source.cuda();
       },
       [](Machine& from, Machine& to) { to.cuda = std::move(from.cuda); }},
  };
}

// What the threads and the caller share. A thread that outlives the caller keeps it alive.
struct Shared {
  std::mutex mutex;
  std::condition_variable finished;
  std::vector<Part> parts;
  std::vector<std::unique_ptr<Machine>> results; // null: not finished
  size_t open = 0;
};

void run_part(const std::shared_ptr<Shared>& shared, size_t index) {
  auto result = std::make_unique<Machine>();
  shared->parts[index].run(*result);
  std::lock_guard lock(shared->mutex);
  shared->results[index] = std::move(result);
  --shared->open;
  shared->finished.notify_all();
}

} // namespace

Machine probe_machine(const Source& source, const ProbeOptions& options, double deadline_s) {
  auto until = std::chrono::steady_clock::now() +
               std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                   std::chrono::duration<double>(deadline_s));
  auto shared = std::make_shared<Shared>();
  shared->parts = parts(source, options);
  shared->results.resize(shared->parts.size());
  shared->open = shared->parts.size();
  for (size_t i = 0; i < shared->parts.size(); ++i)
    std::thread(run_part, shared, i).detach();

  Machine machine;
  machine.seen = source.kind;
  machine.system = source.system();
  for (const auto& [name, value] : source.environment())
    if (bears_on_cuda(name)) machine.environment.emplace(name, value);

  std::unique_lock lock(shared->mutex);
  shared->finished.wait_until(lock, until, [&] { return shared->open == 0; });
  for (size_t i = 0; i < shared->parts.size(); ++i) {
    if (shared->results[i])
      shared->parts[i].take(*shared->results[i], machine);
    else
      machine.not_finished.push_back(shared->parts[i].name);
  }
  return machine;
}

} // namespace gpuvet
