#include "probe/python/gpu_packages.hpp"

#include <algorithm>
#include <iterator>

namespace gpuvet {
namespace {

// A trailing '*' takes any end.
constexpr std::string_view kNames[] = {"apex",
                                       "auto-gptq",
                                       "autoawq*",
                                       "bitsandbytes",
                                       "causal-conv1d",
                                       "ctranslate2",
                                       "cublas*",
                                       "cucim*",
                                       "cuda-*",
                                       "cudatoolkit*",
                                       "cudf*",
                                       "cudnn*",
                                       "cugraph*",
                                       "cuml*",
                                       "cupy*",
                                       "cuquantum*",
                                       "cutensor*",
                                       "cuvs*",
                                       "deep-gemm",
                                       "deepspeed",
                                       "exllamav2",
                                       "faiss-gpu*",
                                       "flash-attn*",
                                       "flashinfer*",
                                       "gptqmodel",
                                       "jax",
                                       "jax-cuda*",
                                       "jaxlib",
                                       "lightgbm",
                                       "llama-cpp-python",
                                       "mamba-ssm",
                                       "mxnet*",
                                       "natten",
                                       "nccl*",
                                       "numba",
                                       "numba-cuda",
                                       "nvidia-*",
                                       "nvtx",
                                       "onnxruntime*",
                                       "paddlepaddle*",
                                       "pycuda",
                                       "pylibraft*",
                                       "pynvml",
                                       "pytorch",
                                       "pytorch-cuda",
                                       "pytorch-gpu",
                                       "pytorch-lightning",
                                       "pytorch-mutex",
                                       "pytorch-triton*",
                                       "pytorch3d",
                                       "raft-dask*",
                                       "rmm*",
                                       "sageattention",
                                       "sgl-kernel*",
                                       "sglang*",
                                       "spconv*",
                                       "tensorflow",
                                       "tensorflow-base",
                                       "tensorflow-cpu*",
                                       "tensorflow-gpu*",
                                       "tensorflow-intel",
                                       "tensorrt*",
                                       "tf-keras",
                                       "tf-nightly*",
                                       "torch",
                                       "torch-cluster",
                                       "torch-scatter",
                                       "torch-sparse",
                                       "torch-spline-conv",
                                       "torch-tensorrt",
                                       "torchao",
                                       "torchaudio",
                                       "torchcodec",
                                       "torchdata",
                                       "torchtext",
                                       "torchvision",
                                       "transformer-engine*",
                                       "triton",
                                       "ucx*",
                                       "vllm*",
                                       "warp-lang",
                                       "xformers",
                                       "xgboost",
                                       "libtorch"};

// From the layout of the published wheels; kernels that a package compiles at run time (cupy,
// deepspeed, flashinfer, triton) lie nowhere.
constexpr CodePlace kPlaces[] = {
    {"torch", "torch/lib", "libtorch_cuda.so"},
    {"torch", "torch/lib", "libtorch_cuda_cu.so"}, // 1.9 to 1.13
    {"pytorch", "torch/lib", "libtorch_cuda.so"},
    {"torchvision", "torchvision", "_C*.so"},
    {"torchaudio", "torchaudio/lib", "*torchaudio*.so"},
    {"torchao", "torchao", "_C*.so"},
    {"flash-attn", "", "flash_attn_2_cuda*.so"},
    {"flash-attn-3", "flash_attn_3", "_C*.so"},
    {"xformers", "xformers", "_C*.so"},
    {"bitsandbytes", "bitsandbytes", "libbitsandbytes_cuda*.so"},
    {"vllm*", "vllm", "_C*.so"},
    {"vllm*", "vllm", "_moe_C*.so"},
    {"sgl-kernel*", "sgl_kernel", "*ops*.so"},
    {"sgl-kernel*", "sgl_kernel/sm*", "*ops*.so"},
    {"apex", "", "amp_C*.so"},
    {"apex", "", "fused_layer_norm_cuda*.so"},
    {"auto-gptq", "", "autogptq_cuda*.so"},
    {"autoawq*", "", "awq*_ext*.so"},
    {"exllamav2", "", "exllamav2_ext*.so"},
    {"causal-conv1d", "", "causal_conv1d_cuda*.so"},
    {"mamba-ssm", "", "selective_scan_cuda*.so"},
    {"natten", "natten", "libnatten*.so"},
    {"pytorch3d", "pytorch3d", "_C*.so"},
    {"torch-scatter", "torch_scatter", "_scatter_cuda*.so"},
    {"torch-sparse", "torch_sparse", "_spmm_cuda*.so"},
    {"torch-cluster", "torch_cluster", "_knn_cuda*.so"},
    {"transformer-engine*", "transformer_engine", "libtransformer_engine*.so"},
    {"llama-cpp-python", "llama_cpp/lib", "libggml-cuda.so"},
    {"onnxruntime-gpu", "onnxruntime/capi", "libonnxruntime_providers_cuda.so"},
    {"jax-cuda*-pjrt", "jax_plugins/xla_cuda*", "xla_cuda_plugin.so"},
    {"jaxlib", "jaxlib", "xla_extension.so"}, // before the plugin, CUDA was in here
    {"tensorflow*", "tensorflow", "libtensorflow_cc.so.2"},
    {"paddlepaddle-gpu", "paddle/base", "libpaddle.so"},
    {"ctranslate2", "ctranslate2.libs", "libctranslate2*.so*"},
    {"nvidia-cudnn*", "nvidia/cudnn/lib", "libcudnn_engines_precompiled.so.*"},
    {"xgboost", "xgboost/lib", "libxgboost.so"}};

bool matches(std::string_view row, std::string_view name) {
  size_t star = row.find('*');
  if (star == std::string_view::npos) return row == name;
  std::string_view end = row.substr(star + 1);
  return name.starts_with(row.substr(0, star)) && name.ends_with(end);
}

} // namespace

bool is_gpu_package(std::string_view name) {
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [name](std::string_view row) { return matches(row, name); });
}

std::vector<CodePlace> code_places(std::string_view name) {
  std::vector<CodePlace> places;
  for (const CodePlace& place : kPlaces)
    if (matches(place.package, name)) places.push_back(place);
  return places;
}

} // namespace gpuvet
