// Memory, copies, contexts and peers of the fake libcuda (device.hpp).
#include "device.hpp"

#include <cstdlib>
#include <cstring>
#include <mutex>

namespace fake {

static thread_local int current = -1;

Device& device(int ordinal) {
  static std::map<int, Device> devices;
  Device& found = devices[ordinal];
  found.context.device = ordinal;
  found.default_stream.device = ordinal;
  return found;
}

int current_device() {
  return current;
}

std::map<uintptr_t, Block>& blocks() {
  static std::map<uintptr_t, Block> all;
  return all;
}

const Block* block_of(uintptr_t address, size_t bytes) {
  auto after = blocks().upper_bound(address);
  if (after == blocks().begin()) return nullptr;
  const auto& [start, block] = *--after;
  return address + bytes <= start + block.bytes ? &block : nullptr;
}

double rate(const char* key, int gpu, double otherwise) {
  double found = otherwise;
  for (const std::string& word : steering().all(key)) {
    size_t colon = word.find(':');
    if (colon == std::string::npos)
      found = std::atof(word.c_str());
    else if (word.substr(0, colon) == std::to_string(gpu))
      found = std::atof(word.c_str() + colon + 1);
  }
  return found;
}

bool told(const char* key, const std::string& what, int gpu) {
  for (const std::string& word : steering().all(key))
    if (word == what || word == std::to_string(gpu) + ":" + what) return true;
  return false;
}

void spoil(const std::string& what, int gpu, void* data, size_t bytes) {
  if (bytes == 0 || !told("corrupt", what, gpu)) return;
  static_cast<unsigned char*>(data)[bytes / 2] ^= 0x10;
}

int enter(const char* call) {
  if (current < 0) return 201; // no context
  if (int broken = device(current).broken) return broken;
  return steering().enter(call, current);
}

} // namespace fake

namespace {

using namespace gpuvet;

// A copy takes the time of the slowest way: PCIe where host memory takes part, the link between two
// GPUs, else device memory, which reads and writes.
double copy_seconds(const fake::Block* to, const fake::Block* from, size_t bytes, int gpu) {
  double rate = fake::rate("pcie", gpu, 55) * 1e9;
  bool both_on_devices = to && from && !to->pinned && !from->pinned;
  if (both_on_devices)
    rate = (to->device == from->device ? fake::rate("memory", gpu, 4000) / 2
                                       : fake::rate("peer", gpu, 390)) *
           1e9;
  return static_cast<double>(bytes) / rate;
}

int copy(const char* call, void* to, const void* from, size_t bytes, CudaStream stream) {
  if (int code = fake::enter(call)) return code;
  const int gpu = fake::current_device();
  const fake::Block* target = fake::block_of(reinterpret_cast<uintptr_t>(to), bytes);
  const fake::Block* source = fake::block_of(reinterpret_cast<uintptr_t>(from), bytes);
  if (!target && !source) return 1;
  const double seconds = copy_seconds(target, source, bytes, gpu);
  fake::enqueue(stream, [=, what = std::string(call)](CudaStreamHandle& at) {
    std::memmove(to, from, bytes);
    fake::spoil(what, gpu, to, bytes);
    at.now_ns += seconds * 1e9;
  });
  return 0;
}

int allocate(size_t bytes, bool pinned, void** to) {
  const int gpu = fake::current_device();
  const auto most = static_cast<size_t>(fake::rate("free", gpu, 64) * 1e6);
  if (!pinned && fake::device(gpu).used + bytes > most) return 2;
  *to = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (!*to) return 2;
  std::memset(*to, 0xee, bytes); // what nobody wrote is nothing that anybody expects
  fake::blocks()[reinterpret_cast<uintptr_t>(*to)] = {bytes, gpu, pinned};
  if (!pinned) fake::device(gpu).used += bytes;
  return 0;
}

int release(uintptr_t address) {
  auto found = fake::blocks().find(address);
  if (found == fake::blocks().end()) return 1;
  if (!found->second.pinned) fake::device(found->second.device).used -= found->second.bytes;
  fake::blocks().erase(found);
  std::free(reinterpret_cast<void*>(address));
  return 0;
}

} // namespace

