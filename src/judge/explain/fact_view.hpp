// The facts that a judgement over a text may use, by the names of model/known_fact.hpp: those of
// the text first, those of this machine where the text is silent, and what follows from them by the
// tables: the highest target of an nvcc, the CUDA version of a driver, the capability of a GPU.
#pragma once

#include "facts/facts.hpp"
#include "model/known_fact.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

class FactView {
 public:
  // `tables` must outlive this. A name that `text` has is not looked up in `machine`.
  FactView(const std::vector<KnownFact>& text, const std::vector<KnownFact>& machine,
           const Facts& tables);

  // All values, each once; empty: not known. A derived one says in `where` what it follows from.
  //
  //   nvcc.max_sm, nvcc.min_sm   targets of nvcc.version: "sm_90"
  //   driver.branch              "535"
  //   driver.cuda                of driver.version, where it is not told
  //   gpu.capability             of gpu.name, where it is not told
  //   gpu.last_branch            the last driver branch for gpu.capability; "none": all newer ones
  //   torch.cuda                 of torch.version: "12.1" of "2.1.0+cu121", "none" of "+cpu"
  //   torch.runs_on_gpu          "yes", "no": torch.archs, else the released wheel's, on the GPU
  //   torch.cxx11_abi            "yes", "no": of a wheel of PyTorch's own, by torch.version
  //   fit.torch, fit.torch_variant   "2.6", "cu118": a released wheel of PyTorch that runs on the
  //                              driver and the GPUs, of torch.version's release where there is one
  std::vector<KnownFact> of(std::string_view name) const;

  void add(KnownFact fact); // that a message states

 private:
  std::vector<KnownFact> derived(std::string_view name) const;
  std::vector<KnownFact> nvcc_limit(bool highest) const;
  std::vector<KnownFact> last_branch() const;
  std::vector<KnownFact> runs_on_gpu() const;
  std::vector<KnownFact> wheel_abi() const;
  std::vector<KnownFact> fitting_wheel(std::string_view name) const;

  std::map<std::string, std::vector<KnownFact>, std::less<>> facts_;
  const Facts& tables_;
};

// A person's words count less than what programs print: "line 12 (said)".
bool is_hearsay(const KnownFact& fact);

// "driver.version 535.104.05 (line 12)"
std::string fact_text(const KnownFact& fact);

} // namespace gpuvet
