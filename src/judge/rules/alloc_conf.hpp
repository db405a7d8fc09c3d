// PYTORCH_CUDA_ALLOC_CONF and PYTORCH_ALLOC_CONF: "key:value,key:[a:b,c:d]", read as PyTorch reads
// them. Source: pytorch/pytorch c10/core/AllocatorConfig.h, c10/cuda/CUDAAllocatorConfig.cpp.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuvet {

struct AllocConf {
  std::vector<std::pair<std::string, std::string>> settings; // as written, without blanks
  struct Wrong {
    std::string setting, why;
    bool certain = true; // false: a newer PyTorch may know the key
    bool value = false;  // the key is right, its value is not
  };
  std::vector<Wrong> wrong;
  std::string ignored; // key that backend:cudaMallocAsync ignores; empty: none
};

AllocConf read_alloc_conf(std::string_view text);

// Letters that differ: added, lost, changed. Stops counting above `most`.
size_t edit_distance(std::string_view a, std::string_view b, size_t most);

} // namespace gpuvet
