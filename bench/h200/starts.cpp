// What the doctor is compared with: a program that only starts the CUDA driver or NVML.
//
//   starts libcuda.so.1 cuInit
//   starts libnvidia-ml.so.1 nvmlInit_v2
#include <cstdio>
#include <dlfcn.h>

int main(int count, char** words) {
  if (count != 3) {
    std::fprintf(stderr, "starts LIBRARY FUNCTION\n");
    return 2;
  }
  void* library = dlopen(words[1], RTLD_NOW);
  if (!library) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 3;
  }
  using Start = int (*)(unsigned); // nvmlInit_v2 takes nothing and does not look
  auto start = reinterpret_cast<Start>(dlsym(library, words[2]));
  return start && start(0) == 0 ? 0 : 1;
}
