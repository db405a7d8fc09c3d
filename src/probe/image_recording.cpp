#include "probe/image_recording.hpp"

#include "formats/recording/recording.hpp"
#include "os/file_entry.hpp"
#include "os/file_tree.hpp"

#include <vector>

namespace gpuvet {
namespace {

constexpr size_t kLargestStored = size_t{64} << 20; // bytes, compressed or not
constexpr size_t kMostBases = 4;
constexpr const char* kFileInFolder = "recording.json";

std::string file_of(const std::string& path) {
  auto status = file_status(path, Links::follow);
  return status && status->type == FileType::folder ? join_path(path, kFileInFolder) : path;
}

Result<Json> read_document(const std::string& file) {
  auto stored = read_whole_file(file, kLargestStored);
  if (!stored) return tl::unexpected(stored.error());
  auto text = recording_text(Bytes(*stored), file);
  if (!text) return tl::unexpected(text.error());
  return parse_recording_document(*text, file);
}

} // namespace

Result<std::shared_ptr<Recording>> load_recording(const std::string& path) {
  std::string file = file_of(path);
  const std::string first = file;
  std::vector<Json> documents; // the last one is the lowest
  for (;;) {
    auto document = read_document(file);
    if (!document) return tl::unexpected(document.error());
    const std::string base = base_of(*document);
    documents.push_back(std::move(*document));
    if (base.empty()) break;
    if (documents.size() > kMostBases)
      return fail("its bases are more than " + std::to_string(kMostBases) +
                      " deep, or go in a ring",
                  first);
    file = file_of(join_path(parent_folder(file), base));
  }
  Json whole = std::move(documents.back());
  for (auto top = documents.rbegin() + 1; top != documents.rend(); ++top)
    whole = overlay_recording(std::move(whole), *top);
  auto recording = read_recording(whole, first);
  if (!recording) return tl::unexpected(recording.error());
  return std::make_shared<Recording>(std::move(*recording));
}

bool is_recording(const std::string& path) {
  auto status = file_status(path, Links::follow);
  if (!status) return false;
  if (status->type == FileType::regular) return true;
  return file_status(join_path(path, kFileInFolder), Links::follow).has_value();
}

} // namespace gpuvet
