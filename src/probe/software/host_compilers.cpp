// Versions of gcc and clang, told from names and folders where possible: "gcc" is a link to
// "x86_64-linux-gnu-gcc-12", or its library folder is lib/gcc/TRIPLE/11. Only where neither tells
// is the compiler asked.
#include "os/file_tree.hpp"
#include "probe/software/text.hpp"
#include "probe/software/toolkits.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

constexpr double kDeadline = 2; // seconds

struct Compiler {
  std::string path, real;
  bool clang = false;
};

bool is_wrapper(std::string_view name) {
  return name == "ccache" || name == "sccache" || name == "distcc" || name == "icecc";
}

Result<Compiler> find(const Source& source, const Environment& environment,
                      const std::string& name) {
  for (const std::string& folder : folders_of(variable(environment, "PATH"))) {
    std::string path = join_path(folder, name);
    if (!exists(source, path)) continue;
    auto real = source.real_path(path);
    if (!real || is_wrapper(base_name(*real))) continue;
    return Compiler{.path = path, .real = *real, .clang = name.starts_with("clang")};
  }
  return fail("there is no " + name + " on PATH");
}

// "x86_64-linux-gnu-gcc-12" -> "12"
std::string of_name(const std::string& name) {
  std::string tail = name.substr(name.rfind('-') + 1);
  bool version = !tail.empty() && tail.find_first_not_of("0123456789.") == std::string::npos &&
                 tail.front() != '.' && name.find('-') != std::string::npos;
  return version ? tail : std::string();
}

// The only version below `folder`; empty where there are several or none.
std::string only_version(const Source& source, const std::string& folder) {
  auto names = source.list(folder);
  if (!names) return {};
  std::vector<std::string> versions;
  for (const std::string& name : *names)
    if (name.find_first_not_of("0123456789.") == std::string::npos) versions.push_back(name);
  return versions.size() == 1 ? versions.front() : std::string();
}

std::string of_folders(const Source& source, const Compiler& compiler) {
  std::string prefix = parent_folder(parent_folder(compiler.real));
  if (compiler.clang) {
    std::string name = base_name(prefix); // /usr/lib/llvm-14/bin/clang
    if (name.starts_with("llvm-")) return of_name(name);
    for (const char* lib : {"/lib/clang", "/lib64/clang"})
      if (std::string version = only_version(source, prefix + lib); !version.empty())
        return version;
    return {};
  }
  std::vector<std::string> versions;
  for (const std::string& triple : matching(source, prefix + "/lib/gcc", "*"))
    if (std::string version = only_version(source, triple); !version.empty())
      versions.push_back(version);
  return versions.size() == 1 ? versions.front() : std::string();
}

Observed<std::string> version_of(const Source& source, const Compiler& compiler) {
  if (std::string version = of_name(base_name(compiler.real)); !version.empty())
    return known(version, compiler.path + " -> " + compiler.real);
  if (std::string version = of_folders(source, compiler); !version.empty())
    return known(version, compiler.path + " and its library folder");
  auto answer =
      source.run({compiler.real, compiler.clang ? "-dumpversion" : "-dumpfullversion"}, kDeadline);
  if (!answer) return unknown<std::string>(compiler.path + ": " + answer.error().what);
  std::string version(trimmed(answer->output));
  if (answer->timed_out || answer->status != 0 || version.empty())
    return unknown<std::string>(compiler.path + " did not tell its version");
  return known(version, compiler.real + " -dumpfullversion");
}

Observed<std::string> on_path(const Source& source, const Environment& environment,
                              const std::string& name) {
  auto compiler = find(source, environment, name);
  if (!compiler) return unknown<std::string>(compiler.error().what);
  return version_of(source, *compiler);
}

// NVCC_CCBIN names a compiler, a path to one, or the folder of gcc.
Observed<std::string> chosen(const Source& source, const Environment& environment,
                             const std::string& from) {
  std::string value = variable(environment, from);
  Result<Compiler> compiler = fail("");
  if (value.find('/') == std::string::npos) {
    compiler = find(source, environment, value);
  } else {
    if (is_folder(source, value)) value = join_path(value, "gcc");
    auto real = source.real_path(value);
    if (!real) return unknown<std::string>(from + "=" + value + ": " + real.error().what);
    compiler = Compiler{.path = value, .real = *real, .clang = false};
  }
  if (!compiler) return unknown<std::string>(from + ": " + compiler.error().what);
  compiler->clang = holds_word(base_name(compiler->real), "clang");
  Observed<std::string> version = version_of(source, *compiler);
  if (version) version.value = (compiler->clang ? "clang " : "gcc ") + *version;
  version.source = from + "=" + value;
  return version;
}

} // namespace

void find_host_compilers(const Source& source, const Environment& environment, Toolkits& toolkits) {
  toolkits.gcc = on_path(source, environment, "gcc");
  toolkits.clang = on_path(source, environment, "clang");
  toolkits.host_compiler = unknown<std::string>("NVCC_CCBIN and CUDAHOSTCXX are not set");
  for (const char* name : {"CUDAHOSTCXX", "NVCC_CCBIN"})
    if (!variable(environment, name).empty())
      toolkits.host_compiler = chosen(source, environment, name);
  for (const std::string& path : matching(source, "/usr/bin", "g++-[0-9]*"))
    if (std::string version = base_name(path).substr(4); is_number(version))
      toolkits.other_gcc.push_back(version);
  std::sort(toolkits.other_gcc.begin(), toolkits.other_gcc.end(),
            [](const std::string& a, const std::string& b) {
              return a.size() != b.size() ? a.size() < b.size() : a < b;
            });
}

} // namespace gpuvet
