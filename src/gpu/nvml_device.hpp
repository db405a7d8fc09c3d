// What is asked of one GPU through NVML.
#pragma once

#include "gpu/asker.hpp"
#include "gpu/nvml_api.hpp"

namespace gpuvet {

struct NvmlTalk {
  const NvmlApi& api;
  Asker& asker;
  NvmlDevice device = nullptr;
  bool read_roms = false;
};

// Identity first: where a later call hangs, it is known of which GPU.
void ask_identity(NvmlTalk& talk);
void ask_memory_and_health(NvmlTalk& talk);
void ask_clocks_and_power(NvmlTalk& talk);
void ask_modes(NvmlTalk& talk);
void ask_links(NvmlTalk& talk);
void ask_processes(NvmlTalk& talk);

uint64_t number_of(const NvmlField& field); // by its nvmlValueType_t
NvmlField nvml_field(unsigned id, unsigned scope = 0);

} // namespace gpuvet
