// See caller.cu.
__device__ int weight(int i) {
  return 3 * i + 1;
}
