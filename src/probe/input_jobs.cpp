#include "probe/input_jobs.hpp"

#include "formats/file_kind.hpp"
#include "formats/object/ar.hpp"
#include "formats/zip.hpp"
#include "os/file_map.hpp"
#include "os/file_tree.hpp"
#include "os/written/temporary_file.hpp"

#include <memory>

namespace gpuvet {
namespace {

// A smaller zip is one job: opening it is cheap, and a folder of a thousand eggs need not stay
// open.
constexpr uint64_t kSplitZip = uint64_t{32} << 20;

class TemporarySpoolFile final : public SpoolFile {
 public:
  explicit TemporarySpoolFile(TemporaryFile file) : file_(std::move(file)) {}

  Result<void> append(Bytes bytes) override { return file_.append(bytes); }

  Result<Bytes> content() override {
    auto map = file_.map();
    if (!map) return tl::unexpected(map.error());
    map_ = std::move(*map);
    return map_.bytes();
  }

 private:
  TemporaryFile file_;
  FileMap map_;
};

struct OpenZip {
  FileMap map;
  Zip zip;
};

void report_change(const FileMap& map, const std::string& path, const LeafSink& sink) {
  if (map.changed())
    sink.error({"the file became shorter, or its disk failed, while it was read: what was found "
                "in it is incomplete",
                path});
}

void run_file(const UnpackJob& job, const std::string& opened, const LeafSink& sink) {
  auto map = map_file(opened);
  if (!map) return sink.error({map.error().what, job.path});
  MemoryStream content(map->bytes());
  unpack(job, content, sink);
  report_change(*map, job.path, sink);
}

// True when `path` was a zip worth splitting and its jobs were added.
bool add_member_jobs(const UnpackJob& job, Inputs& to) {
  auto map = map_file(job.path);
  if (!map) return false; // the single job says why
  Bytes bytes = map->bytes();
  if (file_kind(job.path, bytes.clamp(0, kKindBytes)) != FileKind::zip) return false;
  auto zip = read_zip(bytes, job.path);
  if (!zip) return false;
  auto open = std::make_shared<OpenZip>(OpenZip{std::move(*map), std::move(*zip)});
  open->zip.release = release_pages;
  for (const ZipMember& member : open->zip.members) {
    if (!worth_unpacking(member)) continue;
    auto run = [job, open, &member](const LeafSink& sink) {
      unpack_member(job, open->zip, member, sink);
      report_change(open->map, job.path, sink);
    };
    to.jobs.push_back({member_path(job.path, member.name), member.size, std::move(run)});
  }
  return true;
}

ImageBlobs blobs_of_folder(const std::string& folder) {
  ImageBlobs blobs;
  blobs.where = folder;
  blobs.has = [folder](const std::string& name) {
    auto status = file_status(join_path(folder, name), Links::follow);
    return status && status->type == FileType::regular;
  };
  blobs.open = [folder](const std::string& name,
                        const std::function<void(ByteStream&)>& use) -> Result<void> {
    std::string path = join_path(folder, name);
    auto map = map_file(path);
    if (!map) return tl::unexpected(map.error());
    MemoryStream content(map->bytes());
    use(content);
    if (map->changed()) return fail("the file became shorter while it was read", path);
    return {};
  };
  return blobs;
}

} // namespace

bool is_image_folder(const std::string& path) {
  ImageBlobs blobs = blobs_of_folder(path);
  return blobs.has("oci-layout") && blobs.has("index.json");
}

void add_image_job(const std::string& path, Inputs& to) {
  UnpackJob job{path, Wanted::named, temporary_spool_files()};
  to.jobs.push_back({path, UINT64_MAX, [job](const LeafSink& sink) {
                       unpack_image(job, blobs_of_folder(job.path), sink);
                     }});
}

bool is_thin_archive(const std::string& path) {
  auto head = read_head(path, kKindBytes);
  return head && file_kind(path, Bytes(std::string_view(*head))) == FileKind::thin_archive;
}

Result<std::vector<std::string>> members_of_thin_archive(const std::string& path) {
  auto map = map_file(path);
  if (!map) return tl::unexpected(map.error());
  MemoryStream content(map->bytes());
  return thin_archive_members(content);
}

MakeSpoolFile temporary_spool_files() {
  return []() -> Result<std::unique_ptr<SpoolFile>> {
    auto file = TemporaryFile::make();
    if (!file) return tl::unexpected(file.error());
    return std::make_unique<TemporarySpoolFile>(std::move(*file));
  };
}

void add_file_jobs(const std::string& path, uint64_t size, Wanted wanted, Inputs& to) {
  UnpackJob job{path, wanted, temporary_spool_files()};
  if (size >= kSplitZip && add_member_jobs(job, to)) return;
  to.jobs.push_back({path, size, [job](const LeafSink& sink) { run_file(job, job.path, sink); }});
}

void add_opened_as_job(const std::string& shown, const std::string& opened, uint64_t size,
                       Inputs& to) {
  UnpackJob job{shown, Wanted::found, temporary_spool_files()};
  to.jobs.push_back(
      {shown, size, [job, opened](const LeafSink& sink) { run_file(job, opened, sink); }});
}

} // namespace gpuvet
