#include "probe/inputs.hpp"

#include "formats/file_kind.hpp"
#include "os/file_tree.hpp"
#include "probe/input_jobs.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace gpuvet {
namespace {

using Identity = std::pair<uint64_t, uint64_t>; // device, inode

struct Walk {
  Inputs found;
  std::set<Identity> seen;
  uint64_t links_out = 0;
  std::string a_link_out; // the first, as an example

  void named(const std::string& path);
  void folder(const std::string& root);
  void entry(const std::string& path, const std::string& root, std::vector<std::string>& folders);
  void link(const std::string& path, const std::string& root);
  void found_file(const std::string& path, uint64_t size);
  void thin_archive(const std::string& path);
  bool first_time(const FileStatus& status) {
    return seen.insert({status.device, status.inode}).second;
  }
};

void Walk::named(const std::string& path) {
  auto status = file_status(path, Links::follow);
  if (!status) return found.errors.push_back(status.error());
  switch (status->type) {
  case FileType::folder:
    return folder(path);
  case FileType::regular:
    if (!first_time(*status)) return;
    if (is_thin_archive(path)) return thin_archive(path);
    return add_file_jobs(path, status->size, Wanted::named, found);
  case FileType::link:
  case FileType::special:
    found.errors.push_back({"this is neither a file nor a folder", path});
  }
}

// A thin archive holds names only; its members are files beside it.
void Walk::thin_archive(const std::string& path) {
  auto members = members_of_thin_archive(path);
  if (!members) return found.errors.push_back(members.error());
  for (const std::string& member : *members) {
    std::string file = join_path(parent_folder(path), member);
    auto status = file_status(file, Links::follow);
    if (!status || status->type != FileType::regular) {
      found.errors.push_back({"this member of the thin archive " + path + " is missing", file});
    } else if (first_time(*status)) {
      add_file_jobs(file, status->size, Wanted::named, found);
    }
  }
}

void Walk::folder(const std::string& root) {
  // An own stack: the depth of a tree is the input's choice.
  std::vector<std::string> folders = {root};
  auto real_root = real_path(root);
  while (!folders.empty()) {
    std::string path = std::move(folders.back());
    folders.pop_back();
    auto status = file_status(path, Links::follow);
    if (!status) {
      found.errors.push_back(status.error());
      continue;
    }
    if (!first_time(*status)) continue;
    if (is_kernel_tree(path)) {
      found.notes.push_back(path + ": a file system of the kernel, left out");
      continue;
    }
    if (is_image_folder(path)) {
      add_image_job(path, found);
      continue;
    }
    auto names = list_folder(path);
    if (!names) {
      found.errors.push_back({"the folder cannot be listed: " + names.error().what, path});
      continue;
    }
    size_t first_new = folders.size();
    for (const std::string& name : *names)
      entry(join_path(path, name), real_root.value_or(root), folders);
    std::reverse(folders.begin() + static_cast<ptrdiff_t>(first_new), folders.end());
  }
}

void Walk::entry(const std::string& path, const std::string& root,
                 std::vector<std::string>& folders) {
  auto status = file_status(path, Links::keep);
  if (!status) return found.errors.push_back(status.error());
  switch (status->type) {
  case FileType::folder:
    folders.push_back(path);
    return;
  case FileType::link:
    return link(path, root);
  case FileType::regular:
    if (status->size > 0 && worth_opening(path) && first_time(*status))
      found_file(path, status->size);
    return;
  case FileType::special:
    return;
  }
}

// What a link inside the tree points to is found under its own name.
void Walk::link(const std::string& path, const std::string& root) {
  auto target = real_path(path);
  if (!target) return; // dangling or a loop: nothing there to scan
  if (*target == root || target->starts_with(root == "/" ? root : root + "/")) return;
  auto status = file_status(*target, Links::follow);
  if (!status || status->type == FileType::special) return;
  if (status->type == FileType::regular && !worth_opening(*target)) return;
  if (links_out++ == 0) a_link_out = path + " -> " + *target;
}

void Walk::found_file(const std::string& path, uint64_t size) {
  auto head = read_head(path, kKindBytes);
  if (!head) return found.errors.push_back({"the file cannot be read: " + head.error().what, path});
  FileKind kind = file_kind(path, Bytes(std::string_view(*head)));
  bool code = kind == FileKind::code || (kind == FileKind::other && names_code(path));
  bool package = (is_archive(kind) || is_compressed(kind)) && names_package(path);
  if (code || package) add_file_jobs(path, size, Wanted::found, found);
}

} // namespace

Inputs find_inputs(const std::vector<std::string>& paths) {
  Walk walk;
  for (const std::string& path : paths)
    walk.named(path);
  if (walk.links_out > 0)
    walk.found.notes.push_back(std::to_string(walk.links_out) +
                               " links lead out of the folder and were not followed, for example " +
                               walk.a_link_out);
  return std::move(walk.found);
}

std::vector<size_t> largest_first(const std::vector<InputJob>& jobs) {
  std::vector<size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return jobs[a].size > jobs[b].size; });
  return order;
}

} // namespace gpuvet
