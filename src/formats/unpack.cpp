#include "formats/unpack.hpp"

#include "formats/file_kind.hpp"
#include "formats/inflate.hpp"

#include <cstdio>

namespace gpuvet {
namespace {

struct Unpacker {
  const UnpackJob& job;
  const LeafSink& sink;
  Budget budget;

  void visit(const std::string& path, std::string_view name, ByteStream& content, Wanted wanted,
             int depth);
  void visit_zip(const std::string& path, ByteStream& content, int depth);
  void visit_zip_member(const std::string& path, const Zip& zip, const ZipMember& member,
                        int depth);
};

void Unpacker::visit(const std::string& path, std::string_view name, ByteStream& content,
                     Wanted wanted, int depth) {
  auto head = content.window(0, kKindBytes);
  if (!head) return sink.error(head.error());
  FileKind kind = file_kind(name, *head);
  if (kind == FileKind::code) return sink.leaf(path, content);
  if (kind == FileKind::other) {
    if (wanted == Wanted::named || names_code(name)) sink.leaf(path, content);
    return;
  }
  if (wanted == Wanted::found && !names_package(name)) return;
  if (depth > limits::depth)
    return sink.error({"archives are nested too deeply here; this one is not opened", path});
  if (kind == FileKind::zip) return visit_zip(path, content, depth);
}

void Unpacker::visit_zip(const std::string& path, ByteStream& content, int depth) {
  auto kept = Spooled::read(content, job.make_spool_file, path);
  if (!kept) return sink.error(kept.error());
  auto zip = read_zip(kept->bytes(), path);
  if (!zip) return sink.error(zip.error());
  for (const ZipMember& member : zip->members) {
    if (worth_unpacking(member)) visit_zip_member(path, *zip, member, depth);
  }
}

void Unpacker::visit_zip_member(const std::string& path, const Zip& zip, const ZipMember& member,
                                int depth) {
  std::string inner = member_path(path, member.name);
  if (member.repeated) inner += " (second of this name)";
  auto content = open_member(zip, member, inner);
  if (!content) return sink.error(content.error());
  if (!budget.spend(member.size)) return sink.error({std::string(kBombText), inner});
  visit(inner, member.name, **content, Wanted::found, depth + 1);
}

std::string_view last_part(std::string_view path) {
  size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

} // namespace

void unpack(const UnpackJob& job, ByteStream& content, const LeafSink& sink) {
  Unpacker{job, sink, {}}.visit(job.path, last_part(job.path), content, job.wanted, 0);
}

void unpack_member(const UnpackJob& job, const Zip& zip, const ZipMember& member,
                   const LeafSink& sink) {
  Unpacker{job, sink, {}}.visit_zip_member(job.path, zip, member, 0);
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
