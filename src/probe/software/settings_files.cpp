// Lines of shell start-up files that set something about CUDA, and which of the folders that they
// name are gone.
#include "os/file_tree.hpp"
#include "probe/software/text.hpp"
#include "probe/software/toolkits.hpp"

namespace gpuvet {
namespace {

constexpr size_t kMostLines = 200; // in all; more would be a generated file

bool concerns_cuda(std::string_view line) {
  std::string text = lower_ascii(line);
  for (const char* word : {"cuda", "cudnn", "nccl", "nvidia", "nvcc", "tensorrt", "/stubs"})
    if (holds_word(text, word)) return true;
  return false;
}

// A folder that is looked for before it is used may be absent.
bool is_guarded(std::string_view line) {
  return line.starts_with("if ") || line.starts_with("[") || line.starts_with("test ") ||
         holds_word(line, " -d ") || holds_word(line, " -e ") || holds_word(line, " -f ");
}

std::string with_home(std::string_view word, const std::string& home) {
  if (home.empty()) return std::string(word);
  for (std::string_view name : {"${HOME}", "$HOME", "~"})
    if (word.starts_with(name) && (word.size() == name.size() || word[name.size()] == '/'))
      return home + std::string(word.substr(name.size()));
  return std::string(word);
}

// "${CUDA_HOME}/bin" holds a variable of which only the shell knows the value, so it is left out.
std::vector<std::string> missing_folders(const Source& source, std::string_view line,
                                         const std::string& home) {
  std::vector<std::string> missing;
  if (is_guarded(line)) return missing;
  for (std::string_view word : parts_of(line.substr(0, line.find(" #")), " \t:=\"';()`&|<>,")) {
    std::string path = with_home(word, home);
    while (path.size() > 1 && path.ends_with('/'))
      path.pop_back();
    bool plain = path.starts_with('/') && path.find_first_of("$*?{}\\") == std::string::npos;
    if (plain && path.size() > 1 && concerns_cuda(path) && !exists(source, path))
      missing.push_back(std::move(path));
  }
  return missing;
}

void read_file(const Source& source, const std::string& file, const std::string& home,
               std::vector<SettingLine>& found) {
  uint32_t number = 0;
  for (const std::string& raw : lines(source, file)) {
    ++number;
    std::string_view line = trimmed(raw);
    if (line.empty() || line.front() == '#' || !concerns_cuda(line)) continue;
    if (found.size() == kMostLines) return;
    found.push_back({.file = file,
                     .line = number,
                     .text = std::string(line),
                     .missing_folders = missing_folders(source, line, home)});
  }
}

} // namespace

std::vector<SettingLine> read_settings_files(const Source& source, const Environment& environment) {
  std::vector<std::string> files = {"/etc/environment", "/etc/profile", "/etc/bash.bashrc",
                                    "/etc/bashrc"};
  for (const std::string& file : matching(source, "/etc/profile.d", "*.sh"))
    files.push_back(file);
  std::string home = variable(environment, "HOME");
  if (home == "/") home.clear();
  if (!home.empty())
    for (const char* name : {".profile", ".bash_profile", ".bash_login", ".bashrc", ".zshenv",
                             ".zprofile", ".zshrc", ".config/fish/config.fish"})
      files.push_back(join_path(home, name));
  std::vector<SettingLine> found;
  for (const std::string& file : files)
    read_file(source, file, home, found);
  return found;
}

} // namespace gpuvet
