// Container images as files: what `docker save`, `podman save` and skopeo write, and OCI layout
// folders. An image is a stack of layers, each a tar; what a container sees is their union, where a
// higher layer replaces, adds, or deletes ("whiteout" files named .wh.NAME, and .wh..wh..opq for
// "this folder starts empty here"). Only what a container would see is visited.
//
// Layers are read once each, topmost first: a path that a higher layer has settled is passed over.
#pragma once

#include "formats/archive.hpp"
#include "formats/byte_stream.hpp"
#include "formats/unpack_limits.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

// The files of an image by their name in its layout: members of a tar or files of a folder.
struct ImageBlobs {
  std::string where; // for errors
  std::function<bool(const std::string& name)> has;
  std::function<Result<void>(const std::string& name, const std::function<void(ByteStream&)>& use)>
      open;
};

// One image of possibly several (tags, platforms).
struct ImageManifest {
  std::string name;                // tag or platform, "linux/arm64"
  std::vector<std::string> layers; // blob names, lowest first
};

struct ImageVisitor {
  // A file of the final file system.
  std::function<void(const std::string& path, ByteStream& content)> file;
  std::function<void(Error)> error;
};

// Could a tar that starts with these bytes be an image? Told by its first member's name.
bool may_be_image(Bytes tar_head);

// The blobs of an image tar; empty names when it is none. `tar` must outlive the result.
Result<ImageBlobs> blobs_of_tar(Bytes tar, const std::string& where, Budget& budget);

bool is_image(const ImageBlobs& blobs);

// Images whose manifests cannot be read are reported and left out.
std::vector<ImageManifest> read_manifests(const ImageBlobs& blobs,
                                          const std::function<void(Error)>& error);

void visit_image(const ImageBlobs& blobs, const ImageManifest& manifest, Budget& budget,
                 const ImageVisitor& visitor);

} // namespace gpuvet
