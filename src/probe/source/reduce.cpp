#include "base/text.hpp"
#include "probe/software/packages.hpp"
#include "probe/source/process_facts.hpp"
#include "probe/source/redact.hpp"

#include <algorithm>
#include <array>

namespace gpuvet {
namespace {

using Kind = RecordedFile::Kind;

bool has_any(std::string_view text, const std::vector<std::string_view>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return holds_word(text, word); });
}

// Calls `keep` for each line; those it refuses become empty.
template <class Keep> std::string only_lines(const std::string& text, const Keep& keep) {
  std::string kept;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    if (keep(line)) kept += line;
    if (end < text.size()) kept += '\n';
    at = end + 1;
  }
  return kept;
}

std::string without_empty_lines(const std::string& text) {
  std::string kept;
  for (char c : text)
    if (c != '\n' || (!kept.empty() && kept.back() != '\n')) kept += c;
  return kept;
}

void forget(RecordedFile& file) {
  file.kind = Kind::present;
  file.content.clear();
}

// Stanzas of packages that matter, with the fields that matter.
std::string package_stanzas(const std::string& status) {
  std::string kept, stanza;
  bool wanted = false;
  auto finish = [&] {
    if (wanted) kept += stanza + "\n";
    stanza.clear();
    wanted = false;
  };
  for (size_t at = 0; at < status.size();) {
    const size_t end = std::min(status.find('\n', at), status.size());
    const std::string line = status.substr(at, end - at);
    at = end + 1;
    if (line.empty()) {
      finish();
      continue;
    }
    const auto field = key_and_value(line, ':');
    if (!field || line.starts_with(' ')) continue;
    if (field->first == "Package")
      wanted = is_relevant_package(field->second) || field->second.starts_with("linux-");
    constexpr std::array<std::string_view, 5> fields = {"Package", "Status", "Version",
                                                        "Architecture", "Maintainer"};
    if (std::find(fields.begin(), fields.end(), field->first) != fields.end())
      stanza += line + "\n";
  }
  finish();
  return kept;
}

// Of a Python package's METADATA what probe_pythons reads: the description behind the headers is
// most of the file.
std::string metadata_headers(const std::string& text) {
  constexpr std::array<std::string_view, 4> headers = {
      "Metadata-Version:", "Name:", "Version:", "Requires-Dist:"};
  std::string_view head = std::string_view(text).substr(0, text.find("\n\n"));
  std::string kept;
  for (const std::string& line : split_at(head, '\n'))
    for (std::string_view header : headers)
      if (line.starts_with(header)) kept += line + "\n";
  return kept;
}

// Of the files of a package those that something may be asked about.
bool is_owned_file_of_interest(std::string_view line) {
  return !has_any(line, {"/include/", "/share/doc/", "/share/man/", "/doc/", "/samples/"});
}

bool names_relevant_package(std::string_view text) {
  const std::vector<std::string> words = words_of(text);
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    const std::string name = word.substr(0, word.find(':'));
    return is_relevant_package(name) || name.starts_with("linux-");
  });
}

// "Install: a:amd64 (1, automatic), b:amd64 (2)" with the relevant ones only.
std::string package_list(std::string_view line) {
  const size_t colon = line.find(": ");
  std::string kept;
  for (std::string_view rest = line.substr(colon + 2); !rest.empty();) {
    const size_t end = std::min(rest.find("), "), rest.size());
    const std::string_view entry = rest.substr(0, end + 1);
    if (names_relevant_package(entry)) kept += (kept.empty() ? "" : ", ") + std::string(entry);
    rest.remove_prefix(std::min(end + 3, rest.size()));
  }
  return std::string(line.substr(0, colon + 2)) + kept;
}

std::string reduced_history(const std::string& text) {
  std::string kept;
  for (const std::string& line : split_at(text, '\n')) {
    const bool is_list = has_any(line.substr(0, line.find(' ')),
                                 {"Install:", "Upgrade:", "Remove:", "Purge:", "Downgrade:"});
    kept += (is_list ? package_list(line) : line) + "\n";
  }
  kept.pop_back();
  return kept;
}

