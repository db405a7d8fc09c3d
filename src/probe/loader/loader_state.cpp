#include "base/text.hpp"
#include "model/version_gaps.hpp"
#include "probe/loader/loaded_process.hpp"
#include "probe/loader/probe_loader.hpp"
#include "probe/probe.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace gpuvet {
namespace {

// CUDA 11, 12 and 13 with cuDNN 8 and 9 and TensorRT 8 and 10, by the names that programs ask for.
// Source: NVIDIA's CUDA toolkit archive, the release's lib64 folders.
constexpr std::array kSonames = {"libcuda.so.1",
                                 "libcuda.so",
                                 "libnvidia-ml.so.1",
                                 "libnvidia-ptxjitcompiler.so.1",
                                 "libcudart.so.11.0",
                                 "libcudart.so.12",
                                 "libcudart.so.13",
                                 "libcublas.so.11",
                                 "libcublas.so.12",
                                 "libcublas.so.13",
                                 "libcublasLt.so.11",
                                 "libcublasLt.so.12",
                                 "libcublasLt.so.13",
                                 "libcufft.so.10",
                                 "libcufft.so.11",
                                 "libcufft.so.12",
                                 "libcurand.so.10",
                                 "libcusolver.so.11",
                                 "libcusolver.so.12",
                                 "libcusparse.so.11",
                                 "libcusparse.so.12",
                                 "libnvJitLink.so.12",
                                 "libnvJitLink.so.13",
                                 "libnvrtc.so",
                                 "libnvrtc.so.11.2",
                                 "libnvrtc.so.12",
                                 "libnvrtc.so.13",
                                 "libcudnn.so.8",
                                 "libcudnn_ops_infer.so.8",
                                 "libcudnn_ops_train.so.8",
                                 "libcudnn_cnn_infer.so.8",
                                 "libcudnn_cnn_train.so.8",
                                 "libcudnn_adv_infer.so.8",
                                 "libcudnn_adv_train.so.8",
                                 "libcudnn.so.9",
                                 "libcudnn_graph.so.9",
                                 "libcudnn_ops.so.9",
                                 "libcudnn_cnn.so.9",
                                 "libcudnn_adv.so.9",
                                 "libcudnn_engines_precompiled.so.9",
                                 "libcudnn_engines_runtime_compiled.so.9",
                                 "libcudnn_heuristic.so.9",
                                 "libnccl.so.2",
                                 "libnvinfer.so.8",
                                 "libnvinfer.so.10"};

bool is_always_told(std::string_view soname) {
  return soname == "libcuda.so.1" || soname == "libcuda.so" || soname == "libnvidia-ml.so.1";
}

void add_sonames(LibrarySearch& search, LoaderState& state) {
  for (const char* soname : kSonames) {
    ResolvedSoname resolved{soname, search.find(soname, {}), {}};
    if (resolved.found.path.empty() && !is_always_told(soname)) continue;
    for (const Candidate& candidate : resolved.found.tried)
      if (candidate.why_not == "shadowed") resolved.shadowed.push_back(candidate.path);
    state.sonames.push_back(std::move(resolved));
  }
}

void add_cache(LibrarySearch& search, LoaderState& state) {
  const Observed<LdCache>& cache = search.setup().cache;
  if (!cache) {
    state.cache_sonames = unknown<std::vector<std::string>>(cache.why_unknown);
    return;
  }
  std::vector<std::string> names;
  for (const LdCacheEntry& entry : cache->entries)
    names.push_back(entry.soname);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  state.cache_sonames = known(std::move(names), cache.source);
  if (auto entry = search.source().entry(cache.source)) state.cache_time = entry->changed;
}

void add_library_path(LibrarySearch& search, LoaderState& state) {
  if (search.setup().library_path.empty()) return;
  std::string text = search.setup().library_path;
  std::replace(text.begin(), text.end(), ';', ':');
  std::set<std::string> seen;
  for (const std::string& part : split_at(text, ':')) {
    LoaderState::PathElement element;
    element.text = part;
    element.empty = part.empty();
    element.tilde = part.starts_with('~');
    bool token = part.starts_with('$');
    element.relative = !element.empty && !part.starts_with('/') && !token;
    element.exists = element.empty || token || is_folder(search.source(), part);
    element.duplicate = !seen.insert(part).second;
    element.stubs = part.find("/stubs") != std::string::npos;
    state.library_path.push_back(std::move(element));
  }
}

void add_preloads(LibrarySearch& search, LoaderState& state) {
  for (const auto* names : {&search.setup().preload_environment, &search.setup().preload_file})
    for (const std::string& name : *names) {
      state.preload.push_back(name);
      std::string path = expand_tokens(name, "/", search.setup());
      if (path.empty() || search.find(path, {}).path.empty()) state.preload_missing.push_back(name);
    }
}

// Of the CUDA libraries that programs get, all in one process.
std::vector<VersionGap> gaps_of_sonames(const Source& source, const LoaderSetup& setup,
                                        const LoaderState& state) {
  LoadedProcess process(source, setup);
  (void)process.start("");
  for (const ResolvedSoname& soname : state.sonames)
    if (!soname.found.path.empty()) process.open(soname.soname, 0);
  return version_gaps(process.take());
}

} // namespace

LoaderState loader_state(LibrarySearch& search) {
  LoaderState state;
  add_cache(search, state);
  state.conf_folders = search.setup().conf_folders;
  add_library_path(search, state);
  add_preloads(search, state);
  add_sonames(search, state);
  return state;
}

void probe_loader(const Source& source, Machine& machine) {
  LoaderSetup setup = loader_setup(source);
  LibrarySearch search(source, setup);
  machine.driver = find_driver_files(search);
  machine.loader = loader_state(search);
  machine.loader.version_gaps = gaps_of_sonames(source, setup, machine.loader);
}

} // namespace gpuvet
