// /etc/ld.so.cache, where ldconfig keeps which file each library name stands for. Three layouts:
// the one of glibc 2.1 and older, that one with the newer one behind it, and the newer one alone
// (default since glibc 2.32). Source: bminor/glibc sysdeps/generic/dl-cache.h and elf/dl-cache.c.
#pragma once

#include "base/bytes.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

struct LdCacheEntry {
  std::string soname, path;
  uint32_t flags = 0; // what kind of library: 0x0303 x86-64, 0x0a03 AArch64, 0x0003 i386
  uint64_t hwcap = 0; // of folders for certain processors, before glibc 2.37
  std::string hwcaps; // "x86-64-v3": found in glibc-hwcaps/x86-64-v3; empty: for any processor
};

struct LdCache {
  std::vector<LdCacheEntry> entries; // in the file's order: sorted by name, best first
  std::string generator;             // "ldconfig (GNU libc) stable release version 2.36"
  bool old_format = false;           // nothing but the layout of glibc 2.1
};

Result<LdCache> parse_ld_cache(Bytes file);

// Value of LdCacheEntry::flags that the loader of a platform takes; 0: not known. `machine` is
// ELF's e_machine.
uint32_t cache_flags(uint8_t bits, uint16_t machine);

// Do two library names compare equal to the loader? Digits count as numbers: "libx.so.01" is
// "libx.so.1".
bool same_cache_name(std::string_view a, std::string_view b);

// Entries for `soname` that a loader would take, the one it takes first. `hwcaps` are the names
// that this processor can use, best first.
std::vector<const LdCacheEntry*> find_in_cache(const LdCache& cache, std::string_view soname,
                                               uint32_t flags,
                                               const std::vector<std::string>& hwcaps);

} // namespace gpuvet
