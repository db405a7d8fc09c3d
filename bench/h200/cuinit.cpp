// What the doctor is compared with: a program that only starts the CUDA driver.
#include <cstdio>
#include <dlfcn.h>

int main() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 3;
  }
  using Init = int (*)(unsigned);
  auto init = reinterpret_cast<Init>(dlsym(library, "cuInit"));
  return init && init(0) == 0 ? 0 : 1;
}
