// A libcuda.so.1 without a GPU, steered by GPUVET_FAKE_CUDA (steering.hpp). It knows besides:
//   init=CODE   of cuInit        name=TEXT  "long" fills the buffer without an end
//   api=NUMBER  of cuDriverGetVersion       mig=1  the device is a part of a GPU
// Built with GPUVET_FAKE_OLD it is like a stub: cuInit only, and that fails.
#include "gpu/cuda_api.hpp"
#include "steering.hpp"

#include <cstdio>
#include <string>

namespace {

using namespace gpuvet;

const fake::Steering& steering() {
  static const fake::Steering words("GPUVET_FAKE_CUDA");
  return words;
}

template <class T> int put(T* to, T value) {
  *to = value;
  return 0;
}

} // namespace

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
  *name = code == 999 ? "CUDA_ERROR_UNKNOWN" : nullptr;
  return code == 999 ? 0 : 1;
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
  return put(value, attribute == kCudaCapabilityMajor   ? 9
                    : attribute == kCudaCapabilityMinor ? 0
                    : attribute == kCudaManagedMemory   ? 1
                                                        : 0);
}

int cuDevicePrimaryCtxRetain(CudaContext* context, int device) {
  ENTER(device);
  return put(context, reinterpret_cast<CudaContext>(context));
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  ENTER(device);
  return 0;
}

#endif

} // extern "C"
