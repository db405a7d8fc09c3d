// What the file system says about a path, in full: kind, owner, permissions, device numbers, and
// the space around it. Nothing is opened except where the name says so.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>

namespace gpuvet {

enum class EntryType : uint8_t { regular, folder, link, character, block, other };

struct FileEntry {
  EntryType kind = EntryType::other;
  uint64_t size = 0; // bytes; 0 for most files that the kernel makes up
  uint32_t mode = 0; // permission bits with setuid
  uint64_t uid = 0, gid = 0;
  uint64_t device = 0, inode = 0;
  uint32_t major = 0, minor = 0; // of a device node
  int64_t changed = 0;           // mtime, seconds since 1970
};

inline constexpr const char* kNoSuchFile = "no such file or folder";

// Does not follow a link at the end. Error::what of something absent is `kNoSuchFile`.
Result<FileEntry> file_entry(const std::string& path);
Result<std::string> link_target(const std::string& path);

// Opens a device node for reading and writing and closes it at once; the errno, 0 when it opened.
int try_to_open_node(const std::string& path);

// May this process read and write it? The errno, 0 when it may. For a device node the kernel asks
// the permission bits and the device cgroup; nothing is opened.
int access_error(const std::string& path);

struct FileSystemSpace {
  uint64_t total = 0, free = 0; // bytes; free: for users other than root
  bool read_only = false, no_exec = false;
};
Result<FileSystemSpace> file_system_space(const std::string& path);

// A whole regular file of at most `most` bytes, size told or not; FIFOs and devices are refused
// without being opened.
Result<std::string> read_whole_file(const std::string& path, size_t most);

} // namespace gpuvet
