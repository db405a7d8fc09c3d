#include "probe/loader/runtime_loads.hpp"

#include <array>

namespace gpuvet {
namespace {

// As the names stand in the libraries themselves (seen in cuDNN 9, CUDA 12 and NCCL 2 of PyPI; for
// cuDNN 8: NVIDIA cuDNN 8 API reference, "API changes for cuDNN 8").
struct Opened {
  std::string_view soname;
  std::array<std::string_view, 6> names;
};
constexpr std::array<Opened, 5> kOpened = {{
    {"libcudart.so.", {"libcuda.so.1"}},
    {"libnccl.so.2", {"libcuda.so.1", "libnvidia-ml.so.1"}},
    {"libcudnn.so.9",
     {"libcudnn_graph.so.9", "libcudnn_ops.so.9", "libcudnn_cnn.so.9", "libcudnn_adv.so.9"}},
    {"libcudnn_graph.so.9",
     {"libcudnn_engines_precompiled.so.9", "libcudnn_engines_runtime_compiled.so.9",
      "libcudnn_heuristic.so.9"}},
    {"libcudnn.so.8",
     {"libcudnn_ops_infer.so.8", "libcudnn_ops_train.so.8", "libcudnn_cnn_infer.so.8",
      "libcudnn_cnn_train.so.8", "libcudnn_adv_infer.so.8", "libcudnn_adv_train.so.8"}},
}};

} // namespace

std::vector<std::string> opened_at_run_time(std::string_view soname) {
  std::vector<std::string> list;
  for (const Opened& opened : kOpened) {
    bool is_start = opened.soname.ends_with('.'); // any version
    if (is_start ? !soname.starts_with(opened.soname) : soname != opened.soname) continue;
    for (std::string_view name : opened.names)
      if (!name.empty()) list.emplace_back(name);
  }
  return list;
}

} // namespace gpuvet
