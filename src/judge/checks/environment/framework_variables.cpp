// Checks of variables of NCCL, PyTorch and XLA, and of names that nothing reads.
#include "base/text.hpp"
#include "judge/checks/common.hpp"
#include "judge/checks/environment/left_on.hpp"
#include "judge/checks/subjects.hpp"
#include "judge/rules/alloc_conf.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace gpuvet {
namespace {

// --- NCCL ----------------------------------------------------------------------------------------

Outcome transport_off(const Machine& machine, const Facts&) {
  bool several = gpu_count(machine) > 1;
  bool rdma = !machine.network.ports.empty();
  std::vector<std::string> names;
  if (several) names = {"NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE"};
  if (rdma) names.emplace_back("NCCL_IB_DISABLE");
  if (names.empty()) return not_applicable("one GPU and no RDMA device: NCCL has nothing to lose");
  Outcome outcome = left_on(machine, names, switched_on);
  if (outcome.answer == Answer::fires || !rdma) return outcome;
  Outcome net = left_on(machine, {"NCCL_NET"},
                        [](const std::string& value) { return lower_ascii(value) == "socket"; });
  return net.answer == Answer::fires ? net : outcome;
}

Outcome nccl_debug(const Machine& machine, const Facts&) {
  Outcome outcome = left_on(machine, {"NCCL_DEBUG"}, [](const std::string& value) {
    std::string word = lower_ascii(value);
    return word == "info" || word == "trace";
  });
  if (outcome.answer == Answer::fires && lower_ascii(outcome.fields["value"]) == "trace")
    outcome.severity = Severity::warning;
  return outcome;
}

Outcome buffsize(const Machine& machine, const Facts&) {
  constexpr uint64_t kMost = 64U << 20U; // bytes; the default is 4 MiB
  return left_on(machine, {"NCCL_BUFFSIZE"}, [](const std::string& value) {
    std::optional<uint64_t> bytes = decimal_number(value);
    return bytes && *bytes > kMost;
  });
}

// --- PyTorch -------------------------------------------------------------------------------------

constexpr std::array<const char*, 2> kConf = {"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"};

template <class Meant>
Outcome conf_setting(const Machine& machine, std::string fine, const Meant& meant) {
  bool any = false;
  for (const char* name : kConf)
    for (const SetHere& setting : settings_of(machine, name)) {
      any = true;
      AllocConf conf = read_alloc_conf(setting.value);
      for (const AllocConf::Wrong& wrong : conf.wrong) {
        if (!meant(wrong)) continue;
        Outcome outcome = fires({setting.where}, {{"name", name},
                                                  {"value", setting.value},
                                                  {"setting", wrong.setting},
                                                  {"why", wrong.why}});
        if (setting.here) outcome.fields["variable"] = name;
        return wrong.certain
                   ? outcome
                   : likely(std::move(outcome), "whether the installed PyTorch knows the key");
      }
    }
  return any ? ok(std::move(fine)) : not_applicable("PYTORCH_CUDA_ALLOC_CONF is not set");
}

Outcome conf_key(const Machine& machine, const Facts&) {
  return conf_setting(machine, "all keys are known",
                      [](const AllocConf::Wrong& wrong) { return !wrong.value; });
}

Outcome conf_value(const Machine& machine, const Facts&) {
  return conf_setting(machine, "all values are of the right kind",
                      [](const AllocConf::Wrong& wrong) { return wrong.value; });
}

Outcome conf_ignored(const Machine& machine, const Facts&) {
  for (const char* name : kConf) {
    AllocConf conf = read_alloc_conf(variable(machine, name));
    if (!conf.ignored.empty())
      return fires({fmt::format("environment: {}={}", name, variable(machine, name))},
                   {{"name", name}, {"ignored", conf.ignored}});
  }
  std::string both = variable(machine, kConf[0]), old = variable(machine, kConf[1]);
  if (both.empty() && old.empty()) return not_applicable("PYTORCH_CUDA_ALLOC_CONF is not set");
  if (both.empty() || old.empty() || both == old) return ok("no setting is ignored");
  return fires({fmt::format("environment: {}={}", kConf[0], both),
                fmt::format("environment: {}={}", kConf[1], old)},
               {{"name", kConf[0]}, {"ignored", kConf[1]}});
}

Outcome no_caching(const Machine& machine, const Facts&) {
  return left_on(machine, {"PYTORCH_NO_CUDA_MEMORY_CACHING"},
                 [](const std::string&) { return true; });
}

Outcome torch_debug(const Machine& machine, const Facts&) {
  Outcome outcome = left_on(machine, {"TORCH_DISTRIBUTED_DEBUG"},
                            [](const std::string& value) { return value == "DETAIL"; });
  if (outcome.answer == Answer::fires) return outcome;
  Outcome wait = left_on(machine, {"TORCH_NCCL_BLOCKING_WAIT", "NCCL_BLOCKING_WAIT"}, switched_on);
  return wait.answer == Answer::fires ? wait : outcome;
}

// --- XLA -----------------------------------------------------------------------------------------

Outcome xla_allocator(const Machine& machine, const Facts&) {
  return left_on(machine, {"XLA_PYTHON_CLIENT_ALLOCATOR"},
                 [](const std::string& value) { return value == "platform"; });
}

// --- names ---------------------------------------------------------------------------------------

Outcome not_read(const Machine& machine, const Facts& facts) {
  auto wrong = facts.wrong_variables();
  if (!wrong) return not_known(wrong.error().what);
  for (const WrongVariable& row : **wrong)
    if (machine.environment.count(row.name))
      return fires({fmt::format("environment: {}={}", row.name, variable(machine, row.name))},
                   {{"name", row.name}, {"truth", row.truth}, {"use", joined(row.use, " or ")}});
  return ok("no variable is set that is known to be read by nothing");
}

Outcome misspelt(const Machine& machine, const Facts&) {
  constexpr std::array<std::string_view, 12> kNames = {
      "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER",       "CUDA_LAUNCH_BLOCKING",
      "CUDA_MODULE_LOADING",  "LD_LIBRARY_PATH",         "NCCL_SOCKET_IFNAME",
      "NCCL_IB_DISABLE",      "NCCL_P2P_DISABLE",        "NVIDIA_VISIBLE_DEVICES",
      "TORCH_CUDA_ARCH_LIST", "PYTORCH_CUDA_ALLOC_CONF", "NVIDIA_DRIVER_CAPABILITIES"};
  for (const auto& [name, value] : machine.environment)
    for (std::string_view right : kNames) {
      size_t distance = edit_distance(name, right, 2);
      if (distance == 0 || distance > 2 || name.size() < 10) continue;
      if (std::find(kNames.begin(), kNames.end(), name) != kNames.end()) continue;
      return fires({fmt::format("environment: {}={}", name, value)},
                   {{"name", name}, {"right", std::string(right)}, {"value", value}});
    }
  return ok("no variable looks misspelt");
}

} // namespace

CheckList framework_variable_checks() {
  return {{"environment-nccl-transport-off", transport_off},
          {"environment-nccl-debug", nccl_debug},
          {"environment-nccl-buffsize", buffsize},
          {"environment-alloc-conf-key", conf_key},
          {"environment-alloc-conf-value", conf_value},
          {"environment-alloc-conf-ignored", conf_ignored},
          {"environment-no-caching-allocator", no_caching},
          {"environment-torch-debug", torch_debug},
          {"environment-xla-allocator", xla_allocator},
          {"environment-variable-not-read", not_read},
          {"environment-variable-misspelt", misspelt}};
}

} // namespace gpuvet
