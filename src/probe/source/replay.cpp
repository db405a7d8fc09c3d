// A recorded machine answers.
#include "probe/source.hpp"
#include "probe/source/recorded_tree.hpp"

#include <functional>

namespace gpuvet {
namespace {

using Kind = RecordedFile::Kind;
using Tree = std::shared_ptr<const RecordedTree>;

const std::string kNotRecorded = "not known: the recording does not tell";

// Distinct and stable, so that two names of one file are seen to be one.
uint64_t inode_of(const std::string& resolved) {
  return std::hash<std::string>{}(resolved) | 1U;
}

EntryKind entry_kind(Kind kind) {
  switch (kind) {
  case Kind::link:
    return EntryKind::link;
  case Kind::node:
    return EntryKind::character;
  case Kind::text:
  case Kind::binary:
  case Kind::unreadable:
  case Kind::hidden:
  case Kind::missing:
  case Kind::present:
    break;
  }
  return EntryKind::regular;
}

// The entry that answers for a path without links, or why there is none.
Result<const RecordedFile*> find(const RecordedTree& tree, const std::string& resolved,
                                 const std::string& shown) {
  const RecordedFile* file = tree.file(resolved);
  if (file && file->kind == Kind::missing) return fail(kMissing, shown);
  if (file && file->kind == Kind::hidden) return fail(file->content, shown);
  if (!file) return tl::unexpected(tree.nothing_at(resolved, shown));
  return file;
}

Result<std::string> read_file(const RecordedTree& tree, const std::string& path, size_t most) {
  auto resolved = tree.resolve(path, LastLink::follow);
  if (!resolved) return resolved;
  if (tree.is_folder(*resolved)) return fail("this is a folder", path);
  auto file = find(tree, *resolved, path);
  if (!file) return tl::unexpected(file.error());
  switch ((*file)->kind) {
  case Kind::text:
  case Kind::binary:
    if ((*file)->content.size() > most)
      return fail("the file is larger than the " + std::to_string(most) + " bytes expected of it",
                  path);
    return (*file)->content;
  case Kind::unreadable:
    return fail((*file)->content, path);
  case Kind::node:
    return fail("this is not a regular file", path);
  case Kind::present:
    return fail("not known: the recording does not hold its content", path);
  case Kind::link:
  case Kind::hidden:
  case Kind::missing:
    break;
  }
  return fail(kMissing, path);
}

Result<std::vector<std::string>> list(const RecordedTree& tree, const std::string& path) {
  auto resolved = tree.resolve(path, LastLink::follow);
  if (!resolved) return tl::unexpected(resolved.error());
  if (const RecordedFile* file = tree.file(*resolved);
      file && (file->kind == Kind::unreadable || file->kind == Kind::hidden))
    return fail(file->content, path);
  if (const auto* names = tree.names_in(*resolved))
    return std::vector<std::string>(names->begin(), names->end());
  if (auto file = find(tree, *resolved, path); !file) return tl::unexpected(file.error());
  return fail(kMissing, path); // a file is no folder
}

Result<Entry> entry_of(const RecordedTree& tree, const std::string& path) {
  auto resolved = tree.resolve(path, LastLink::keep);
  if (!resolved) return tl::unexpected(resolved.error());
  const uint64_t inode = inode_of(*resolved);
  if (tree.is_folder(*resolved))
    return Entry{.kind = EntryKind::folder, .mode = 0755, .device = 1, .inode = inode};
  auto found = find(tree, *resolved, path);
  if (!found) return tl::unexpected(found.error());
  const RecordedFile& file = **found;
  const bool kept = file.kind == Kind::text || file.kind == Kind::binary;
  return Entry{.kind = entry_kind(file.kind),
               .size = kept ? file.content.size() : file.size,
               .mode = file.mode,
               .uid = file.uid,
               .gid = file.gid,
               .device = 1,
               .inode = inode,
               .major = file.major,
               .minor = file.minor,
               .changed = file.changed};
}

Result<std::string> link_target_of(const RecordedTree& tree, const std::string& path) {
  auto resolved = tree.resolve(path, LastLink::keep);
  if (!resolved) return resolved;
  if (tree.is_folder(*resolved)) return fail("Invalid argument", path);
  auto file = find(tree, *resolved, path);
  if (!file) return tl::unexpected(file.error());
  if ((*file)->kind != Kind::link) return fail("Invalid argument", path); // as readlink says it
  return (*file)->content;
}

Result<std::string> real_path_of(const RecordedTree& tree, const std::string& path) {
  auto resolved = tree.resolve(path, LastLink::follow);
  if (!resolved || tree.is_folder(*resolved)) return resolved;
  if (auto file = find(tree, *resolved, path); !file) return tl::unexpected(file.error());
  return resolved;
}

// What opening a node gave. Where no answer about mere permission was kept, that one stands for it.
Observed<int> open_node_of(const RecordedTree& tree, const std::string& path, bool only_access) {
  auto resolved = tree.resolve(path, LastLink::follow);
  if (!resolved) return unknown<int>(resolved.error().what);
  if (tree.is_folder(*resolved)) return unknown<int>("this is not a device node");
  auto file = find(tree, *resolved, path);
  if (!file) return unknown<int>(file.error().what);
  if ((*file)->kind != Kind::node) return unknown<int>("this is not a device node");
  if (only_access && (*file)->access_error)
    return known(*(*file)->access_error, "access(" + path + ")");
  if (!(*file)->open_error) return unknown<int>(kNotRecorded);
  return known(*(*file)->open_error, (only_access ? "access(" : "open(") + path + ")");
}

// Why there was no answer when the recording was made; nullptr: not told.
const std::string* kept_error(const RecordedTree& tree, const std::string& question,
                              const std::string& resolved) {
  const auto& errors = tree.recording().errors;
  auto questions = errors.find(question);
  if (questions == errors.end()) return nullptr;
  auto at = questions->second.find(resolved);
  return at == questions->second.end() ? nullptr : &at->second;
}

// The answer kept for a path, under its real name or as it is called.
template <class T> Result<T> kept(const RecordedTree& tree, const std::string& question,
                                  const std::map<std::string, T>& answers,
                                  const std::string& path) {
  auto resolved = tree.resolve(path, LastLink::follow);
  if (!resolved) return tl::unexpected(resolved.error());
  auto at = answers.find(*resolved);
  if (at == answers.end()) at = answers.find(path);
  if (at != answers.end()) return at->second;
  if (const std::string* why = kept_error(tree, question, *resolved)) return fail(*why, path);
  if (tree.is_folder(*resolved)) return fail(kNotRecorded, path);
  auto file = find(tree, *resolved, path);
  if (!file) return tl::unexpected(file.error());
  if ((*file)->kind == Kind::unreadable) return fail((*file)->content, path);
  return fail(kNotRecorded, path);
}

Result<std::string> text_after_of(const RecordedTree& tree, const std::string& path,
                                  const std::string& word) {
  auto words = kept(tree, "text_after", tree.recording().texts, path);
  if (!words) return tl::unexpected(words.error());
  auto at = words->find(word);
  if (at == words->end()) return fail("the file does not hold \"" + word + "\"", path);
  return at->second;
}

Result<Space> space_of(const RecordedTree& tree, const std::string& path) {
  auto space = kept(tree, "space", tree.recording().spaces, path);
  if (!space) return tl::unexpected(space.error());
  return Space{.total = space->total,
               .free = space->free,
               .read_only = space->read_only,
               .no_exec = space->no_exec};
}

Result<CommandAnswer> run_recorded(const Recording& recording,
                                   const std::vector<std::string>& command) {
  const std::string where = command.empty() ? "" : command.front();
  for (const RecordedCommand& kept : recording.commands) {
    if (kept.command != command) continue;
    if (!kept.problem.empty()) return fail(kept.problem, where);
    return CommandAnswer{.status = kept.status,
                         .timed_out = kept.timed_out,
                         .output = kept.output,
                         .errors = kept.errors};
  }
  return fail(kNotRecorded, where);
}

SystemFacts unrecorded_system() {
  SystemFacts facts;
  facts.kernel_release = unknown<std::string>(kNotRecorded);
  facts.user = unknown<uint64_t>(kNotRecorded);
  facts.glibc = unknown<std::string>(kNotRecorded);
  facts.now = unknown<int64_t>(kNotRecorded);
  facts.booted = unknown<int64_t>(kNotRecorded);
  return facts;
}

template <class Answers> Answers answers_or_skipped(const std::optional<Answers>& answers) {
  if (answers) return *answers;
  Answers none;
  none.asked.problem = kNotRecorded;
  return none;
}

void answer_files(Source& source, const Tree& tree) {
  source.read_file = [tree](const std::string& path, size_t most) {
    return read_file(*tree, path, most);
  };
  source.list = [tree](const std::string& path) { return list(*tree, path); };
  source.entry = [tree](const std::string& path) { return entry_of(*tree, path); };
  source.link_target = [tree](const std::string& path) { return link_target_of(*tree, path); };
  source.real_path = [tree](const std::string& path) { return real_path_of(*tree, path); };
  source.open_node = [tree](const std::string& path) { return open_node_of(*tree, path, false); };
  source.access_node = [tree](const std::string& path) { return open_node_of(*tree, path, true); };
  source.space = [tree](const std::string& path) { return space_of(*tree, path); };
  source.elf = [tree](const std::string& path) {
    return kept(*tree, "elf", tree->recording().elf, path);
  };
  source.gpu_code = [tree](const std::string& path) {
    return kept(*tree, "gpu_code", tree->recording().gpu_code, path);
  };
  source.module_info = [tree](const std::string& path) {
    return kept(*tree, "module_info", tree->recording().module_infos, path);
  };
  source.text_after = [tree](const std::string& path, const std::string& word) {
    return text_after_of(*tree, path, word);
  };
}

} // namespace

Source replay_source(std::shared_ptr<const Recording> recording) { // NOLINT: kept by the lambdas
  Source source;
  source.kind = Seen::recording;
  answer_files(source, std::make_shared<const RecordedTree>(recording));
  source.environment = [recording] { return recording->environment; };
  source.system = [recording] { return recording->system.value_or(unrecorded_system()); };
  source.kernel_log = [recording] {
    KernelLog none;
    none.lines = unknown<std::vector<LogLine>>(kNotRecorded);
    return recording->log.value_or(none);
  };
  source.processes = [recording] {
    return recording->processes.value_or(unknown<std::vector<GpuProcess>>(kNotRecorded));
  };
  source.nvml = [recording] { return answers_or_skipped(recording->nvml); };
  source.cuda = [recording] { return answers_or_skipped(recording->cuda); };
  source.run = [recording](const std::vector<std::string>& command, double) {
    return run_recorded(*recording, command);
  };
  return source;
}

} // namespace gpuvet
