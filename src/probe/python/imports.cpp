#include "probe/python/imports.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace gpuvet {
namespace {

constexpr double kDeadline = 60;     // seconds; a cold import of a framework takes many
constexpr size_t kMostOutput = 4000; // bytes; the end of a traceback tells most

struct Trial {
  std::string_view package; // normalised
  std::string_view code;
};
// The version and whether a GPU can be used, in one line; otherwise the import alone.
constexpr std::array<Trial, 14> kTrials = {
    {{"torch", "import torch; print(torch.__version__, 'cuda', torch.version.cuda, 'available', "
               "torch.cuda.is_available())"},
     {"tensorflow", "import tensorflow as t; print(t.__version__, 'gpus', "
                    "len(t.config.list_physical_devices('GPU')))"},
     {"jax", "import jax; print(jax.__version__, [d.platform for d in jax.devices()])"},
     {"cupy", "import cupy; print(cupy.__version__, 'gpus', cupy.cuda.runtime.getDeviceCount())"},
     {"onnxruntime", "import onnxruntime as o; print(o.__version__, o.get_available_providers())"},
     {"paddlepaddle-gpu", "import paddle; print(paddle.__version__, paddle.device.cuda."
                          "device_count())"},
     {"torchvision", "import torchvision as m; print(m.__version__)"},
     {"torchaudio", "import torchaudio as m; print(m.__version__)"},
     {"triton", "import triton as m; print(m.__version__)"},
     {"flash-attn", "import flash_attn_2_cuda, flash_attn as m; print(m.__version__)"},
     {"xformers", "import xformers, xformers.ops as m; print(xformers.__version__)"},
     {"bitsandbytes", "import bitsandbytes as m; print(m.__version__)"},
     {"vllm", "import vllm._C, vllm as m; print(m.__version__)"},
     {"transformer-engine", "import transformer_engine as m; print(m.__version__)"}}};

bool is_installed(const PythonEnv& env, std::string_view package) {
  return std::any_of(env.packages->begin(), env.packages->end(), [&](const PythonPackage& one) {
    return one.name == package ||
           ((package == "cupy" || package == "onnxruntime") && one.name.starts_with(package));
  });
}

PythonEnv::Import run(const Source& source, const PythonEnv& env, const Trial& trial) {
  PythonEnv::Import result{.package = std::string(trial.package), .output = {}};
  auto start = std::chrono::steady_clock::now();
  auto answer = source.run({env.executable, "-c", std::string(trial.code)}, kDeadline);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!answer) {
    result.output = answer.error().what;
    return result;
  }
  result.ok = answer->status == 0 && !answer->timed_out;
  std::string_view text = trimmed(result.ok ? answer->output : answer->errors);
  if (text.size() > kMostOutput) text.remove_prefix(text.size() - kMostOutput);
  result.output = text;
  if (answer->timed_out) result.output = "no answer within 60 s";
  return result;
}

} // namespace

std::vector<PythonEnv::Import> import_packages(const Source& source, const PythonEnv& env) {
  std::vector<PythonEnv::Import> imports;
  if (!env.packages) return imports;
  for (const Trial& trial : kTrials)
    if (is_installed(env, trial.package)) imports.push_back(run(source, env, trial));
  return imports;
}

} // namespace gpuvet
