// One kernel whose result says which image ran.
//
// VALUE defined: every image is compiled alone with its own constant. Otherwise one nvcc command
// compiles all images, and the constant is the virtual architecture: 100 x CC + suffix (1 = a, 2 =
// f).
#ifndef VALUE
#if !defined(__CUDA_ARCH__) // the pass for the host
#define VALUE 0
#elif defined(__CUDA_ARCH_SPECIFIC__)
#define VALUE (__CUDA_ARCH__ + 1)
#elif defined(__CUDA_ARCH_FAMILY_SPECIFIC__)
#define VALUE (__CUDA_ARCH__ + 2)
#else
#define VALUE __CUDA_ARCH__
#endif
#endif

#ifdef CALLEE_ELSEWHERE // relocatable device code: the value comes from parts.cu
extern __device__ int value();
extern "C" __global__ void answer(int* out) {
  *out = value();
}
#else
extern "C" __global__ void answer(int* out) {
  *out = VALUE;
}
#endif

#ifdef WITH_HOST // a library whose kernel is launched the ordinary way
#include <cuda_runtime.h>

// Returns 0 or the first error; stage says which call gave it.
extern "C" int run_answer(int* result, const char** stage) {
  int* out = nullptr;
  int error = 0;
#define TRY(name, call)                                                                            \
  *stage = name;                                                                                   \
  if ((error = call) != 0) return error
  TRY("init", cudaFree(nullptr));
  TRY("malloc", cudaMalloc(&out, sizeof *out));
  TRY("memset", cudaMemset(out, 0, sizeof *out));
  answer<<<1, 1>>>(out);
  TRY("launch", cudaGetLastError());
  TRY("run", cudaDeviceSynchronize());
  TRY("copy", cudaMemcpy(result, out, sizeof *out, cudaMemcpyDeviceToHost));
  TRY("free", cudaFree(out));
#undef TRY
  return 0;
}
#endif
