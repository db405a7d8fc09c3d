// A folder of files that is the root of some system: an unpacked image, a mounted disk. Paths and
// links are taken inside it, as chroot would.
#include "os/file_entry.hpp"
#include "os/file_tree.hpp"
#include "probe/source.hpp"
#include "probe/source/file_questions.hpp"
#include "probe/source/paths.hpp"

namespace gpuvet {
namespace {

const std::string kNotRunning = "not known: this is a folder of files, not a running machine";

class Tree {
 public:
  explicit Tree(std::string root) : root_(std::move(root)) {
    while (root_.size() > 1 && root_.ends_with('/'))
      root_.pop_back();
  }

  // Where an inner path without links lies on this system.
  std::string outer(const std::string& inner) const {
    return root_ == "/" ? inner : root_ + (inner == "/" ? "" : inner);
  }

  Result<std::string> inner(const std::string& path, LastLink last) const {
    return resolve_links(path, last, [this](const std::string& at) -> std::optional<std::string> {
      auto target = link_target(outer(at));
      return target ? std::optional(*target) : std::nullopt;
    });
  }

  // `ask` gets the real path.
  template <class Ask> auto at(const std::string& path, LastLink last, const Ask& ask) const
      -> decltype(ask(std::string())) {
    auto resolved = inner(path, last);
    if (!resolved) return tl::unexpected(resolved.error());
    return ask(outer(*resolved));
  }

 private:
  std::string root_;
};

Result<std::vector<std::string>> list_at(const std::string& real, const std::string& shown) {
  auto names = list_folder(real);
  if (names) return names;
  return fail(is_absence(names.error()) ? kMissing : names.error().what, shown);
}

void answer_files(Source& source, const Tree& tree) {
  source.read_file = [tree](const std::string& path, size_t most) {
    return tree.at(path, LastLink::follow,
                   [&](const std::string& real) { return read_file_at(real, path, most); });
  };
  source.list = [tree](const std::string& path) {
    return tree.at(path, LastLink::follow,
                   [&](const std::string& real) { return list_at(real, path); });
  };
  source.entry = [tree](const std::string& path) {
    return tree.at(path, LastLink::keep,
                   [&](const std::string& real) { return entry_at(real, path); });
  };
  source.link_target = [tree](const std::string& path) {
    return tree.at(path, LastLink::keep, [&](const std::string& real) -> Result<std::string> {
      auto target = link_target(real);
      if (!target) return fail(target.error().what, path);
      return target;
    });
  };
  source.real_path = [tree](const std::string& path) -> Result<std::string> {
    auto resolved = tree.inner(path, LastLink::follow);
    if (!resolved) return resolved;
    if (auto entry = entry_at(tree.outer(*resolved), path); !entry)
      return tl::unexpected(entry.error());
    return resolved;
  };
}

void answer_contents(Source& source, const Tree& tree) {
  source.elf = [tree](const std::string& path) {
    return tree.at(path, LastLink::follow,
                   [&](const std::string& real) { return elf_at(real, path); });
  };
  source.gpu_symbols = [tree](const std::string& path) {
    return tree.at(path, LastLink::follow,
                   [&](const std::string& real) { return gpu_symbols_at(real, path); });
  };
  source.gpu_code = [tree](const std::string& path) {
    return tree.at(path, LastLink::follow,
                   [&](const std::string& real) { return gpu_code_at(real, path); });
  };
  source.module_info = [tree](const std::string& path) {
    return tree.at(path, LastLink::follow,
                   [&](const std::string& real) { return module_info_at(real, path); });
  };
  source.text_after = [tree](const std::string& path, const std::string& word) {
    return tree.at(path, LastLink::follow,
                   [&](const std::string& real) { return text_after_at(real, path, word); });
  };
}

SystemFacts image_system() {
  SystemFacts facts;
  facts.kernel_release = unknown<std::string>(kNotRunning);
  facts.user = unknown<uint64_t>(kNotRunning);
  facts.glibc = unknown<std::string>(kNotRunning);
  facts.now = unknown<int64_t>(kNotRunning);
  facts.booted = unknown<int64_t>(kNotRunning);
  return facts;
}

template <class Answers> Answers not_asked() {
  Answers answers;
  answers.asked.problem = kNotRunning;
  return answers;
}

} // namespace

Source image_source(const std::string& root) {
  Source source;
  source.kind = Seen::image_folder;
  const Tree tree(root);
  answer_files(source, tree);
  answer_contents(source, tree);
  source.open_node = [](const std::string&) { return unknown<int>(kNotRunning); };
  source.access_node = [](const std::string&) { return unknown<int>(kNotRunning); };
  source.space = [](const std::string& path) -> Result<Space> { return fail(kNotRunning, path); };
  source.environment = [] { return std::map<std::string, std::string>(); };
  source.system = image_system;
  source.kernel_log = [] {
    KernelLog log;
    log.lines = unknown<std::vector<LogLine>>(kNotRunning);
    return log;
  };
  source.processes = [] { return unknown<std::vector<GpuProcess>>(kNotRunning); };
  source.nvml = not_asked<NvmlAnswers>;
  source.cuda = not_asked<CudaAnswers>;
  source.run = [](const std::vector<std::string>& command, double) -> Result<CommandAnswer> {
    return fail(kNotRunning, command.empty() ? "" : command.front());
  };
  return source;
}

} // namespace gpuvet
