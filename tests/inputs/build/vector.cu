// Kernels that need nothing but a GPU: the smallest real translation unit.
extern "C" __global__ void vector_add(const float* a, const float* b, float* sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = a[i] + b[i];
}

extern "C" __global__ void vector_scale(float* values, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] *= factor;
}
