// The other translation unit of answer.cu built with -DCALLEE_ELSEWHERE.
__device__ int value() {
#ifdef __CUDA_ARCH__
  return __CUDA_ARCH__;
#else
  return 0;
#endif
}