bool is_start_up_line(std::string_view line) {
  const std::string text = lower_ascii(line);
  return has_any(text, {"cuda", "cudnn", "nccl", "nvidia", "nvcc", "tensorrt", "/stubs",
                        "ld_library_path", "ld_preload", "dcgm", "path=", "conda"});
}

bool is_start_up_file(std::string_view path) {
  constexpr std::array<std::string_view, 10> places = {
      "/home/",    "/root/",          "/etc/profile",   "/etc/environment", "/etc/bash",
      "/etc/cron", "/var/spool/cron", "/etc/security/", "/etc/zsh",         "/etc/default/"};
  return std::any_of(places.begin(), places.end(),
                     [&](std::string_view place) { return path.starts_with(place); });
}

// Of home folders nothing but start-up files is read as text; Python's packages lie there too.
bool is_package_file(std::string_view path) {
  return has_any(path, {"-packages/", "/conda-meta/", "/lib/python", "pyvenv.cfg", ".dist-info/"});
}

bool is_secret_file(std::string_view path) {
  return has_any(path, {"/.ssh/", "/.aws/", "/.kube/", "/.docker/", "/.netrc", "/.gnupg/", "shadow",
                        "id_rsa", "/.config/gcloud", "/.azure/"}) ||
         path.ends_with(".pem") || path.ends_with(".key") || path.ends_with("/hosts") ||
         path.ends_with("/resolv.conf") || path == "/etc/passwd";
}

bool is_identity_file(std::string_view path) {
  return path.ends_with("_serial") || path.ends_with("/product_uuid") ||
         path.ends_with("_asset_tag") || path.ends_with("machine-id") ||
         path.ends_with("/node_guid") || path.ends_with("/sys_image_guid") ||
         path.ends_with("/serial_number") || holds_word(path, "/gids/");
}

// Where a line of a mount table matters: what is mounted over the system's own folders.
bool is_mount_line(std::string_view line) {
  const std::vector<std::string> words = words_of(line);
  if (words.size() < 5 || has_any(line, {"nfs", "cifs", "lustre", "gpfs", "beegfs", "ceph"}))
    return false;
  constexpr std::array<std::string_view, 8> places = {"/dev", "/sys", "/proc", "/usr",
                                                      "/lib", "/etc", "/run",  "/tmp"};
  return words[4] == "/" || std::any_of(places.begin(), places.end(), [&](std::string_view place) {
           return words[4].starts_with(place);
         });
}

// "/proc/4711/cmdline" -> "cmdline"; empty for what is not of a process.
std::string_view process_file(std::string_view path) {
  if (!path.starts_with("/proc/") || path.size() < 8) return {};
  const size_t slash = path.find('/', 6);
  if (slash == std::string_view::npos) return {};
  const std::string_view pid = path.substr(6, slash - 6);
  const bool number = pid.find_first_not_of("0123456789") == std::string_view::npos;
  return number || pid == "self" ? path.substr(slash + 1) : std::string_view();
}

// Arguments may hold anything; only calls of monitoring programs are of interest.
std::string reduced_command_line(const std::string& text) {
  if (has_any(text, {"nvidia-", "dcgm", "nv-hostengine", "gpustat", "nvtop"})) return text;
  return text.substr(0, text.find('\0'));
}

void reduce_process_file(std::string_view name, RecordedFile& file) {
  if (name == "cmdline") {
    file.content = reduced_command_line(file.content);
  } else if (name == "environ") {
    std::string kept;
    for (const auto& [variable, value] : gpu_variables(file.content))
      if (may_keep_variable(variable)) kept += variable + "=" + value + '\0';
    file.content = std::move(kept);
  } else if (name == "mountinfo") {
    file.content = only_lines(file.content, is_mount_line);
  }
}

