// CUDA toolkits on disk, the compilers that nvcc would use, and the environment that points to
// them.
#pragma once

#include "probe/source.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

using Environment = std::map<std::string, std::string>;

// Value of a variable; empty when it is not set.
std::string variable(const Environment& environment, const std::string& name);

// Folders of a list such as PATH, without empty ones.
std::vector<std::string> folders_of(const std::string& list);

// All toolkits, each once, apart from those of wheels. Owners are not filled in.
std::vector<InstalledToolkit> find_toolkits(const Source& source, const Environment& environment,
                                            const Packages& packages);

// Version, parts and host compiler limits of one.
InstalledToolkit describe_toolkit(const Source& source, const std::string& folder);

// "12.8" of a compiler's own text ("Cuda compilation tools, release 12.8, V12.8.93"); empty where
// it cannot be told.
std::string compiler_version(const Source& source, const std::string& program);

std::vector<NvccOnPath> find_nvcc(const Source& source, const Environment& environment);

// Debian's nvcc is a script that starts this one.
extern const std::string kDebianNvcc;

struct CompilerLimits {
  std::string gcc, clang; // highest major version allowed; empty: not told
};
CompilerLimits read_host_config(std::string_view text);

void read_cuda_link(const Source& source, Toolkits& toolkits);
void read_build_environment(const Source& source, const Environment& environment,
                            Toolkits& toolkits);
void find_host_compilers(const Source& source, const Environment& environment, Toolkits& toolkits);
std::vector<SettingLine> read_settings_files(const Source& source, const Environment& environment);

} // namespace gpuvet
