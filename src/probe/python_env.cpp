#include "probe/python_env.hpp"

#include "base/text.hpp"
#include "os/file_tree.hpp"
#include "probe/inputs.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <set>

namespace gpuvet {
namespace {

constexpr size_t kLargestSetting = size_t{1} << 20;
constexpr size_t kLargestScript = size_t{64} << 10;

bool is_file(const Source& source, const std::string& path) {
  auto real = source.real_path(path);
  if (!real) return false;
  auto entry = source.entry(*real);
  return entry && entry->kind == EntryKind::regular;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string& line : split_at(text, '\n'))
    lines.emplace_back(trimmed(line));
  return lines;
}

// "python3.12", "python3.13t": a folder of the standard library, or a versioned interpreter.
bool is_versioned(std::string_view name) {
  if (!name.starts_with("python")) return false;
  name.remove_prefix(6);
  size_t dot = name.find('.');
  if (dot == 0 || dot == std::string_view::npos || dot + 1 == name.size()) return false;
  if (name.ends_with('t')) name.remove_suffix(1);
  return std::all_of(name.begin(), name.end(), [](char c) {
    return c == '.' || std::isdigit(static_cast<unsigned char>(c));
  });
}

struct Finder {
  const Source& source;
  PythonEnvironment found;
  std::set<std::string> seen;         // real paths
  std::set<std::string> interpreters; // "python3.12", as found under lib/
  uint64_t code_lines = 0;            // .pth lines that Python would run

  explicit Finder(const Source& given) : source(given) {}

  bool add(const std::string& folder);
  void add_prefix(const std::string& prefix, const std::string& interpreter);
  void add_pth(const std::string& folder);
};

bool Finder::add(const std::string& folder) {
  if (!is_folder(source, folder)) return false;
  auto real = source.real_path(folder);
  if (!real || !seen.insert(*real).second) return false;
  found.folders.push_back(folder);
  add_pth(folder);
  return true;
}

// A .pth file names more folders, one a line, relative to its own. Lines that begin with "import"
// are code.
void Finder::add_pth(const std::string& folder) {
  auto names = source.list(folder);
  if (!names) return;
  for (const std::string& name : *names) {
    if (!name.ends_with(".pth")) continue;
    auto text = source.read_file(join_path(folder, name), kLargestSetting);
    if (!text) continue;
    for (const std::string& line : lines_of(*text)) {
      if (line.empty() || line.front() == '#') continue;
      if (line.starts_with("import ") || line.starts_with("import\t")) {
        if (name.starts_with("__editable__")) ++code_lines;
        continue;
      }
      std::string target = join_path(folder, line);
      auto real = is_folder(source, target) ? source.real_path(target)
                                            : Result<std::string>(fail("no folder"));
      // Python does not look for .pth files there, so neither do we.
      if (real && seen.insert(*real).second) found.folders.push_back(target);
    }
  }
}

// `interpreter` chooses among several versions; empty takes all.
void Finder::add_prefix(const std::string& prefix, const std::string& interpreter) {
  for (const char* lib : {"/lib", "/lib64", "/local/lib"}) {
    auto names = source.list(prefix + lib);
    if (!names) continue;
    bool known = std::find(names->begin(), names->end(), interpreter) != names->end();
    for (const std::string& name : *names) {
      if (!is_versioned(name) || (known && name != interpreter)) continue;
      interpreters.insert(name);
      add(join_path(prefix + lib, name) + "/site-packages");
      add(join_path(prefix + lib, name) + "/dist-packages"); // Debian
    }
  }
  add(prefix + "/lib/python3/dist-packages"); // Debian, all versions
  // conda puts shared libraries, CUDA's and PyTorch's among them, beside Python, not inside.
  if (is_folder(source, prefix + "/conda-meta") && add(prefix + "/lib"))
    found.kind = "conda environment";
}

Result<std::string> locate(const Source& source, const std::string& executable,
                           const PythonSearch& search) {
  if (executable.find('/') != std::string::npos) return executable;
  std::string_view path = search.path;
  while (!path.empty()) {
    std::string_view folder = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(folder.size() + 1, path.size()));
    std::string candidate = join_path(folder.empty() ? "." : std::string(folder), executable);
    if (is_file(source, candidate)) return candidate;
  }
  return fail("there is no such program in PATH", executable);
}

