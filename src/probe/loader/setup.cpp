#include "probe/loader/setup.hpp"

#include "probe/loader/ld_conf.hpp"

#include <algorithm>
#include <array>

namespace gpuvet {
namespace {

constexpr const char* kCache = "/etc/ld.so.cache";
constexpr size_t kLargestCache = size_t{64} << 20;

struct KnownPlatform {
  uint8_t bits = 64;
  uint16_t machine = 0;
  const char* interpreter = nullptr;
  const char* processor = nullptr; // as uname -m and $PLATFORM have it
};
constexpr std::array<KnownPlatform, 4> kPlatforms = {{
    {64, 62, "/lib64/ld-linux-x86-64.so.2", "x86_64"},
    {64, 183, "/lib/ld-linux-aarch64.so.1", "aarch64"},
    {64, 21, "/lib64/ld64.so.2", "ppc64le"},
    {32, 3, "/lib/ld-linux.so.2", "i686"},
}};

const KnownPlatform* known_platform(const Platform& platform) {
  for (const KnownPlatform& known : kPlatforms)
    if (known.bits == platform.bits && known.machine == platform.machine) return &known;
  return nullptr;
}

// A recording or a running machine says what it is; a folder shows it by the loader that is there.
Platform own_platform(const Source& source) {
  std::string architecture = source.system().architecture;
  for (const KnownPlatform& known : kPlatforms)
    if (architecture == known.processor) return {known.bits, known.machine, {}};
  for (const KnownPlatform& known : kPlatforms)
    if (exists(source, known.interpreter)) return {known.bits, known.machine, {}};
  return {};
}

// The folders are compiled into the loader; each distribution keeps it in the first of them.
// Source: bminor/glibc elf/gen-trusted-dirs.awk and the configurations of Debian, Fedora, Arch.
void set_default_folders(const Source& source, LoaderSetup& setup) {
  auto real = source.real_path(setup.platform.interpreter);
  std::string folder = real ? real->substr(0, real->rfind('/')) : "";
  std::string name = folder.substr(folder.rfind('/') + 1);
  if (folder.starts_with("/nix/") || folder.starts_with("/gnu/")) {
    setup.default_folders = {folder};
    setup.lib = "lib";
  } else if (name.find("-linux-") != std::string::npos) {
    setup.default_folders = {"/lib/" + name, "/usr/lib/" + name, "/lib", "/usr/lib"};
    setup.lib = "lib/" + name;
  } else if (name == "lib64" || name == "lib32" || name == "libx32") {
    setup.default_folders = {"/" + name, "/usr/" + name};
    setup.lib = name;
  } else if (name == "lib") {
    setup.default_folders = {"/lib", "/usr/lib"};
    setup.lib = "lib";
  } else {
    bool has_lib64 = setup.platform.bits == 64;
    setup.lib = has_lib64 ? "lib64" : "lib";
    setup.default_folders = {"/" + setup.lib, "/usr/" + setup.lib};
    setup.notes.push_back(setup.platform.interpreter +
                          " is not there: " + setup.default_folders[0] + " and " +
                          setup.default_folders[1] + " are taken for the loader's default folders");
  }
}

std::optional<Version> glibc_version(const Source& source, const LoaderSetup& setup) {
  if (auto told = source.system().glibc) return parse_version(*told);
  for (const std::string& folder : setup.default_folders) {
    if (!exists(source, folder + "/libc.so.6")) continue;
    auto text = source.text_after(folder + "/libc.so.6", "stable release version ");
    if (text) return parse_version(*text);
  }
  return std::nullopt;
}

Observed<LdCache> read_cache(const Source& source, const LoaderSetup& setup) {
  // Nix and Guix build their loader with a cache of its own, which they do not make.
  if (setup.default_folders.front().starts_with("/nix/") ||
      setup.default_folders.front().starts_with("/gnu/"))
    return unknown<LdCache>("the loader of Nix and Guix has no cache");
  auto text = source.read_file(kCache, kLargestCache);
  if (!text) return unknown<LdCache>(text.error().what);
  auto cache = parse_ld_cache(Bytes(*text));
  if (!cache) return unknown<LdCache>("it is damaged: " + cache.error().what);
  return known(std::move(*cache), kCache);
}

void add_environment(const Source& source, LoaderSetup& setup) {
  auto environment = source.environment();
  setup.library_path = environment["LD_LIBRARY_PATH"];
  setup.preload_environment = preload_words(environment["LD_PRELOAD"]);
  for (const char* name : {"LD_AUDIT", "LD_HWCAP_MASK"})
    if (!environment[name].empty())
      setup.notes.push_back(std::string(name) + " is set; what it changes is not followed");
  std::string preload;
  for (const std::string& line : lines(source, "/etc/ld.so.preload"))
    preload += line.substr(0, line.find('#')) + " ";
  setup.preload_file = preload_words(preload);
}

// The words of one "name : value ..." line of /proc/cpuinfo, the first of its kind.
std::string cpuinfo_line(std::string_view text, std::string_view name) {
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    size_t colon = line.find(':');
    if (line.starts_with(name) && colon != std::string_view::npos &&
        line.find_first_not_of("\t ", name.size()) == colon)
      return " " + std::string(line.substr(colon + 1)) + " ";
  }
  return {};
}

bool has_all(const std::string& flags, std::initializer_list<const char*> wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const char* flag) {
    return flags.find(" " + std::string(flag) + " ") != std::string::npos;
  });
}

