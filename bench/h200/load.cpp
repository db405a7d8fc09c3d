// Loads GPU code into the driver and tells what happened.
//
//   load API=FILE ...    one line each, in order: "API STAGE ERROR VALUE"
//   load --driver        "DRIVER_VERSION COMPUTE_CAPABILITY NAME"
//
// API: module, fatbinary, library: cuModuleLoadData, cuModuleLoadFatBinary, cuLibraryLoadData of
// the
//      file's bytes; `-wrapper` behind one of them gives it the address of a 24-byte wrapper
//      record. runtime: FILE is a library with run_answer(), loaded and launched by the CUDA
//      runtime.
// STAGE is the first call that failed, "done" if none did. VALUE is what the kernel wrote, "-" if
// it did not run. Exit status 3: no driver or no GPU, with a sentence on stderr.
//
// Nothing is linked: libcuda comes by dlopen, as it does on any machine that runs GPU programs.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "no driver: %s\n", why.c_str());
  std::exit(3);
}

struct Driver {
  void* library = nullptr;
  template <class Function> Function* get(const char* name) const {
    void* address = dlsym(library, name);
    if (!address) give_up(std::string("libcuda.so.1 has no ") + name);
    return reinterpret_cast<Function*>(address);
  }
};

// Each member has the type that cuda.h declares for the exported name.
struct Calls {
  explicit Calls(const Driver& d)
      : init(d.get<decltype(cuInit)>("cuInit")),
        device_get(d.get<decltype(cuDeviceGet)>("cuDeviceGet")),
        device_name(d.get<decltype(cuDeviceGetName)>("cuDeviceGetName")),
        attribute(d.get<decltype(cuDeviceGetAttribute)>("cuDeviceGetAttribute")),
        version(d.get<decltype(cuDriverGetVersion)>("cuDriverGetVersion")),
        retain(d.get<decltype(cuDevicePrimaryCtxRetain)>("cuDevicePrimaryCtxRetain")),
        make_current(d.get<decltype(cuCtxSetCurrent)>("cuCtxSetCurrent")),
        synchronize(d.get<CUresult()>("cuCtxSynchronize")),
        allocate(d.get<CUresult(CUdeviceptr*, size_t)>("cuMemAlloc_v2")),
        release(d.get<CUresult(CUdeviceptr)>("cuMemFree_v2")),
        fill(d.get<CUresult(CUdeviceptr, unsigned, size_t)>("cuMemsetD32_v2")),
        copy_back(d.get<CUresult(void*, CUdeviceptr, size_t)>("cuMemcpyDtoH_v2")),
        module_data(d.get<decltype(cuModuleLoadData)>("cuModuleLoadData")),
        module_fatbinary(d.get<decltype(cuModuleLoadFatBinary)>("cuModuleLoadFatBinary")),
        module_function(d.get<decltype(cuModuleGetFunction)>("cuModuleGetFunction")),
        module_unload(d.get<decltype(cuModuleUnload)>("cuModuleUnload")),
        library_data(d.get<decltype(cuLibraryLoadData)>("cuLibraryLoadData")),
        library_kernel(d.get<decltype(cuLibraryGetKernel)>("cuLibraryGetKernel")),
        library_unload(d.get<decltype(cuLibraryUnload)>("cuLibraryUnload")),
        kernel_function(d.get<decltype(cuKernelGetFunction)>("cuKernelGetFunction")),
        launch(d.get<decltype(cuLaunchKernel)>("cuLaunchKernel")) {}

  decltype(cuInit)* init;
  decltype(cuDeviceGet)* device_get;
  decltype(cuDeviceGetName)* device_name;
  decltype(cuDeviceGetAttribute)* attribute;
  decltype(cuDriverGetVersion)* version;
  decltype(cuDevicePrimaryCtxRetain)* retain;
  decltype(cuCtxSetCurrent)* make_current;
  CUresult (*synchronize)();
  CUresult (*allocate)(CUdeviceptr*, size_t);
  CUresult (*release)(CUdeviceptr);
  CUresult (*fill)(CUdeviceptr, unsigned, size_t);
  CUresult (*copy_back)(void*, CUdeviceptr, size_t);
  decltype(cuModuleLoadData)* module_data;
  decltype(cuModuleLoadFatBinary)* module_fatbinary;
  decltype(cuModuleGetFunction)* module_function;
  decltype(cuModuleUnload)* module_unload;
  decltype(cuLibraryLoadData)* library_data;
  decltype(cuLibraryGetKernel)* library_kernel;
  decltype(cuLibraryUnload)* library_unload;
  decltype(cuKernelGetFunction)* kernel_function;
  decltype(cuLaunchKernel)* launch;
};

struct Outcome {
  const char* stage = "done";
  int error = 0;
  int value = 0;
  bool ran = false;
};

