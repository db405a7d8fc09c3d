// What decides where the dynamic loader of a machine looks, read once: its default folders, the
// cache, LD_LIBRARY_PATH, preloads. One set-up serves programs of one processor and word size.
#pragma once

#include "base/version.hpp"
#include "formats/ld_cache.hpp"
#include "model/machine/loader.hpp"
#include "probe/source.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gpuvet {

struct Platform {
  uint8_t bits = 64;
  uint16_t machine = 62;   // e_machine of ELF
  std::string interpreter; // of the program; empty: the usual one
};

struct LoaderSetup {
  Platform platform;
  std::vector<std::string> default_folders;
  std::string lib;       // what $LIB stands for: "lib64", "lib/x86_64-linux-gnu"
  std::string processor; // what $PLATFORM stands for
  std::optional<Version> glibc;
  std::string library_path; // LD_LIBRARY_PATH
  std::vector<std::string> preload_environment, preload_file;
  Observed<LdCache> cache;
  // Where there is no cache: the folders that ldconfig would put into it. Used for images only; on
  // a running machine the loader does without.
  std::vector<LoaderState::Folder> conf_folders;
  bool search_conf_folders = false;
  std::vector<std::string> notes; // what could not be told
};

// Nothing in `platform`: the machine's own.
LoaderSetup loader_setup(const Source& source, const std::optional<Platform>& platform = {});

// Subfolders that the loader looks into before a folder itself, best first
// ("glibc-hwcaps/x86-64-v3", "tls/haswell"), by the processor's flags; unknown where there are none
// to read.
Observed<std::vector<std::string>> hwcaps_folders(const Source& source, const LoaderSetup& setup);

// Words of LD_PRELOAD or of /etc/ld.so.preload.
std::vector<std::string> preload_words(std::string_view text);

} // namespace gpuvet
