// Streams, events, graphs, modules and launches of the fake libcuda (device.hpp).
#include "device.hpp"

#include <memory>
#include <string_view>
#include <unistd.h>

namespace fake {

gpuvet::CudaStreamHandle& stream_of(gpuvet::CudaStream stream) {
  return stream ? *stream : device(current_device()).default_stream;
}

void enqueue(gpuvet::CudaStream stream, std::function<void(gpuvet::CudaStreamHandle&)> work) {
  gpuvet::CudaStreamHandle& at = stream_of(stream);
  if (at.capture)
    at.capture->push_back(std::move(work));
  else
    work(at);
}

// What was set once is over: the word may be used for the next wait.
bool is_held(gpuvet::CudaStreamHandle& stream) {
  std::erase_if(stream.waits, [](const auto& wait) { return *wait.first == wait.second; });
  return !stream.waits.empty();
}

} // namespace fake

namespace {

using namespace gpuvet;

// A PTX text is taken by what it says of itself, a cubin by its first bytes.
int loadable(std::string_view image) {
  if (image.substr(0, 4) == "\x7f"
                            "ELF")
    return 0;
  if (image.find(".version") == std::string_view::npos) return 218;
  if (fake::steering().number("nojit", 0)) return 221;
  return fake::steering().number("oldptx", 0) ? 222 : 0;
}

} // namespace

