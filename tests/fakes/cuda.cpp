// A libcuda.so.1 without a GPU, steered by GPUVET_FAKE_CUDA (steering.hpp). It knows besides:
//   init=CODE   of cuInit        name=TEXT  "long" fills the buffer without an end
//   api=NUMBER  of cuDriverGetVersion       mig=1  the device is a part of a GPU
//   sm=NUMBER   compute capability x 10 (90)       attribute=NUMBER:VALUE  of cuDeviceGetAttribute
// What works on memory and time: device.hpp.
// Built with GPUVET_FAKE_OLD it is like a stub: cuInit only, and that fails.
#include "device.hpp"
#include "gpu/cuda_api.hpp"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

namespace {

using namespace gpuvet;

using fake::steering;

// Of an H200, by their numbers in cuda.h.
const std::map<int, int> kAttributes = {
    {1, 1024},      // threads in a block
    {8, 49152},     // bytes of shared memory in a block
    {9, 65536},     // bytes of constant memory
    {10, 32},       // threads in a warp
    {12, 65536},    // registers in a block
    {13, 1980000},  // kHz, multiprocessors
    {16, 132},      // multiprocessors
    {19, 1},        // can map host memory
    {20, 0},        // compute mode: default
    {31, 1},        // concurrent kernels
    {32, 1},        // ECC
    {36, 3201000},  // kHz, memory
    {37, 6144},     // bits of the memory bus
    {38, 62914560}, // bytes of L2
    {39, 2048},     // threads on a multiprocessor
    {40, 3},        // copy engines
    {41, 1},        // unified addressing
    {83, 1},        // managed memory
    {97, 232448},   // bytes of shared memory in a block that opts in
    {122, 1},       // streams can wait for a word in memory
};

template <class T> int put(T* to, T value) {
  *to = value;
  return 0;
}

} // namespace

const fake::Steering& fake::steering() {
  static const Steering words("GPUVET_FAKE_CUDA");
  return words;
}

extern "C" {

#define ENTER(gpu)                                                                                 \
  if (int code = steering().enter(__func__, gpu)) return code

int cuInit(unsigned) {
  ENTER(-1);
#ifdef GPUVET_FAKE_OLD
  return 34;
#else
  return steering().number("init", 0);
#endif
}

#ifndef GPUVET_FAKE_OLD

int cuGetErrorName(int code, const char** name) {
  *name = nullptr;
  if (code == 2) *name = "CUDA_ERROR_OUT_OF_MEMORY";
  if (code == 700) *name = "CUDA_ERROR_ILLEGAL_ADDRESS";
  if (code == 719) *name = "CUDA_ERROR_LAUNCH_FAILED";
  if (code == 999) *name = "CUDA_ERROR_UNKNOWN";
  return *name ? 0 : 1;
}

int cuDriverGetVersion(int* version) {
  ENTER(-1);
  return put(version, steering().number("api", 13000));
}

int cuDeviceGetCount(int* count) {
  ENTER(-1);
  return put(count, steering().number("gpus", 1));
}

int cuDeviceGet(int* device, int ordinal) {
  ENTER(ordinal);
  return put(device, ordinal);
}

int cuDeviceGetName(char* name, int size, int device) {
  ENTER(device);
  return fake::put(name, static_cast<size_t>(size), steering().text("name", "NVIDIA H200"));
}

int cuDeviceGetUuid(CudaUuid* uuid, int device) {
  ENTER(device);
  for (unsigned at = 0; at < sizeof(uuid->bytes); ++at)
    uuid->bytes[at] = static_cast<unsigned char>(at < 4 ? 0 : at - 4);
  uuid->bytes[3] = static_cast<unsigned char>(device);
  return 0;
}

int cuDeviceGetUuid_v2(CudaUuid* uuid, int device) {
  if (int code = cuDeviceGetUuid(uuid, device)) return code;
  if (steering().number("mig", 0)) uuid->bytes[0] = 0xab;
  return 0;
}

int cuDeviceGetPCIBusId(char* id, int size, int device) {
  ENTER(device);
  std::snprintf(id, static_cast<size_t>(size), "0000:%02X:00.0", 0x1b + device);
  return 0;
}

int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  ENTER(device);
  return put(bytes, size_t{150'000'000'000});
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  ENTER(device);
  for (const std::string& word : steering().all("attribute")) {
    const size_t colon = word.find(':');
    if (word.substr(0, colon) == std::to_string(attribute))
      return put(value, std::atoi(word.c_str() + colon + 1));
  }
  const int sm = steering().number("sm", 90);
  if (attribute == kCudaCapabilityMajor) return put(value, sm / 10);
  if (attribute == kCudaCapabilityMinor) return put(value, sm % 10);
  auto known = kAttributes.find(attribute);
  return put(value, known == kAttributes.end() ? 0 : known->second);
}

#endif

} // extern "C"