// Records the first error. Written so that a chain of calls stops there: ok(...) && ok(...).
struct Steps {
  Outcome outcome;
  bool ok(const char* stage, int error) {
    if (error == 0) return true;
    if (outcome.error == 0) outcome = {stage, error, 0, false};
    return false;
  }
};

struct Wrapper {
  uint32_t magic = 0x466243b1, version = 1;
  const void* container = nullptr;
  uint64_t unused = 0;
};

void launch(const Calls& cu, CUfunction function, Steps& steps) {
  CUdeviceptr out = 0;
  int value = 0;
  void* arguments[] = {&out};
  if (!steps.ok("malloc", cu.allocate(&out, sizeof value))) return;
  const bool ran =
      steps.ok("memset", cu.fill(out, 0, 1)) &&
      steps.ok("launch", cu.launch(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr)) &&
      steps.ok("run", cu.synchronize()) &&
      steps.ok("copy", cu.copy_back(&value, out, sizeof value));
  steps.ok("free", cu.release(out));
  if (ran) steps.outcome.value = value, steps.outcome.ran = true;
}

Outcome by_module(const Calls& cu, decltype(cuModuleLoadData)* load, const void* image) {
  Steps steps;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  if (!steps.ok("load", load(&module, image))) return steps.outcome;
  if (steps.ok("function", cu.module_function(&function, module, "answer")))
    launch(cu, function, steps);
  steps.ok("unload", cu.module_unload(module));
  return steps.outcome;
}

Outcome by_library(const Calls& cu, const void* image) {
  Steps steps;
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  if (!steps.ok("load", cu.library_data(&library, image, nullptr, nullptr, 0, nullptr, nullptr, 0)))
    return steps.outcome;
  if (steps.ok("kernel", cu.library_kernel(&kernel, library, "answer")) &&
      steps.ok("function", cu.kernel_function(&function, kernel)))
    launch(cu, function, steps);
  steps.ok("unload", cu.library_unload(library));
  return steps.outcome;
}

Outcome by_runtime(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) give_up(dlerror());
  auto* run = reinterpret_cast<int (*)(int*, const char**)>(dlsym(library, "run_answer"));
  if (!run) give_up(path + " has no run_answer");
  Outcome outcome;
  outcome.error = run(&outcome.value, &outcome.stage);
  outcome.ran = outcome.error == 0;
  if (outcome.ran) outcome.stage = "done";
  return outcome;
}

std::vector<char> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) give_up("cannot read " + path);
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  bytes.resize(bytes.size() + 64); // PTX text must end with a NUL; nothing real follows a container
  return bytes;
}

Outcome perform(const Calls& cu, std::string api, const std::string& path) {
  if (api == "runtime") return by_runtime(path);
  const std::vector<char> bytes = read_file(path);
  const Wrapper wrapper{0x466243b1, 1, bytes.data(), 0};
  const void* image = bytes.data();
  if (const auto dash = api.find("-wrapper"); dash != std::string::npos) {
    image = &wrapper;
    api.resize(dash);
  }
  if (api == "module") return by_module(cu, cu.module_data, image);
  if (api == "fatbinary") return by_module(cu, cu.module_fatbinary, image);
  if (api == "library") return by_library(cu, image);
  give_up("unknown call " + api);
}

void check(const char* what, CUresult result) {
  if (result != CUDA_SUCCESS) give_up(std::string(what) + " returned " + std::to_string(result));
}

} // namespace

int main(int argc, char** argv) {
  Driver driver{dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL)};
  if (!driver.library) give_up(dlerror());
  const Calls cu(driver);
  check("cuInit", cu.init(0));
  CUdevice device = 0;
  check("cuDeviceGet", cu.device_get(&device, 0));

  if (argc == 2 && std::string(argv[1]) == "--driver") {
    int version = 0, major = 0, minor = 0;
    char name[256] = "";
    check("cuDriverGetVersion", cu.version(&version));
    check("cuDeviceGetName", cu.device_name(name, sizeof name, device));
    check("cuDeviceGetAttribute",
          cu.attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    check("cuDeviceGetAttribute",
          cu.attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
    std::printf("%d.%d %d.%d %s\n", version / 1000, version % 1000 / 10, major, minor, name);
    return 0;
  }

  CUcontext context = nullptr;
  check("cuDevicePrimaryCtxRetain", cu.retain(&context, device));
  check("cuCtxSetCurrent", cu.make_current(context));
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto equals = argument.find('=');
    if (equals == std::string::npos) give_up("not API=FILE: " + argument);
    const std::string api = argument.substr(0, equals);
    const Outcome outcome = perform(cu, api, argument.substr(equals + 1));
    std::printf("%s %s %d %s\n", api.c_str(), outcome.stage, outcome.error,
                outcome.ran ? std::to_string(outcome.value).c_str() : "-");
    std::fflush(stdout);
  }
  return 0;
}