extern "C" {

#define ENTER()                                                                                    \
  if (int code = fake::enter(__func__)) return code

int cuModuleLoadDataEx(CudaModule* module, const void* image, unsigned, int*, void**) {
  ENTER();
  const auto* text = static_cast<const char*>(image);
  const bool elf = std::string_view(text, 4) == "\x7f"
                                                "ELF";
  std::string kept = elf ? std::string(text, 4) : std::string(text);
  if (int code = loadable(kept)) return code;
  *module = new CudaModuleHandle{std::move(kept)};
  return 0;
}

int cuModuleUnload(CudaModule module) {
  ENTER();
  delete module;
  return 0;
}

int cuModuleGetFunction(CudaFunction* function, CudaModule module, const char* name) {
  ENTER();
  const bool ptx = module->text.find(".version") != std::string::npos;
  if (ptx && module->text.find(name) == std::string::npos) return 500;
  if (!fake::has_kernel(name)) return 500;
  static std::map<std::string, CudaFunctionHandle> functions;
  *function = &functions.emplace(name, CudaFunctionHandle{name}).first->second;
  return 0;
}

int cuFuncGetAttribute(int* value, int, CudaFunction) {
  ENTER();
  *value = 32;
  return 0;
}

int cuFuncSetAttribute(CudaFunction, int, int) {
  ENTER();
  return 0;
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CudaFunction, int threads, size_t) {
  ENTER();
  *blocks = threads > 0 ? 2048 / threads : 1;
  return 0;
}

int cuLaunchKernel(CudaFunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                   unsigned by, unsigned bz, unsigned, CudaStream stream, void** arguments,
                   void**) {
  ENTER();
  if (gx == 0 || gy == 0 || gz == 0 || bx * by * bz == 0 || bx * by * bz > 1024) return 1;
  const int gpu = fake::current_device();
  const std::string name = function->name;
  if (int code = fake::steering().enter(name.c_str(), gpu)) return code;
  for (const std::string& word : fake::steering().all("fault")) {
    const size_t colon = word.rfind(':');
    const std::string what = word.substr(0, colon);
    if (what == name || what == std::to_string(gpu) + ":" + name)
      fake::device(gpu).broken = std::atoi(word.c_str() + colon + 1);
  }
  auto kept = std::make_shared<std::vector<std::vector<unsigned char>>>(
      fake::keep_arguments(name, arguments));
  fake::enqueue(stream, [=](CudaStreamHandle& at) {
    std::vector<void*> pointers;
    for (auto& argument : *kept)
      pointers.push_back(argument.data());
    const unsigned grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
    fake::run_kernel(name, at, grid, block, pointers.data());
  });
  return 0;
}

int cuTensorMapEncodeTiled(CudaTensorMap* map, int, unsigned rank, void* address,
                           const unsigned long long* dimensions, const unsigned long long*,
                           const unsigned*, const unsigned*, int, int, int, int) {
  ENTER();
  *map = CudaTensorMap{};
  map->words[0] = reinterpret_cast<unsigned long long>(address);
  for (unsigned at = 0; at < rank && at < 5; ++at)
    map->words[1 + at] = dimensions[at];
  return 0;
}

int cuStreamCreate(CudaStream* stream, unsigned) {
  ENTER();
  *stream = new CudaStreamHandle{fake::current_device()};
  return 0;
}

int cuStreamDestroy_v2(CudaStream stream) {
  ENTER();
  delete stream;
  return 0;
}

int cuStreamSynchronize(CudaStream stream) {
  ENTER();
  while (fake::is_held(fake::stream_of(stream)))
    usleep(100);
  return 0;
}

int cuStreamQuery(CudaStream stream) {
  ENTER();
  return fake::is_held(fake::stream_of(stream)) ? 600 : 0;
}

int cuStreamWaitEvent(CudaStream stream, CudaEvent event, unsigned) {
  ENTER();
  CudaStreamHandle& at = fake::stream_of(stream);
  if (at.now_ns < event->at_ns) at.now_ns = event->at_ns;
  return 0;
}

// What waits for the word has been done already, only time shows the order here; but nobody gets
// past it before the word is set.
int cuStreamWaitValue32_v2(CudaStream stream, CudaPointer word, unsigned value, unsigned) {
  ENTER();
  fake::stream_of(stream).waits[reinterpret_cast<const volatile unsigned*>(word)] = value;
  return 0;
}

int cuStreamBeginCapture_v2(CudaStream stream, int) {
  ENTER();
  if (!stream || stream->capture) return 900;
  stream->capture = new std::vector<std::function<void(CudaStreamHandle&)>>();
  return 0;
}

int cuStreamEndCapture(CudaStream stream, CudaGraph* graph) {
  ENTER();
  if (!stream || !stream->capture) return 904;
  *graph = new CudaGraphHandle{std::move(*stream->capture)};
  delete stream->capture;
  stream->capture = nullptr;
  return 0;
}

int cuEventCreate(CudaEvent* event, unsigned) {
  ENTER();
  *event = new CudaEventHandle();
  return 0;
}

int cuEventRecord(CudaEvent event, CudaStream stream) {
  ENTER();
  event->at_ns = fake::stream_of(stream).now_ns;
  return 0;
}

int cuEventQuery(CudaEvent) {
  ENTER();
  return 0;
}

int cuEventSynchronize(CudaEvent) {
  ENTER();
  return 0;
}

int cuEventElapsedTime(float* milliseconds, CudaEvent from, CudaEvent to) {
  ENTER();
  *milliseconds = static_cast<float>((to->at_ns - from->at_ns) / 1e6);
  return 0;
}

int cuEventDestroy_v2(CudaEvent event) {
  ENTER();
  delete event;
  return 0;
}

int cuGraphInstantiateWithFlags(CudaGraphExec* made, CudaGraph graph, unsigned long long) {
  ENTER();
  *made = new CudaGraphExecHandle{graph->nodes};
  return 0;
}

int cuGraphUpload(CudaGraphExec, CudaStream) {
  ENTER();
  return 0;
}

int cuGraphLaunch(CudaGraphExec graph, CudaStream stream) {
  ENTER();
  CudaStreamHandle& at = fake::stream_of(stream);
  const double launch_ns = fake::rate("launch_us", at.device, 2.2) * 1e3;
  const double node_ns = fake::rate("node_us", at.device, 1.2) * 1e3;
  for (const auto& node : graph->nodes) {
    node(at);
    at.now_ns += node_ns - launch_ns; // a node costs less than a launch, which the kernel counts
  }
  return 0;
}

int cuGraphExecDestroy(CudaGraphExec graph) {
  ENTER();
  delete graph;
  return 0;
}

int cuGraphDestroy(CudaGraph graph) {
  ENTER();
  delete graph;
  return 0;
}

} // extern "C"
