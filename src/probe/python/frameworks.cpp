#include "probe/python/frameworks.hpp"

#include "formats/json_read.hpp"
#include "os/file_tree.hpp"
#include "probe/python/extensions.hpp"
#include "probe/software/text.hpp"
#include "probe/software/toolkits.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

constexpr size_t kLargestFile = size_t{1} << 20;

// The text between the first pair of quotes; empty when there is none.
std::string quoted(std::string_view text) {
  size_t open = text.find_first_of("'\"");
  if (open == std::string_view::npos) return {};
  size_t close = text.find(text[open], open + 1);
  if (close == std::string_view::npos) return {};
  return std::string(text.substr(open + 1, close - open - 1));
}

// The first folder that holds `file`; empty when none does.
std::string first_holder(const Source& source, const PythonEnv& env, const std::string& file) {
  for (const std::string& folder : env.folders)
    if (exists(source, join_path(folder, file))) return folder;
  return {};
}

void read_torch(const Source& source, PythonEnv& env) {
  std::string folder = first_holder(source, env, "torch/version.py");
  if (folder.empty()) return;
  if (auto text = source.read_file(folder + "/torch/version.py", kLargestFile))
    env.torch = parse_torch_version(*text);
  env.torch["folder"] = folder;
  auto abi = source.text_after(folder + "/torch/share/cmake/Torch/TorchConfig.cmake",
                               "_GLIBCXX_USE_CXX11_ABI=");
  if (abi && (abi->starts_with('0') || abi->starts_with('1')))
    env.torch["cxx11_abi"] = abi->substr(0, 1);
  else if (std::string own = cxx_abi_of(source, folder + "/torch/lib/libc10.so"); !own.empty())
    env.torch["cxx11_abi"] = own == "cxx11" ? "1" : "0"; // newer releases do not write it down
  // conda-forge keeps the libraries outside of the package.
  bool has_cuda = false;
  for (const std::string& lib : {folder + "/torch/lib", env.prefix + "/lib"})
    for (const char* name : {"/libtorch_cuda.so", "/libtorch_cuda_cu.so"})
      has_cuda = has_cuda || exists(source, lib + name);
  env.torch_has_cuda = has_cuda;
}

void read_tensorflow(const Source& source, PythonEnv& env) {
  const std::string file = "tensorflow/python/platform/build_info.py";
  std::string folder = first_holder(source, env, file);
  if (folder.empty()) return;
  if (auto text = source.read_file(join_path(folder, file), kLargestFile))
    env.tensorflow = parse_build_info(*text);
}

void read_xformers(const Source& source, PythonEnv& env) {
  std::string folder = first_holder(source, env, "xformers/cpp_lib.json");
  if (folder.empty()) return;
  auto text = source.read_file(folder + "/xformers/cpp_lib.json", kLargestFile);
  if (!text) return;
  auto json = parse_json(*text, folder + "/xformers/cpp_lib.json");
  if (!json) return;
  const Json& built = (*json)["version"];
  for (const char* name : {"torch", "python"})
    if (!built[name].text.empty()) env.xformers[name] = built[name].text;
  // 1201: CUDA 12.1
  if (double cuda = built["cuda"].number; cuda >= 100 && cuda < 100000)
    env.xformers["cuda"] = std::to_string(static_cast<int>(cuda) / 100) + "." +
                           std::to_string(static_cast<int>(cuda) % 100);
}

void read_triton(const Source& source, PythonEnv& env) {
  const std::string tools = "triton/backends/nvidia/bin";
  for (const std::string& place : {tools, std::string("triton/common/../third_party/cuda/bin"),
                                   std::string("triton/third_party/cuda/bin")}) {
    std::string folder = first_holder(source, env, place + "/ptxas");
    if (folder.empty()) continue;
    env.triton_ptxas = compiler_version(source, folder + "/" + place + "/ptxas");
    break;
  }
  // Newer releases bring a second one for Blackwell and later.
  if (std::string folder = first_holder(source, env, tools + "/ptxas-blackwell"); !folder.empty())
    env.triton_ptxas_blackwell =
        compiler_version(source, folder + "/" + tools + "/ptxas-blackwell");
}

} // namespace

std::map<std::string, std::string> parse_torch_version(std::string_view text) {
  std::map<std::string, std::string> values;
  each_line(text, [&](std::string_view line) {
    size_t equals = line.find('=');
    if (equals == std::string_view::npos) return;
    std::string_view name = line.substr(0, std::min(line.find(':'), equals));
    name = trimmed(name);
    if (name == "__version__") name = "version";
    if (name != "version" && name != "cuda" && name != "hip" && name != "git_version") return;
    std::string value = quoted(line.substr(equals + 1));
    if (!value.empty()) values[std::string(name)] = value;
  });
  return values;
}

std::map<std::string, std::string> parse_build_info(std::string_view text) {
  std::map<std::string, std::string> values;
  for (const char* name : {"cuda_version", "cudnn_version"})
    for (char quote : {'\'', '"'}) {
      std::string key = quote + std::string(name) + quote;
      size_t at = text.find(key);
      if (at == std::string_view::npos) continue;
      std::string value = quoted(text.substr(at + key.size(), 64));
      if (!value.empty()) values[name] = value;
    }
  size_t at = text.find("is_cuda_build");
  if (at != std::string_view::npos) {
    std::string_view tail = text.substr(at, 32);
    if (holds_word(tail, "True")) values["is_cuda_build"] = "true";
    if (holds_word(tail, "False")) values["is_cuda_build"] = "false";
  }
  return values;
}

void read_frameworks(const Source& source, PythonEnv& env) {
  read_torch(source, env);
  read_tensorflow(source, env);
  read_xformers(source, env);
  read_triton(source, env);
}

} // namespace gpuvet
