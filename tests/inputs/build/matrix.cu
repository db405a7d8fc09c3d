// The second translation unit: its container is separate, so it can lack what the first one has.
// A C++ name, so that the fixture also holds a mangled kernel.
namespace matrix {
__global__ void transpose(const float* in, float* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) out[x * n + y] = in[y * n + x];
}
} // namespace matrix
