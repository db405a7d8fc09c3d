// A fat binary container and the verdict on it for a few GPUs.
#include "formats/gpu/fatbin.hpp"
#include "judge/load/load.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const gpuvet::LoadRules rules{.tegra = {87}};
  gpuvet::MemoryStream stream(gpuvet::Bytes(data, size));
  gpuvet::ForwardReader reader(stream, 0, size);
  auto read = gpuvet::read_container(reader, 0, nullptr);
  for (uint32_t sm : {75u, 87u, 90u, 121u})
    gpuvet::load_container(read.container, {"x", sm, sm == 87}, nullptr, {}, rules);
  return 0;
}
