// From a library's name to a file, as ld.so searches: run paths, LD_LIBRARY_PATH, cache, default
// folders, and why each place did not serve. Source: bminor/glibc elf/dl-load.c.
#pragma once

#include "probe/loader/setup.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace gpuvet {

// What of a loaded object bears on the search for what it needs.
struct RunPaths {
  std::string path;                        // as opened, for the reason's text
  std::string origin;                      // what $ORIGIN stands for
  std::vector<std::string> rpath, runpath; // as written
  bool has_runpath = false;
  bool nodeflib = false;
};

// The object that asks, what loaded that, and so on; the program is last. Empty: a program without
// run paths asks.
using AskedBy = std::vector<const RunPaths*>;

// One machine's files as the loader sees them; keeps what it has looked at.
class LibrarySearch {
 public:
  LibrarySearch(const Source& source, const LoaderSetup& setup) : source_(source), setup_(setup) {}

  // `name` without a slash: searched for; with one: that file. LoadEdge::tried holds every place
  // that was looked at and, behind the file taken, others of that name that would serve.
  LoadEdge find(const std::string& name, const AskedBy& asked_by);

  const LoaderSetup& setup() const { return setup_; }
  const Source& source() const { return source_; }

  // What is known of a file that a search has found.
  struct File {
    std::string real_path;
    uint64_t device = 0, inode = 0;
    Observed<ElfFacts> elf;
    std::string why_not;   // it does not serve; empty: it does
    bool missing = false;  // there is nothing
    bool ends_all = false; // the loader gives up: the file is no library at all
  };
  const File& look_at(const std::string& path);
  bool has_folder(const std::string& path) { return folder_at(path).exists; }

  const std::set<std::string>& notes() const { return notes_; }

 private:
  struct Folder {
    bool exists = true;
    std::vector<std::string> subfolders; // for this processor, best first
  };
  struct Place {
    FoundBy rule = FoundBy::not_found;
    std::string path;
    std::string by;
    bool no_folder = false;
    std::string never; // why the loader never comes here, though the file would serve
  };

  std::vector<Place> places_for(const std::string& name, const AskedBy& asked_by);
  const Folder& folder_at(const std::string& path);
  const std::vector<std::string>& hwcaps();
  void add_places(const std::string& folder, const std::string& name, FoundBy rule,
                  const std::string& by, std::vector<Place>& places);
  void add_run_path(const std::string& name, FoundBy rule, const RunPaths& object,
                    std::vector<Place>& places);
  void add_rpaths(const std::string& name, const AskedBy& asked_by, std::vector<Place>& places);
  void add_library_path(const std::string& name, const AskedBy& asked_by,
                        std::vector<Place>& places);
  void add_cache(const std::string& name, bool nodeflib, std::vector<Place>& places);

  const Source& source_;
  const LoaderSetup& setup_;
  std::map<std::string, File> files_;
  std::map<std::string, Folder> folders_;
  std::optional<std::vector<std::string>> hwcaps_;
  std::set<std::string> notes_;
};

// $ORIGIN, $LIB and $PLATFORM replaced; empty when one of them has no value here.
std::string expand_tokens(const std::string& text, const std::string& origin,
                          const LoaderSetup& setup);

// "/x/y" of "/x/y/z"; what $ORIGIN stands for in a file opened by that path.
std::string folder_of_path(const std::string& path);

} // namespace gpuvet