std::map<std::string, std::string> read_settings(const Source& source, const std::string& path) {
  std::map<std::string, std::string> settings;
  auto text = source.read_file(path, kLargestSetting);
  if (!text) return settings;
  for (const std::string& line : lines_of(*text))
    if (auto pair = key_and_value(line, '=')) settings[pair->first] = pair->second;
  return settings;
}

// The versioned name of the interpreter behind any links; empty where the file has none.
std::string interpreter_name(const std::string& real_executable) {
  std::string name = base_name(real_executable);
  return is_versioned(name) ? name : "";
}

bool is_script(const Source& source, const std::string& path) {
  auto text = source.read_file(path, kLargestScript); // an interpreter is larger
  return text && text->starts_with("#!");
}

// The venv around the folder of the interpreter, and what it inherits. Packages of the user come
// before those of the installation, as Python's site module has it.
void add_folders(Finder& finder, const std::string& folder, const std::string& interpreter,
                 const std::string& home) {
  std::string base = finder.found.prefix;
  bool inherits = true;
  for (const std::string& prefix : {folder, parent_folder(folder)}) {
    if (!is_file(finder.source, prefix + "/pyvenv.cfg")) continue;
    auto settings = read_settings(finder.source, prefix + "/pyvenv.cfg");
    std::string answer = lower_ascii(settings["include-system-site-packages"]);
    inherits = answer == "true";
    finder.found.kind = "virtual environment";
    finder.found.prefix = prefix;
    finder.add_prefix(prefix, interpreter);
    base = settings["home"].empty() ? std::string() : parent_folder(settings["home"]);
    break;
  }
  if (!inherits) return;
  // The versions under lib/ have to be known before the user's folders can be named.
  Finder rest(finder.source);
  rest.seen = finder.seen;
  if (!base.empty()) rest.add_prefix(base, interpreter);
  finder.interpreters.insert(rest.interpreters.begin(), rest.interpreters.end());
  if (!home.empty())
    for (const std::string& name : std::set<std::string>(finder.interpreters))
      finder.add(home + "/.local/lib/" + name + "/site-packages");
  for (const std::string& path : rest.found.folders)
    if (auto real = finder.source.real_path(path); real && finder.seen.insert(*real).second)
      finder.found.folders.push_back(path);
  finder.code_lines += rest.code_lines;
  if (rest.found.kind == "conda environment" && finder.found.kind == "installation")
    finder.found.kind = rest.found.kind;
}

std::string version_of(const std::set<std::string>& interpreters, const std::string& name) {
  std::string version = name;
  if (version.empty() && interpreters.size() == 1) version = *interpreters.begin();
  return version.empty() ? version : version.substr(std::string_view("python").size());
}

} // namespace

Result<PythonEnvironment> find_python(const Source& source, const std::string& executable,
                                      const PythonSearch& search) {
  auto located = locate(source, executable, search);
  if (!located) return tl::unexpected(located.error());
  auto real = source.real_path(*located);
  if (!real) return tl::unexpected(real.error());
  if (!is_file(source, *real)) return fail("this is not a program", *located);
  if (is_script(source, *real))
    return fail("this is a script that starts an interpreter (pyenv and others do so); name the "
                "interpreter itself: " +
                    base_name(*located) + " -c 'import sys; print(sys.executable)'",
                *located);
  auto folder = source.real_path(parent_folder(*located));
  if (!folder) return tl::unexpected(folder.error());

  Finder finder(source);
  finder.found.kind = "installation";
  finder.found.executable = *located;
  finder.found.real_executable = *real;
  finder.found.prefix = parent_folder(parent_folder(*real));
  std::string interpreter = interpreter_name(*real);
  add_folders(finder, *folder, interpreter, search.home);
  finder.found.version = version_of(finder.interpreters, interpreter);
  if (finder.found.folders.empty())
    return fail("no folder with Python packages was found for this interpreter",
                finder.found.prefix);
  if (finder.code_lines > 0)
    finder.found.notes.push_back(std::to_string(finder.code_lines) +
                                 " editable installations name their folder by code, which is not "
                                 "run; name those folders yourself");
  return std::move(finder.found);
}

Inputs find_python_inputs(const std::string& executable) {
  auto text = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  auto python =
      find_python(live_source({}), executable, {.path = text("PATH"), .home = text("HOME")});
  if (!python) {
    Inputs none;
    none.errors.push_back(python.error());
    return none;
  }
  Inputs found = find_inputs(python->folders);
  found.notes.insert(found.notes.begin(), python->notes.begin(), python->notes.end());
  return found;
}

} // namespace gpuvet
