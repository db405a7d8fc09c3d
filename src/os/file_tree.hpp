// Looking at the file system without opening anything that could block or change state: kinds,
// folder listings, links, first bytes.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gpuvet {

enum class FileType { regular, folder, link, special };

struct FileStatus {
  FileType type = FileType::special;
  uint64_t size = 0;
  uint64_t device = 0;
  uint64_t inode = 0;
};

enum class Links { follow, keep };

// Errors say why in words ("Permission denied").
Result<FileStatus> file_status(const std::string& path, Links links);

// Names without "." and "..", sorted by bytes.
Result<std::vector<std::string>> list_folder(const std::string& path);

// The path with every link resolved.
Result<std::string> real_path(const std::string& path);

// Up to n bytes from the start of a regular file.
Result<std::string> read_head(const std::string& path, size_t n);

// A whole small file or kernel table; an error when it is longer than `most`.
Result<std::string> read_small_file(const std::string& path, size_t most);

// /proc, /sys and their like: trees the kernel makes up, where a walk never ends well.
bool is_kernel_tree(const std::string& path);

std::string join_path(const std::string& folder, const std::string& name);
std::string parent_folder(const std::string& path); // "." for a bare name
std::string base_name(const std::string& path);

} // namespace gpuvet
