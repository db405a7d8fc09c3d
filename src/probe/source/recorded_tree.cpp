#include "probe/source/recorded_tree.hpp"

namespace gpuvet {
namespace {

std::string parent_of(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

} // namespace

RecordedTree::RecordedTree(std::shared_ptr<const Recording> recording)
    : recording_(std::move(recording)) {
  folders_["/"];
  for (const auto& [path, file] : recording_->files)
    if (file.kind != RecordedFile::Kind::missing) add_path(path);
  for (const std::string& path : recording_->folders)
    add_folder(path);
  for (const auto& [path, names] : recording_->listings) {
    add_folder(path);
    folders_[path].insert(names.begin(), names.end());
  }
}

// Enters the name in its folder, and that folder in its own, up to the root.
void RecordedTree::add_path(const std::string& path) {
  for (std::string at = path; at.size() > 1;) {
    std::string folder = parent_of(at);
    bool is_new = folders_.find(folder) == folders_.end();
    bool added = folders_[folder].insert(at.substr(at.rfind('/') + 1)).second;
    if (!is_new && !added) return;
    at = std::move(folder);
  }
}

void RecordedTree::add_folder(const std::string& path) {
  folders_[path];
  add_path(path);
}

Result<std::string> RecordedTree::resolve(const std::string& path, LastLink last) const {
  return resolve_links(path, last, [this](const std::string& at) -> std::optional<std::string> {
    const RecordedFile* there = file(at);
    if (!there || there->kind != RecordedFile::Kind::link) return std::nullopt;
    return there->content;
  });
}

const RecordedFile* RecordedTree::file(const std::string& resolved) const {
  auto at = recording_->files.find(resolved);
  return at == recording_->files.end() ? nullptr : &at->second;
}

bool RecordedTree::is_folder(const std::string& resolved) const {
  return folders_.find(resolved) != folders_.end();
}

const std::set<std::string>* RecordedTree::names_in(const std::string& resolved) const {
  auto at = folders_.find(resolved);
  return at == folders_.end() ? nullptr : &at->second;
}

Error RecordedTree::nothing_at(const std::string& resolved, const std::string& shown) const {
  if (!recording_->partial) return {kMissing, shown};
  for (std::string at = resolved;; at = parent_of(at)) {
    const RecordedFile* there = file(at);
    if (there && there->kind == RecordedFile::Kind::hidden) return {there->content, shown};
    if (there && there->kind != RecordedFile::Kind::link) return {kMissing, shown};
    // A listing names everything in its folder.
    auto listed = recording_->listings.find(parent_of(at));
    if (at != "/" && listed != recording_->listings.end() &&
        !folders_.at(parent_of(at)).count(at.substr(at.rfind('/') + 1)))
      return {kMissing, shown};
    if (at == "/") break;
  }
  return {"not known: it was not asked when the recording was made", shown};
}

} // namespace gpuvet
