// The file system of a recording: what lies where, with folders inferred from the paths below them.
#pragma once

#include "model/recording.hpp"
#include "probe/source.hpp"
#include "probe/source/paths.hpp"

#include <map>
#include <memory>
#include <set>
#include <string>

namespace gpuvet {

class RecordedTree {
 public:
  explicit RecordedTree(std::shared_ptr<const Recording> recording);

  const Recording& recording() const { return *recording_; }

  Result<std::string> resolve(const std::string& path, LastLink last) const;

  // Of a path without links; nullptr: the recording has no entry for it.
  const RecordedFile* file(const std::string& resolved) const;
  bool is_folder(const std::string& resolved) const;
  const std::set<std::string>* names_in(const std::string& resolved) const;

  // Why there is no answer about this path: it is absent, or nobody asked.
  Error nothing_at(const std::string& resolved, const std::string& shown) const;

 private:
  void add_path(const std::string& path);
  void add_folder(const std::string& path);

  std::shared_ptr<const Recording> recording_;
  std::map<std::string, std::set<std::string>> folders_; // names in each
};

} // namespace gpuvet