extern "C" {

#define ENTER()                                                                                    \
  if (int code = fake::enter(__func__)) return code

int cuDevicePrimaryCtxRetain(CudaContext* context, int ordinal) {
  if (int code = fake::steering().enter(__func__, ordinal)) return code;
  *context = &fake::device(ordinal).context;
  return fake::device(ordinal).broken;
}

int cuDevicePrimaryCtxRelease_v2(int ordinal) {
  return fake::steering().enter(__func__, ordinal);
}

int cuDevicePrimaryCtxSetFlags_v2(int ordinal, unsigned) {
  return fake::steering().enter(__func__, ordinal);
}

int cuCtxSetCurrent(CudaContext context) {
  fake::current = context ? context->device : -1;
  return context ? fake::enter(__func__) : 0;
}

int cuCtxSynchronize() {
  ENTER();
  return 0;
}

int cuCtxEnablePeerAccess(CudaContext, unsigned) {
  ENTER();
  return fake::steering().number("nopeer", 0) ? 217 : 0;
}

int cuDeviceCanAccessPeer(int* can, int from, int) {
  if (int code = fake::steering().enter(__func__, from)) return code;
  *can = fake::steering().number("nopeer", 0) ? 0 : 1;
  return 0;
}

int cuDeviceGetP2PAttribute(int* value, int attribute, int from, int) {
  if (int code = fake::steering().enter(__func__, from)) return code;
  *value = attribute == 1 ? 0 : !fake::steering().number("nopeer", 0); // 1: performance rank
  return 0;
}

int cuMemGetInfo_v2(size_t* free, size_t* total) {
  ENTER();
  const int gpu = fake::current_device();
  *total = static_cast<size_t>(fake::rate("free", gpu, 64) * 1e6);
  *free = *total - fake::device(gpu).used;
  return 0;
}

int cuMemAlloc_v2(CudaPointer* to, size_t bytes) {
  ENTER();
  if (bytes == 0) return 1;
  void* made = nullptr;
  if (int code = allocate(bytes, false, &made)) return code;
  *to = reinterpret_cast<CudaPointer>(made);
  return 0;
}

int cuMemFree_v2(CudaPointer pointer) {
  ENTER();
  return release(static_cast<uintptr_t>(pointer));
}

int cuMemHostAlloc(void** to, size_t bytes, unsigned) {
  ENTER();
  return allocate(bytes, true, to);
}

int cuMemFreeHost(void* pointer) {
  ENTER();
  return release(reinterpret_cast<uintptr_t>(pointer));
}

int cuMemHostRegister_v2(void* pointer, size_t bytes, unsigned) {
  ENTER();
  fake::blocks()[reinterpret_cast<uintptr_t>(pointer)] = {bytes, fake::current_device(), true};
  return 0;
}

int cuMemHostUnregister(void* pointer) {
  ENTER();
  return fake::blocks().erase(reinterpret_cast<uintptr_t>(pointer)) == 1 ? 0 : 713;
}

int cuMemHostGetDevicePointer_v2(CudaPointer* to, void* pointer, unsigned) {
  ENTER();
  if (!fake::block_of(reinterpret_cast<uintptr_t>(pointer), 1)) return 1;
  *to = reinterpret_cast<CudaPointer>(pointer);
  return 0;
}

int cuMemcpyHtoDAsync_v2(CudaPointer to, const void* from, size_t bytes, CudaStream stream) {
  return copy(__func__, reinterpret_cast<void*>(to), from, bytes, stream);
}

int cuMemcpyDtoHAsync_v2(void* to, CudaPointer from, size_t bytes, CudaStream stream) {
  return copy(__func__, to, reinterpret_cast<const void*>(from), bytes, stream);
}

int cuMemcpyDtoDAsync_v2(CudaPointer to, CudaPointer from, size_t bytes, CudaStream stream) {
  return copy(__func__, reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes,
              stream);
}

int cuMemcpyPeerAsync(CudaPointer to, CudaContext, CudaPointer from, CudaContext, size_t bytes,
                      CudaStream stream) {
  return copy(__func__, reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes,
              stream);
}

int cuMemsetD32Async(CudaPointer to, unsigned value, size_t count, CudaStream stream) {
  ENTER();
  if (!fake::block_of(static_cast<uintptr_t>(to), count * 4)) return 1;
  const double seconds =
      static_cast<double>(count * 4) / (fake::rate("memory", fake::current_device(), 4000) * 1e9);
  fake::enqueue(stream, [=](CudaStreamHandle& at) {
    auto* words = reinterpret_cast<unsigned*>(to);
    for (size_t i = 0; i < count; ++i)
      words[i] = value;
    at.now_ns += seconds * 1e9;
  });
  return 0;
}

} // extern "C"
