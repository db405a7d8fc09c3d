#include "formats/file_kind.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace gpuvet {
namespace {

using namespace std::literals;

constexpr uint64_t kLargestText = 512; // PTX begins with comments and ".version" within this many

constexpr std::array kSkipped = {
    "asm"sv,  "bmp"sv,  "c"sv,     "cc"sv,    "cfg"sv,         "cmake"sv, "cpp"sv,  "css"sv,
    "csv"sv,  "cu"sv,   "cuh"sv,   "cxx"sv,   "eot"sv,         "f"sv,     "f90"sv,  "gif"sv,
    "go"sv,   "h"sv,    "hh"sv,    "hpp"sv,   "html"sv,        "hxx"sv,   "ico"sv,  "in"sv,
    "inc"sv,  "ini"sv,  "ipynb"sv, "jpeg"sv,  "jpg"sv,         "js"sv,    "json"sv, "la"sv,
    "less"sv, "map"sv,  "md"sv,    "mo"sv,    "mp3"sv,         "mp4"sv,   "npy"sv,  "pc"sv,
    "pdf"sv,  "pl"sv,   "png"sv,   "po"sv,    "proto"sv,       "pth"sv,   "pxd"sv,  "py"sv,
    "pyc"sv,  "pyi"sv,  "pyx"sv,   "rst"sv,   "safetensors"sv, "scss"sv,  "sh"sv,   "svg"sv,
    "tex"sv,  "tif"sv,  "tiff"sv,  "toml"sv,  "ts"sv,          "tsv"sv,   "ttf"sv,  "txt"sv,
    "wav"sv,  "webp"sv, "woff"sv,  "woff2"sv, "xml"sv,         "yaml"sv,  "yml"sv};

constexpr std::array kPackages = {
    ".apk"sv,    ".conda"sv,   ".cpio"sv,    ".deb"sv,     ".egg"sv,     ".jar"sv,
    ".nupkg"sv,  ".pt2"sv,     ".rpm"sv,     ".tar"sv,     ".tbz2"sv,    ".tgz"sv,
    ".txz"sv,    ".tzst"sv,    ".whl"sv,     ".zip"sv,     ".tar.gz"sv,  ".tar.bz2"sv,
    ".tar.xz"sv, ".tar.zst"sv, ".cpio.gz"sv, ".cpio.xz"sv, ".cpio.zst"sv};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

bool starts(Bytes head, std::string_view magic, uint64_t at = 0) {
  auto slice = head.slice(at, magic.size());
  return slice && slice->text() == magic;
}

// A tar header carries a sum of its own bytes; that also finds the old kind without "ustar".
bool is_tar_header(Bytes head) {
  auto header = head.slice(0, 512);
  if (!header) return false;
  uint32_t sum = 0;
  for (size_t i = 0; i < 512; ++i)
    sum += i >= 148 && i < 156 ? uint32_t{' '} : header->data()[i];
  uint32_t told = 0;
  size_t digits = 0;
  for (size_t i = 148; i < 156; ++i) {
    char c = static_cast<char>(header->data()[i]);
    if (c == ' ' && digits == 0) continue;
    if (c < '0' || c > '7') break;
    told = told * 8 + static_cast<uint32_t>(c - '0');
    ++digits;
  }
  return digits > 0 && told == sum && header->data()[0] != 0;
}

bool is_ptx(std::string_view name, Bytes head) {
  if (lower(name).ends_with(".ptx")) return true;
  std::string_view text = head.clamp(0, head.size()).text();
  size_t at = text.find(".version ");
  if (at > kLargestText) return false; // npos as well
  return text.find(".target ", at) != std::string_view::npos &&
         text.find('\0') == std::string_view::npos;
}

} // namespace

FileKind file_kind(std::string_view name, Bytes head) {
  if (head.empty()) return FileKind::other;
  if (starts(head, "\x7f"
                   "ELF"))
    return FileKind::code;
  if (starts(head, "!<arch>\n"))
    return starts(head, "debian-binary", 8) ? FileKind::deb : FileKind::code;
  if (starts(head, "!<thin>\n")) return FileKind::thin_archive;
  if (starts(head, "PK\x03\x04") || starts(head, "PK\x05\x06")) return FileKind::zip;
  if (starts(head, "MZ") || starts(head, "\x50\xed\x55\xba")) return FileKind::code;
  if (starts(head, "\x1f\x8b")) return FileKind::gzip;
  if (starts(head, "BZh")) return FileKind::bzip2;
  if (starts(head, "\xfd"
                   "7zXZ"))
    return FileKind::xz;
  if (starts(head, "\x28\xb5\x2f\xfd")) return FileKind::zstd;
  if (starts(head, "\xed\xab\xee\xdb")) return FileKind::rpm;
  if (starts(head, "070701") || starts(head, "070702") || starts(head, "070707"))
    return FileKind::cpio;
  if (is_tar_header(head)) return FileKind::tar;
  if (is_ptx(name, head)) return FileKind::code;
  return FileKind::other;
}

bool is_compressed(FileKind kind) {
  using enum FileKind;
  return kind == gzip || kind == bzip2 || kind == xz || kind == zstd;
}

bool is_archive(FileKind kind) {
  using enum FileKind;
  return kind == zip || kind == tar || kind == cpio || kind == rpm || kind == deb;
}

bool worth_opening(std::string_view name) {
  size_t slash = name.rfind('/');
  if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
  size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return true;
  std::string extension = lower(name.substr(dot + 1));
  return std::find(kSkipped.begin(), kSkipped.end(), extension) == kSkipped.end();
}

bool names_code(std::string_view name) {
  constexpr std::array ends = {".cubin"sv, ".fatbin"sv, ".ptx"sv, ".engine"sv, ".plan"sv};
  std::string small = lower(name);
  return std::any_of(ends.begin(), ends.end(),
                     [&](std::string_view end) { return small.ends_with(end); });
}

bool names_package(std::string_view name) {
  std::string small = lower(name);
  return std::any_of(kPackages.begin(), kPackages.end(),
                     [&](std::string_view end) { return small.ends_with(end); });
}

} // namespace gpuvet
