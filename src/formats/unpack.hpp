// Unpacking turns one file into its *leaves*: the files that may hold GPU code. A library is its
// own leaf; a wheel, package or image has many, and archives inside archives are followed to
// limits::depth. Nothing is ever written under a member's name.
#pragma once

#include "formats/byte_stream.hpp"
#include "formats/image_layers.hpp"
#include "formats/spool.hpp"
#include "formats/unpack_limits.hpp"
#include "formats/zip.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace gpuvet {

// Where leaves and complaints go. After an error the other members are still visited.
struct LeafSink {
  // `path` is outer!inner for members. The stream dies when the call returns.
  std::function<void(const std::string& path, ByteStream& content)> leaf;
  std::function<void(Error)> error;
};

// Does the user want this very file, or was it found on the way? A found file is unpacked only when
// its name calls it a package, and is a leaf only when its content looks like code.
enum class Wanted { named, found };

struct UnpackJob {
  std::string path; // shown
  Wanted wanted = Wanted::found;
  MakeSpoolFile make_spool_file;
};

void unpack(const UnpackJob& job, ByteStream& content, const LeafSink& sink);

// One member of a zip, so that members can be unpacked by several threads. `job.path` is the zip's.
void unpack_member(const UnpackJob& job, const Zip& zip, const ZipMember& member,
                   const LeafSink& sink);

// An image whose blobs lie in a folder (OCI layout).
void unpack_image(const UnpackJob& job, const ImageBlobs& blobs, const LeafSink& sink);

// The members that can hold GPU code, by name and size.
bool worth_unpacking(const ZipMember& member);

// outer!inner with control characters made visible.
std::string member_path(const std::string& outer, std::string_view inner);

} // namespace gpuvet
