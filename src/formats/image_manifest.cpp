// Which images a layout holds and of which blobs each consists.
#include "formats/image_layers.hpp"
#include "formats/json_read.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <set>

namespace gpuvet {
namespace {

constexpr size_t kLargestDocument = size_t{4} << 20;
constexpr size_t kMostManifests = 1000;
constexpr size_t kMostLayers = 1000;
constexpr int kDeepestIndex = 4;

bool is_hex(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
}

// A blob's name stays inside the layout.
bool is_inside(std::string_view name) {
  if (name.empty() || name.front() == '/') return false;
  while (!name.empty()) {
    size_t slash = name.find('/');
    if (name.substr(0, slash) == "..") return false;
    if (slash == std::string_view::npos) break;
    name.remove_prefix(slash + 1);
  }
  return true;
}

Result<std::string> blob_of_digest(const Json& digest, const std::string& where) {
  std::string_view text = digest.text;
  size_t colon = text.find(':');
  if (colon == std::string_view::npos || !is_hex(text.substr(colon + 1)) ||
      (text.substr(0, colon) != "sha256" && text.substr(0, colon) != "sha512"))
    return fail("the image names a blob by something that is not a digest", where);
  return "blobs/" + std::string(text.substr(0, colon)) + "/" + std::string(text.substr(colon + 1));
}

Result<Json> read_document(const ImageBlobs& blobs, const std::string& name) {
  std::string where = blobs.where + "!" + name;
  Result<Json> document = fail("the document is missing", where);
  auto opened = blobs.open(name, [&](ByteStream& content) {
    auto text = content.window(0, kLargestDocument + 1);
    if (!text)
      document = tl::unexpected(text.error());
    else if (text->size() > kLargestDocument)
      document = fail("the document is too large", where);
    else
      document = parse_json(text->text(), where);
  });
  if (!opened) return tl::unexpected(opened.error());
  return document;
}

// manifest.json of `docker save`: a list of {Config, RepoTags, Layers}.
std::vector<ImageManifest> read_docker(const ImageBlobs& blobs,
                                       const std::function<void(Error)>& error) {
  std::vector<ImageManifest> manifests;
  auto document = read_document(blobs, "manifest.json");
  if (!document) {
    error(document.error());
    return manifests;
  }
  std::string where = blobs.where + "!manifest.json";
  for (const Json& image : document->items) {
    if (manifests.size() >= kMostManifests) {
      error({"the archive lists too many images; the rest is left out", where});
      break;
    }
    ImageManifest manifest;
    const Json& tags = image["RepoTags"];
    manifest.name = tags.items.empty() ? image["Config"].text : tags.items[0].text;
    bool sound = image["Layers"].items.size() <= kMostLayers;
    for (const Json& layer : image["Layers"].items) {
      sound = sound && is_inside(layer.text);
      manifest.layers.push_back(layer.text);
    }
    if (sound)
      manifests.push_back(std::move(manifest));
    else
      error({"the image's list of layers is not sound", where});
  }
  return manifests;
}

std::string platform_name(const Json& platform) {
  std::string name = platform["os"].text + "/" + platform["architecture"].text;
  if (!platform["variant"].text.empty()) name += "/" + platform["variant"].text;
  return name == "/" ? "" : name;
}

std::string tag_of(const Json& descriptor) {
  const Json& notes = descriptor["annotations"];
  for (const char* key : {"io.containerd.image.name", "org.opencontainers.image.ref.name"})
    if (!notes[key].text.empty()) return notes[key].text;
  return {};
}

// A blob that an index names, still to be looked at.
struct Pending {
  std::string blob;
  std::string name;
  int depth = 0;
};

class OciReader {
 public:
  OciReader(const ImageBlobs& blobs, const std::function<void(Error)>& error)
      : blobs_(blobs), error_(error) {}

  std::vector<ImageManifest> read() {
    add_index("index.json", "", 0);
    for (size_t i = 0; i < pending_.size(); ++i) {
      Pending next = pending_[i]; // a copy: the list grows
      if (!blobs_.has(next.blob)) {
        error_({"the manifest of image " + next.name +
                    " is not here; only a part of the index was saved",
                blobs_.where + "!" + next.blob});
        continue;
      }
      add_blob(next);
    }
    return std::move(manifests_);
  }

 private:
  void add_index(const std::string& blob, const std::string& name, int depth) {
    auto index = read_document(blobs_, blob);
    if (!index) return error_(index.error());
    add_descriptors(*index, blob, name, depth);
  }

  void add_descriptors(const Json& index, const std::string& blob, const std::string& name,
                       int depth) {
    std::string where = blobs_.where + "!" + blob;
    if (depth > kDeepestIndex) return error_({"image indexes are nested too deeply", where});
    for (const Json& descriptor : index["manifests"].items) {
      // Signatures and provenance records stand in the index like images, but hold no files.
      if (!descriptor["annotations"]["vnd.docker.reference.type"].text.empty()) continue;
      if (pending_.size() >= kMostManifests)
        return error_({"the index lists too many images; the rest is left out", where});
      auto target = blob_of_digest(descriptor["digest"], where);
      if (!target) {
        error_(target.error());
        continue;
      }
      if (!seen_.insert(*target).second) continue;
      std::string tag = tag_of(descriptor);
      std::string shown = tag.empty() ? name : tag;
      std::string platform = platform_name(descriptor["platform"]);
      if (!platform.empty()) shown += (shown.empty() ? "" : " ") + platform;
      pending_.push_back({*target, shown.empty() ? *target : shown, depth});
    }
  }

