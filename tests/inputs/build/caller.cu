// With callee.cu: a call across translation units, which needs relocatable device code.
extern __device__ int weight(int i);

extern "C" __global__ void weigh(int* out) {
  out[threadIdx.x] = weight(threadIdx.x);
}
