// What a file is, told by its first bytes, and whether its name makes it worth opening. Names only
// ever save time: a file that is opened counts by its content.
#pragma once

#include "base/bytes.hpp"

#include <string_view>

namespace gpuvet {

enum class FileKind {
  code, // ELF, static archive, Windows program, fat binary, PTX: may hold GPU code itself
  thin_archive,
  zip,
  gzip,
  bzip2,
  xz,
  zstd, // compressed: one file inside, usually a tar
  tar,
  cpio,
  rpm,
  deb,
  other,
};

// How many first bytes file_kind wants; fewer are fine for a shorter file.
constexpr size_t kKindBytes = 4096;

FileKind file_kind(std::string_view name, Bytes head);

bool is_compressed(FileKind kind);
bool is_archive(FileKind kind); // holds members; compressed files not included

// False for names that never hold GPU code (.py, .h, .png, ...). Case of letters is ignored.
bool worth_opening(std::string_view name);

// GPU code by name, whatever the first bytes: cubins, fat binaries, and the TensorRT engines that
// carry cubins inside a format of their own (.cubin, .fatbin, .ptx, .engine, .plan).
bool names_code(std::string_view name);

// In a folder or an archive only what these names call a package is unpacked (.whl, .zip, .egg,
// .conda, .jar, .apk, .nupkg, .pt2, .tar and its compressed kinds, .deb, .rpm, .cpio): documents
// and model checkpoints are zip files too, and large. A file that the user names is always
// unpacked.
bool names_package(std::string_view name);

} // namespace gpuvet