// Levels of the x86-64 psABI by the names that the kernel has for the flags.
int x86_level(const std::string& flags) {
  if (!has_all(flags, {"cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"})) return 1;
  if (!has_all(flags, {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"})) return 2;
  if (!has_all(flags, {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})) return 3;
  return 4;
}

// Before glibc 2.37: every subset of these folders, in this order.
std::vector<std::string> old_folders(const std::string& cpuinfo, const std::string& flags) {
  bool intel = cpuinfo_line(cpuinfo, "vendor_id").find("GenuineIntel") != std::string::npos;
  std::vector<std::string> parts = {"tls"};
  bool xeon_phi = intel && has_all(flags, {"avx512er", "avx512pf"});
  parts.emplace_back(xeon_phi ? "xeon_phi" : intel && x86_level(flags) >= 3 ? "haswell" : "x86_64");
  if (intel && !xeon_phi && x86_level(flags) >= 4) parts.emplace_back("avx512_1");
  parts.emplace_back("x86_64");
  std::vector<std::string> folders;
  for (unsigned subset = (1U << parts.size()) - 1; subset > 0; --subset) {
    std::string folder;
    for (size_t i = 0; i < parts.size(); ++i)
      if (subset >> (parts.size() - 1 - i) & 1U) folder += (folder.empty() ? "" : "/") + parts[i];
    folders.push_back(std::move(folder));
  }
  return folders;
}

} // namespace

std::vector<std::string> preload_words(std::string_view text) {
  std::vector<std::string> list;
  constexpr std::string_view separators = " \t\n:";
  for (size_t at = 0; (at = text.find_first_not_of(separators, at)) != std::string_view::npos;) {
    size_t end = std::min(text.find_first_of(separators, at), text.size());
    list.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return list;
}

LoaderSetup loader_setup(const Source& source, const std::optional<Platform>& platform) {
  LoaderSetup setup;
  setup.platform = platform ? *platform : own_platform(source);
  const KnownPlatform* known = known_platform(setup.platform);
  if (setup.platform.interpreter.find("ld-musl") != std::string::npos)
    setup.notes.emplace_back("the program asks for musl's loader, which has other rules than those "
                             "of glibc that are followed here");
  if (setup.platform.interpreter.empty() && known != nullptr)
    setup.platform.interpreter = known->interpreter;
  if (known != nullptr) setup.processor = known->processor;
  set_default_folders(source, setup);
  setup.glibc = glibc_version(source, setup);
  setup.cache = read_cache(source, setup);
  setup.conf_folders = read_ld_conf(source, setup.notes);
  add_environment(source, setup);
  if (!setup.cache) {
    setup.search_conf_folders = source.kind == Seen::image_folder;
    setup.notes.push_back(std::string(kCache) + ": " + setup.cache.why_unknown +
                          (setup.search_conf_folders
                               ? "; the folders of /etc/ld.so.conf are searched instead, as after "
                                 "ldconfig"
                               : "; the folders of /etc/ld.so.conf do not count until ldconfig "
                                 "makes it"));
  }
  return setup;
}

Observed<std::vector<std::string>> hwcaps_folders(const Source& source, const LoaderSetup& setup) {
  using Folders = std::vector<std::string>;
  const Version named{{2, 33}}, no_old_ones{{2, 37}}; // glibc that brought and dropped them
  if (setup.platform.machine != 62) return known(Folders{}, "no such folders on this processor");
  auto cpuinfo = source.read_file("/proc/cpuinfo", size_t{8} << 20);
  if (!cpuinfo) return unknown<Folders>("/proc/cpuinfo: " + cpuinfo.error().what);
  std::string flags = cpuinfo_line(*cpuinfo, "flags");
  if (flags.empty()) return unknown<Folders>("/proc/cpuinfo tells no flags");
  Folders folders;
  if (!setup.glibc || *setup.glibc >= named)
    for (int level = x86_level(flags); level >= 2; --level)
      folders.push_back("glibc-hwcaps/x86-64-v" + std::to_string(level));
  if (setup.glibc && *setup.glibc < no_old_ones)
    for (std::string& folder : old_folders(*cpuinfo, flags))
      folders.push_back(std::move(folder));
  return known(std::move(folders), "/proc/cpuinfo");
}

} // namespace gpuvet
