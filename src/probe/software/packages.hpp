// What the package system knows: packages that have to do with NVIDIA and CUDA, who owns a file,
// where packages come from and what changed lately. Read from the package systems' own files; only
// rpm is asked by running it, as its database has no text form.
#pragma once

#include "probe/source.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

enum class PackageDatabase : uint8_t { none, dpkg, rpm, pacman };

PackageDatabase package_database(const Source& source);

// By its name: driver, toolkit, CUDA libraries, container toolkit, DKMS.
bool is_relevant_package(std::string_view name);

Packages read_packages(const Source& source);

// Which package owns each path. A path that ends with '/' asks who owns anything below that folder.
// Paths that no relevant package owns are absent.
std::map<std::string, std::string> owners_of(const Source& source, const Packages& packages,
                                             const std::vector<std::string>& paths);

// Made by NVIDIA itself (its own repository) or by the distribution; unknown where it is not told.
Origin package_origin(const Packages& packages, std::string_view name);

// --- parts --------------------------------------------------------------------------------------

void read_dpkg(const Source& source, Packages& packages);
void read_rpm(const Source& source, Packages& packages);
void read_pacman(const Source& source, Packages& packages);
std::vector<Packages::Repository> read_repositories(const Source& source);
std::vector<Packages::Event> read_history(const Source& source, PackageDatabase database);

} // namespace gpuvet