  void add_blob(const Pending& next) {
    auto document = read_document(blobs_, next.blob);
    if (!document) return error_(document.error());
    if (document->has("manifests"))
      return add_descriptors(*document, next.blob, next.name, next.depth + 1);
    std::string where = blobs_.where + "!" + next.blob;
    if (!document->has("layers") || (*document)["layers"].items.size() > kMostLayers)
      return error_({"this is neither an image manifest nor an index", where});
    ImageManifest manifest;
    manifest.name = next.name;
    for (const Json& layer : (*document)["layers"].items) {
      const std::string& type = layer["mediaType"].text;
      if (!type.empty() && type.find("tar") == std::string::npos) {
        error_({"a layer of type " + type + " is not a file system; it is left out", where});
        continue;
      }
      auto blob = blob_of_digest(layer["digest"], where);
      if (!blob) return error_(blob.error());
      manifest.layers.push_back(*blob);
    }
    manifests_.push_back(std::move(manifest));
  }

  const ImageBlobs& blobs_;
  const std::function<void(Error)>& error_;
  std::vector<Pending> pending_;
  std::set<std::string> seen_;
  std::vector<ImageManifest> manifests_;
};

// docker save used to write a layer that two images share as a link to the other's copy.
std::string link_target(const std::string& name, const std::string& target) {
  std::vector<std::string> parts;
  std::string path = name.substr(0, name.rfind('/') + 1) + target;
  for (size_t from = 0; from <= path.size();) {
    size_t slash = std::min(path.find('/', from), path.size());
    std::string part = path.substr(from, slash - from);
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
    } else if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
    from = slash + 1;
  }
  std::string resolved;
  for (const std::string& part : parts)
    resolved += (resolved.empty() ? "" : "/") + part;
  return resolved;
}

bool image_name(std::string_view name) {
  while (name.starts_with("./"))
    name.remove_prefix(2);
  for (std::string_view known :
       {"blobs", "oci-layout", "index.json", "manifest.json", "repositories"})
    if (name == known || name.starts_with(std::string(known) + "/")) return true;
  if (name.starts_with("sha256:")) return true;
  return name.size() >= 64 && is_hex(name.substr(0, 64));
}

} // namespace

bool may_be_image(Bytes tar_head) {
  // Extended headers come first and say nothing here.
  for (uint64_t at = 0; tar_head.holds(at, 512);) {
    auto header = *tar_head.slice(at, 512);
    char type = static_cast<char>(header.data()[156]);
    std::string_view name = header.clamp(0, 100).text();
    if (type != 'x' && type != 'g') return image_name(name.substr(0, name.find('\0')));
    uint64_t size = 0;
    for (size_t i = 124; i < 135; ++i) {
      char c = static_cast<char>(header.data()[i]);
      if (c >= '0' && c <= '7') size = size * 8 + static_cast<uint64_t>(c - '0');
    }
    at += 512 + (size + 511) / 512 * 512;
  }
  return false;
}

Result<ImageBlobs> blobs_of_tar(Bytes tar, const std::string& where, Budget& budget) {
  auto links = std::make_shared<std::map<std::string, std::string>>(); // name -> where it is
  MemoryStream content(tar);
  auto listed = for_each_member(
      content, FileKind::tar, where, budget, [&](const ArchiveMember& member, ByteStream&) {
        if (links->size() > limits::members / 16) return Next::stop;
        if (member.type == MemberType::file) links->try_emplace(member.name, member.name);
        if (member.type == MemberType::symbolic_link)
          links->try_emplace(member.name, link_target(member.name, member.target));
        if (member.type == MemberType::hard_link) links->try_emplace(member.name, member.target);
        return Next::member;
      });
  if (!listed) return tl::unexpected(listed.error());
  ImageBlobs blobs;
  blobs.where = where;
  blobs.has = [links](const std::string& name) { return links->count(name) > 0; };
  blobs.open = [links, tar, where](const std::string& name,
                                   const std::function<void(ByteStream&)>& use) -> Result<void> {
    auto place = links->find(name);
    bool found = false;
    if (place != links->end()) {
      MemoryStream again(tar);
      Budget own;
      auto read = for_each_member(
          again, FileKind::tar, where, own, [&](const ArchiveMember& member, ByteStream& inside) {
            if (member.type != MemberType::file || member.name != place->second)
              return Next::member;
            found = true;
            use(inside);
            return Next::stop;
          });
      if (!read) return read;
    }
    if (!found)
      return fail("the image names a file that is not in the archive", where + "!" + name);
    return {};
  };
  return blobs;
}

bool is_image(const ImageBlobs& blobs) {
  return blobs.has("manifest.json") || (blobs.has("index.json") && blobs.has("oci-layout"));
}

std::vector<ImageManifest> read_manifests(const ImageBlobs& blobs,
                                          const std::function<void(Error)>& error) {
  // Both stand side by side since Docker 25; manifest.json lists only what is really there.
  if (blobs.has("manifest.json")) return read_docker(blobs, error);
  return OciReader(blobs, error).read();
}

} // namespace gpuvet