void reduce_file(const std::string& path, RecordedFile& file) {
  if (is_secret_file(path)) return forget(file);
  if (is_identity_file(path)) {
    file.content = "redacted\n";
    file.kind = Kind::text;
    return;
  }
  if (const std::string_view name = process_file(path); !name.empty())
    return reduce_process_file(name, file);
  if (path == "/var/lib/dpkg/status") {
    file.content = package_stanzas(file.content);
  } else if (path.starts_with("/var/lib/dpkg/info/") && path.ends_with(".list")) {
    file.content = without_empty_lines(only_lines(file.content, is_owned_file_of_interest));
  } else if (path.ends_with(".dist-info/METADATA") || path.ends_with("/PKG-INFO")) {
    file.content = metadata_headers(file.content);
  } else if (path.starts_with("/var/log/dpkg.log")) {
    file.content = without_empty_lines(only_lines(file.content, names_relevant_package));
  } else if (path.starts_with("/var/log/apt/history")) {
    file.content = reduced_history(file.content);
  } else if (path == "/proc/cpuinfo") {
    file.content.resize(std::min(file.content.find("\n\n") + 1, file.content.size()));
  } else if (path == "/proc/meminfo") {
    file.content = without_empty_lines(only_lines(file.content, [](std::string_view line) {
      return line.starts_with("MemTotal") || line.starts_with("Cma");
    }));
  } else if (path == "/proc/sys/kernel/hostname" || path == "/etc/hostname") {
    file.content = "HOST1\n";
  } else if (path.ends_with("/config") && path.starts_with("/sys/")) {
    file.content.resize(std::min(file.content.size(), size_t{256})); // serial numbers lie behind
  } else if (is_start_up_file(path) && !is_package_file(path)) {
    file.content = only_lines(file.content, is_start_up_line);
  }
}

} // namespace

bool may_keep_variable(std::string_view name) {
  const std::string lower = lower_ascii(name);
  if (has_any(lower, {"token", "secret", "passw", "key", "credential", "auth"})) return false;
  constexpr std::array<std::string_view, 18> others = {"PATH",
                                                       "HOME",
                                                       "SHELL",
                                                       "container",
                                                       "CC",
                                                       "CXX",
                                                       "CUDACXX",
                                                       "CUDAARCHS",
                                                       "COMPUTE_PROFILE",
                                                       "OPENCL_PROFILE",
                                                       "DOCKER_HOST",
                                                       "WSL_INTEROP",
                                                       "WSL_DISTRO_NAME",
                                                       "SLURM_CONF",
                                                       "SLURMD_NODENAME",
                                                       "PYENV_VERSION",
                                                       "SUDO_UID",
                                                       "KUBERNETES_SERVICE_HOST"};
  if (std::find(others.begin(), others.end(), name) != others.end()) return true;
  if (name.starts_with("SLURM_"))
    return has_any(name,
                   {"GPU", "CPUS", "NTASKS", "PROCID", "LOCALID", "NNODES", "JOB_ID", "GRES"});
  if (name.starts_with("SINGULARITY_") || name.starts_with("APPTAINER_")) return true;
  return is_gpu_variable(name) ||
         has_any(name, {"CUDA", "NVIDIA", "PYTHON", "NVCC", "CMAKE_", "NV_", "ROCR_", "LD_"});
}

void reduce(Recording& recording) {
  for (auto& [path, file] : recording.files)
    if (file.kind == Kind::text || file.kind == Kind::binary) reduce_file(path, file);
  std::erase_if(recording.environment,
                [](const auto& variable) { return !may_keep_variable(variable.first); });
  if (!recording.processes || !*recording.processes) return;
  for (GpuProcess& process : *recording.processes->value)
    std::erase_if(process.environment,
                  [](const auto& variable) { return !may_keep_variable(variable.first); });
}

} // namespace gpuvet
