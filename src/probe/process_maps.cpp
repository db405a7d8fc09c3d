#include "probe/process_maps.hpp"

#include "formats/file_kind.hpp"
#include "os/file_tree.hpp"
#include "probe/input_jobs.hpp"

#include <charconv>
#include <set>

namespace gpuvet {
namespace {

constexpr size_t kLargestTable = size_t{256} << 20;
constexpr std::string_view kDeleted = " (deleted)";

// Cuts the text up to the next blank off `line`.
std::string_view next_field(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  std::string_view field = line.substr(0, line.find(' '));
  line.remove_prefix(field.size());
  return field;
}

// The kernel writes a line feed inside a path as \012.
std::string unescape(std::string_view path) {
  std::string result(path);
  for (size_t at = 0; (at = result.find("\\012", at)) != std::string::npos; ++at)
    result.replace(at, 4, "\n");
  return result;
}

bool is_device_or_memory(std::string_view path) {
  for (std::string_view start : {"/dev/", "/memfd:", "/SYSV", "/anon_hugepage", "/i915"})
    if (path.starts_with(start)) return true;
  return false;
}

struct Opened {
  std::string path;
  uint64_t size = 0;
};

// map_files works for deleted files too, but needs more privilege than root/ does.
Result<Opened> open_view(const MappedFile& file, const std::string& process) {
  std::string direct = process + "/map_files/" + file.range;
  if (auto status = file_status(direct, Links::follow); status && read_head(direct, 1))
    return Opened{direct, status->size};
  std::string through_root = process + "/root" + file.path;
  auto status = file_status(through_root, Links::follow);
  if (!file.deleted && status && status->type == FileType::regular && status->inode == file.inode &&
      read_head(through_root, 1))
    return Opened{through_root, status->size};
  if (file.deleted || (status && status->inode != file.inode))
    return fail(
        "the process has mapped a file that was replaced or deleted since; reading it needs "
        "root (CAP_CHECKPOINT_RESTORE)",
        file.path);
  return fail("the mapped file cannot be read (" +
                  (status ? "no permission" : status.error().what) +
                  "); run gpuvet as root or as the process's user",
              file.path);
}

} // namespace

std::vector<MappedFile> parse_process_maps(std::string_view table) {
  std::vector<MappedFile> files;
  std::set<std::pair<std::string, std::string>> seen; // device and inode, as written
  while (!table.empty()) {
    std::string_view line = table.substr(0, table.find('\n'));
    table.remove_prefix(std::min(line.size() + 1, table.size()));
    MappedFile file;
    file.range = next_field(line);
    next_field(line); // permissions
    next_field(line); // offset
    std::string device(next_field(line));
    std::string inode(next_field(line));
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.empty() || line.front() != '/' || is_device_or_memory(line)) continue;
    if (line.ends_with(kDeleted)) {
      file.deleted = true;
      line.remove_suffix(kDeleted.size());
    }
    std::from_chars(inode.data(), inode.data() + inode.size(), file.inode);
    if (file.inode == 0 || !seen.insert({device, inode}).second) continue;
    file.path = unescape(line);
    files.push_back(std::move(file));
  }
  return files;
}

Inputs find_process_inputs(uint64_t pid, const std::string& proc) {
  Inputs found;
  std::string process = join_path(proc, std::to_string(pid));
  if (!file_status(process, Links::follow)) {
    found.errors.push_back({"there is no process " + std::to_string(pid), process});
    return found;
  }
  auto table = read_small_file(process + "/maps", kLargestTable);
  if (!table) {
    found.errors.push_back({"what the process has mapped cannot be read (" + table.error().what +
                                "); run gpuvet as root or as the process's user",
                            process + "/maps"});
    return found;
  }
  for (const MappedFile& file : parse_process_maps(*table)) {
    if (!worth_opening(file.path)) continue;
    auto opened = open_view(file, process);
    if (!opened) {
      found.errors.push_back(opened.error());
      continue;
    }
    auto head = read_head(opened->path, kKindBytes);
    if (!head) {
      found.errors.push_back(head.error());
    } else if (file_kind(file.path, Bytes(std::string_view(*head))) == FileKind::code) {
      add_opened_as_job(file.path, opened->path, opened->size, found);
    }
  }
  return found;
}

} // namespace gpuvet
