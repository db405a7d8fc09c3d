// The union of an image's layers, read from the top.
#include "formats/image_layers.hpp"

#include <map>
#include <set>
#include <unordered_set>

namespace gpuvet {
namespace {

constexpr uint64_t kMostPathBytes = uint64_t{512} << 20; // remembered per image
constexpr std::string_view kWhiteout = ".wh.";
constexpr std::string_view kOpaque = ".wh..wh..opq";
constexpr std::string_view kInternal = ".wh..wh."; // bookkeeping of a storage driver

// What the layers read so far settle for those below.
class Settled {
 public:
  // Is `path` of a lower layer out of sight?
  bool hides(std::string_view path, MemberType type) const {
    if (gone_.count(std::string(path))) return true;
    if (type != MemberType::folder && folders_.count(std::string(path))) return true;
    while (!path.empty()) {
      size_t slash = path.rfind('/');
      path = path.substr(0, slash == std::string_view::npos ? 0 : slash);
      std::string parent(path);
      if (gone_.count(parent) || opaque_.count(parent)) return true;
    }
    return false;
  }

  // False when the image has more paths than gpuvet is ready to remember.
  bool replace(const std::string& path) { return keep(gone_, path); }
  bool empty_below(const std::string& path) { return keep(opaque_, path); }
  bool folder(const std::string& path) { return keep(folders_, path); }

 private:
  bool keep(std::unordered_set<std::string>& set, const std::string& path) {
    if (set.insert(path).second) bytes_ += path.size() + 64;
    return bytes_ <= kMostPathBytes;
  }

  std::unordered_set<std::string> gone_;    // replaced or deleted, with all below
  std::unordered_set<std::string> opaque_;  // folders whose lower content is hidden
  std::unordered_set<std::string> folders_; // merged with lower folders of the same name
  uint64_t bytes_ = 0;
};

// "usr//lib/./x" -> "usr/lib/x"; empty for the root and for a path that climbs out of the image.
std::string tidy(std::string_view path) {
  std::string result;
  while (!path.empty()) {
    size_t slash = path.find('/');
    std::string_view part = path.substr(0, slash);
    if (part == "..") return {};
    if (!part.empty() && part != ".") {
      if (!result.empty()) result += '/';
      result += part;
    }
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  return result;
}

struct Layer {
  const ImageBlobs& blobs;
  const std::string& blob;
  Budget& budget;
  const ImageVisitor& visitor;
  std::string where = blobs.where + "!" + blob;

  void each(const VisitMember& visit) const;
};

// The layer's tar, whatever it is compressed with.
void Layer::each(const VisitMember& visit) const {
  auto opened = blobs.open(blob, [&](ByteStream& stored) {
    auto head = stored.window(0, kKindBytes);
    if (!head) return visitor.error(head.error());
    FileKind kind = file_kind("", *head);
    std::unique_ptr<ByteStream> expanded;
    if (is_compressed(kind)) expanded = decompress(stored, kind, where, budget);
    ByteStream& tar = expanded ? *expanded : stored;
    auto start = tar.window(0, kKindBytes);
    if (!start) return visitor.error(start.error());
    if (start->size() < 512 || start->data()[0] == 0) return; // a layer that changes nothing
    if (file_kind("", *start) != FileKind::tar)
      return visitor.error(
          {"the layer is not a tar archive; encrypted layers are not read", where});
    auto read = for_each_member(tar, FileKind::tar, where, budget, visit);
    if (!read) visitor.error(read.error());
  });
  if (!opened) visitor.error(opened.error());
}

// What one layer adds to Settled, applied only when it has been read: its whiteouts speak about the
// layers below, not about itself.
struct LayerResult {
  std::vector<std::string> replaced, emptied, folders;
  std::map<std::string, std::string> hidden_targets; // hard link target -> the name in sight
  uint64_t bytes = 0;
};

// A whiteout, or not.
bool note_whiteout(const std::string& path, LayerResult& result) {
  size_t slash = path.rfind('/');
  std::string folder = slash == std::string::npos ? "" : path.substr(0, slash);
  std::string_view name = std::string_view(path).substr(slash == std::string::npos ? 0 : slash + 1);
  if (name == kOpaque) {
    result.emptied.push_back(folder);
    return true;
  }
  if (name.starts_with(kInternal)) return true;
  if (!name.starts_with(kWhiteout)) return false;
  name.remove_prefix(kWhiteout.size());
  result.replaced.push_back(folder.empty() ? std::string(name) : folder + "/" + std::string(name));
  return true;
}

LayerResult read_layer(const Layer& layer, const Settled& settled) {
  LayerResult result;
  layer.each([&](const ArchiveMember& member, ByteStream& content) {
    std::string path = tidy(member.name);
    result.bytes += path.size() + 64;
    if (result.bytes > kMostPathBytes) return Next::stop; // settle() reports it
    if (path.empty() || note_whiteout(path, result) || settled.hides(path, member.type))
      return Next::member;
    if (member.type == MemberType::folder) {
      result.folders.push_back(path);
      return Next::member;
    }
    if (member.type == MemberType::file) layer.visitor.file(path, content);
    if (member.type == MemberType::hard_link) {
      std::string target = tidy(member.target);
      if (settled.hides(target, MemberType::file)) result.hidden_targets.try_emplace(target, path);
    }
    result.replaced.push_back(path);
    return Next::member;
  });
  return result;
}

// A file whose own name is hidden, but which has another name in sight.
void read_hidden_targets(const Layer& layer, std::map<std::string, std::string> targets) {
  layer.each([&](const ArchiveMember& member, ByteStream& content) {
    auto wanted = targets.find(tidy(member.name));
    if (member.type != MemberType::file || wanted == targets.end()) return Next::member;
    layer.visitor.file(wanted->second, content);
    targets.erase(wanted);
    return targets.empty() ? Next::stop : Next::member;
  });
  for (const auto& [target, name] : targets)
    layer.visitor.error(
        {"a hard link leads to a file that is not in its layer",
         std::string(layer.where).append("!").append(name).append(" -> ").append(target)});
}

bool settle(const LayerResult& result, Settled& settled) {
  bool room = result.bytes <= kMostPathBytes;
  for (const std::string& path : result.folders)
    room = settled.folder(path) && room;
  for (const std::string& path : result.emptied)
    room = settled.empty_below(path) && room;
  for (const std::string& path : result.replaced)
    room = settled.replace(path) && room;
  return room;
}

} // namespace

void visit_image(const ImageBlobs& blobs, const ImageManifest& manifest, Budget& budget,
                 const ImageVisitor& visitor) {
  Settled settled;
  std::set<std::string> read; // the same layer twice changes nothing more
  for (size_t i = manifest.layers.size(); i-- > 0;) {
    const std::string& blob = manifest.layers[i];
    if (!read.insert(blob).second) continue;
    Layer layer{blobs, blob, budget, visitor};
    LayerResult result = read_layer(layer, settled);
    if (!result.hidden_targets.empty()) read_hidden_targets(layer, result.hidden_targets);
    if (!settle(result, settled))
      return visitor.error({"the image has more paths than gpuvet remembers; its lower layers are "
                            "left out",
                            layer.where});
  }
}

} // namespace gpuvet
