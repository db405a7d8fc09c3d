// The machine that gpuvet runs on.
#include "os/child.hpp"
#include "os/file_entry.hpp"
#include "os/file_tree.hpp"
#include "os/system_info.hpp"
#include "probe/source.hpp"
#include "probe/source/file_questions.hpp"
#include "probe/source/live_parts.hpp"

namespace gpuvet {
namespace {

// The older functions of os/ name absence as the C library does.
template <class T> Result<T> with_missing(Result<T> result) {
  if (!result && is_absence(result.error())) return fail(kMissing, result.error().where);
  return result;
}

SystemFacts live_system() {
  SystemInfo info = system_info();
  SystemFacts facts;
  facts.kernel_release = info.kernel_release.empty()
                             ? unknown<std::string>("the kernel did not tell")
                             : known(info.kernel_release, "uname -r");
  facts.architecture = info.architecture;
  facts.user = known(info.user, "geteuid");
  facts.groups = info.groups;
  facts.glibc = known(info.glibc, "gnu_get_libc_version");
  facts.now = known(info.now, "clock");
  facts.booted = known(info.booted, "clock since boot");
  facts.memlock_bytes = info.memlock_bytes;
  facts.open_files = info.open_files;
  return facts;
}

Result<Space> live_space(const std::string& path) {
  auto space = file_system_space(path);
  if (!space) return tl::unexpected(space.error());
  return Space{.total = space->total,
               .free = space->free,
               .read_only = space->read_only,
               .no_exec = space->no_exec};
}

// Opening something else than a node could wait, or start what it should only look at.
Observed<int> if_node(const std::string& path, int (*ask)(const std::string&),
                      const std::string& call) {
  auto entry = file_entry(path);
  if (!entry) return unknown<int>(entry.error().what);
  if (entry->kind != EntryType::character) return unknown<int>("this is not a device node");
  return known(ask(path), call + "(" + path + ")");
}

NvmlAnswers nvml_not_given() {
  NvmlAnswers answers;
  answers.asked.problem = "NVML was not asked";
  return answers;
}

CudaAnswers cuda_not_given() {
  CudaAnswers answers;
  answers.asked.problem = "the CUDA driver was not asked";
  return answers;
}

void answer_files(Source& source) {
  source.read_file = [](const std::string& path, size_t most) {
    return read_file_at(path, path, most);
  };
  source.list = [](const std::string& path) { return with_missing(list_folder(path)); };
  source.entry = [](const std::string& path) { return entry_at(path, path); };
  source.link_target = [](const std::string& path) { return link_target(path); };
  source.real_path = [](const std::string& path) { return with_missing(real_path(path)); };
  source.open_node = [](const std::string& path) {
    return if_node(path, try_to_open_node, "open");
  };
  source.access_node = [](const std::string& path) {
    return if_node(path, access_error, "access");
  };
  source.space = live_space;
  source.elf = [](const std::string& path) { return elf_at(path, path); };
  source.gpu_symbols = [](const std::string& path) { return gpu_symbols_at(path, path); };
  source.gpu_code = [](const std::string& path) { return gpu_code_at(path, path); };
  source.module_info = [](const std::string& path) { return module_info_at(path, path); };
  source.text_after = [](const std::string& path, const std::string& word) {
    return text_after_at(path, path, word);
  };
}

} // namespace

Result<CommandAnswer> live_run(const std::vector<std::string>& command, double deadline_s) {
  auto result = run_command(command, deadline_s);
  if (!result) return tl::unexpected(result.error());
  const ChildEnd& end = result->end;
  const bool exited = end.how == ChildEnd::How::exited;
  // As a shell tells of a program that a signal ended.
  return CommandAnswer{.status = exited ? end.status : 128 + end.status,
                       .timed_out = end.how == ChildEnd::How::killed,
                       .output = std::move(result->output),
                       .errors = std::move(result->errors)};
}

Source live_source(LibraryQuestions questions) {
  Source source;
  source.kind = Seen::live;
  answer_files(source);
  source.environment = process_environment;
  source.system = live_system;
  source.kernel_log = live_kernel_log;
  source.processes = [] { return gpu_processes("/proc"); };
  source.nvml = questions.nvml ? std::move(questions.nvml) : nvml_not_given;
  source.cuda = questions.cuda ? std::move(questions.cuda) : cuda_not_given;
  source.run = live_run;
  return source;
}

} // namespace gpuvet
