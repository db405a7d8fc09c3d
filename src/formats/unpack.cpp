#include "formats/unpack.hpp"

#include "formats/archive.hpp"
#include "formats/file_kind.hpp"

#include <cstdio>

namespace gpuvet {
namespace {

// Where a file stands: how it is shown, what it is called, how it came here.
struct Place {
  std::string path;
  std::string name; // of the file itself; may differ from the path's end
  Wanted wanted = Wanted::found;
  int depth = 0;          // archives around it
  bool unwrapped = false; // came out of a compressed file
};

// Calls itself for archives inside archives, to limits::depth and no further.
struct Unpacker {
  const UnpackJob& job;
  const LeafSink& sink;
  Budget budget = {};

  void visit(const Place& place, ByteStream& content);
  void visit_compressed(const Place& place, FileKind kind, ByteStream& content);
  void visit_zip(const Place& place, ByteStream& content);
  void visit_zip_member(const Place& place, const Zip& zip, const ZipMember& member);
  void visit_sequence(const Place& place, FileKind kind, ByteStream& content);
  void visit_image_tar(const Place& place, ByteStream& content);
  void visit_blobs(const Place& place, const ImageBlobs& blobs);
};

std::string_view last_part(std::string_view path) {
  size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// The name without its compression: "a.tar.gz" -> "a.tar", "a.tgz" -> "a.tar".
std::string uncompressed_name(const std::string& name) {
  for (std::string_view end : {".tgz", ".tbz2", ".txz", ".tzst"})
    if (name.ends_with(end)) return name.substr(0, name.size() - end.size()) + ".tar";
  for (std::string_view end : {".gz", ".bz2", ".xz", ".zst"})
    if (name.ends_with(end)) return name.substr(0, name.size() - end.size());
  return name;
}

// The two parts of a .conda and the parts of a .deb are how the package is built, not something
// that a reader of the report looks for: they get no step in the path. Nullopt: nothing of
// interest.
std::optional<Place> inside_package(const Place& package, std::string_view member) {
  Place inner{package.path, std::string(last_part(member)), Wanted::found, package.depth + 1};
  if (package.name.ends_with(".conda")) {
    if (inner.name.starts_with("info-")) return std::nullopt;
    if (inner.name.starts_with("pkg-")) return inner;
  }
  if (inner.name.starts_with("data.tar") && package.name.ends_with(".deb")) return inner;
  inner.path = member_path(package.path, member);
  return inner;
}

void Unpacker::visit(const Place& place, ByteStream& content) {
  auto head = content.window(0, kKindBytes);
  if (!head) return sink.error(head.error());
  FileKind kind = file_kind(place.name, *head);
  if (kind == FileKind::code) return sink.leaf(place.path, content);
  if (!is_compressed(kind) && !is_archive(kind)) {
    if (place.wanted == Wanted::named || names_code(place.name)) sink.leaf(place.path, content);
    return;
  }
  if (place.wanted == Wanted::found && !names_package(place.name)) return;
  if (place.depth > limits::depth)
    return sink.error({"archives are nested too deeply here; this one is not opened", place.path});
  if (is_compressed(kind)) return visit_compressed(place, kind, content);
  if (kind == FileKind::zip) return visit_zip(place, content);
  if (kind == FileKind::tar && may_be_image(*head)) return visit_image_tar(place, content);
  visit_sequence(place, kind, content);
}

void Unpacker::visit_compressed(const Place& place, FileKind kind, ByteStream& content) {
  if (place.unwrapped)
    return sink.error({"the file is compressed twice; it is not opened", place.path});
  auto expanded = decompress(content, kind, place.path, budget);
  Place inner = place;
  inner.name = uncompressed_name(place.name);
  inner.unwrapped = true;
  visit(inner, *expanded);
}

void Unpacker::visit_zip(const Place& place, ByteStream& content) {
  auto kept = Spooled::read(content, job.make_spool_file, place.path);
  if (!kept) return sink.error(kept.error());
  auto zip = read_zip(kept->bytes(), place.path);
  if (!zip) return sink.error(zip.error());
  for (const ZipMember& member : zip->members) {
    if (worth_unpacking(member)) visit_zip_member(place, *zip, member);
  }
}

void Unpacker::visit_zip_member(const Place& place, const Zip& zip, const ZipMember& member) {
  auto inner = inside_package(place, member.name);
  if (!inner) return;
  std::string where = member_path(place.path, member.name);
  auto content = open_member(zip, member, where);
  if (!content) return sink.error(content.error());
  if (!budget.spend(member.size)) return sink.error({std::string(kBombText), where});
  if (member.repeated) inner->path += " (once more)";
  visit(*inner, **content);
}

// tar, cpio, rpm, deb.
void Unpacker::visit_sequence(const Place& place, FileKind kind, ByteStream& content) {
  auto read = for_each_member(
      content, kind, place.path, budget, [&](const ArchiveMember& member, ByteStream& inside) {
        if (member.type != MemberType::file || member.size == 0 || !worth_opening(member.name))
          return Next::member;
        if (kind == FileKind::deb && !member.name.starts_with("data.tar")) return Next::member;
        if (auto inner = inside_package(place, member.name)) visit(*inner, inside);
        return Next::member;
      });
  if (!read) sink.error(read.error());
}

// Layers are read out of order and more than once, so the tar must be at hand as a whole.
void Unpacker::visit_image_tar(const Place& place, ByteStream& content) {
  auto kept = Spooled::read(content, job.make_spool_file, place.path);
  if (!kept) return sink.error(kept.error());
  auto blobs = blobs_of_tar(kept->bytes(), place.path, budget);
  if (!blobs) return sink.error(blobs.error());
  if (is_image(*blobs)) return visit_blobs(place, *blobs);
  MemoryStream again(kept->bytes());
  visit_sequence(place, FileKind::tar, again);
}

void Unpacker::visit_blobs(const Place& place, const ImageBlobs& blobs) {
  auto manifests = read_manifests(blobs, sink.error);
  for (const ImageManifest& manifest : manifests) {
    std::string image = place.path;
    if (manifests.size() > 1) image = member_path(image, manifest.name);
    ImageVisitor visitor;
    visitor.error = sink.error;
    visitor.file = [&](const std::string& path, ByteStream& content) {
      if (!worth_opening(path)) return;
      visit(
          {member_path(image, path), std::string(last_part(path)), Wanted::found, place.depth + 1},
          content);
    };
    visit_image(blobs, manifest, budget, visitor);
  }
}

Place top(const UnpackJob& job) {
  return {job.path, std::string(last_part(job.path)), job.wanted, 0};
}

} // namespace

void unpack(const UnpackJob& job, ByteStream& content, const LeafSink& sink) {
  Unpacker{job, sink}.visit(top(job), content);
}

void unpack_member(const UnpackJob& job, const Zip& zip, const ZipMember& member,
                   const LeafSink& sink) {
  Unpacker{job, sink}.visit_zip_member(top(job), zip, member);
}

void unpack_image(const UnpackJob& job, const ImageBlobs& blobs, const LeafSink& sink) {
  Unpacker{job, sink}.visit_blobs(top(job), blobs);
}

bool worth_unpacking(const ZipMember& member) {
  return !member.folder() && member.size > 0 && worth_opening(member.name);
}

std::string member_path(const std::string& outer, std::string_view inner) {
  std::string path = outer + "!";
  for (char c : inner) {
    auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      path += c;
      continue;
    }
    char escape[5];
    std::snprintf(escape, sizeof escape, "\\x%02x", unsigned{byte});
    path += escape;
  }
  return path;
}

} // namespace gpuvet
