// From the facts of a text to the doctor's machine. What the text does not tell stays unknown, with
// that as the reason; where it tells several values of what can only have one, that is unknown too.
#pragma once

#include "facts/facts.hpp"
#include "facts/texts/texts.hpp"
#include "model/known_fact.hpp"
#include "model/machine.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gpuvet {

// One GPU of a table: of nvidia-smi, of a framework.
struct TextGpu {
  uint64_t index = 0, line = 0;
  std::string name, pci_address, capability, compute_mode; // "8.6", "E. Process"; empty: not told
  std::optional<uint64_t> memory_total, memory_free;       // bytes
  std::optional<bool> mig;
};

struct TextXid {
  std::string code, pci, rest;
  uint64_t line = 0;
};

struct TextFunction { // of lspci
  std::string address, device_class, id;
};

// What a text shows beside its facts.
struct SeenInText {
  static constexpr size_t kMostGpus = 256, kMostKernelLines = 500;

  std::vector<TextGpu> gpus; // in the order of their first lines
  uint64_t most_gpus = 0;    // highest index and one
  bool count_by_index = false;
  uint64_t last_memory = 0; // bytes, of the last line that tells a GPU's memory
  bool nvml_answered = false;
  bool all_packages = false; // a whole list was there, so that what is not in it is not installed
  std::vector<std::pair<uint64_t, std::string>> kernel_lines; // number, text
  std::vector<TextXid> xids;
  std::vector<TextFunction> functions;
};

Machine machine_of_text(const std::vector<KnownFact>& facts, const SeenInText& seen,
                        const TextTables& tables);

// Gives GPUs that are only known by name their compute capability, where the table of GPUs has one
// for the name. Errors: damaged fact tables.
Result<void> add_capabilities(Machine& machine, const Facts& facts);

} // namespace gpuvet
