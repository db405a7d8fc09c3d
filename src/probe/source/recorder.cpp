#include "probe/source/recorder.hpp"

#include "formats/json_write.hpp"
#include "probe/source/paths.hpp"

#include <algorithm>
#include <mutex>
#include <set>

namespace gpuvet {

using Kind = RecordedFile::Kind;

// What was answered, under the real paths: so that a file which was asked for by two names is kept
// once, and links lead to it as they did.
class Recorder::Notes {
 public:
  explicit Notes(Source inner) : inner_(std::move(inner)) { recording_.partial = true; }

  const Source& inner() const { return inner_; }

  Recording recording() const {
    std::lock_guard lock(mutex_);
    return recording_;
  }

  template <class Change> void note(const Change& change) {
    std::lock_guard lock(mutex_);
    change(recording_);
  }

  // The path without links; those that were met are kept.
  std::string resolve(const std::string& path, LastLink last) {
    auto resolved = resolve_links(path, last, [this](const std::string& at) { return link(at); });
    if (resolved) return *resolved;
    // Links that go in a ring: the path as it stands.
    return resolve_links(
               path, last,
               [](const std::string&) -> std::optional<std::string> { return std::nullopt; })
        .value_or("/");
  }

  // Keeps what lies at a path without links, unless more about it is known already.
  void note_entry(const std::string& resolved, const Result<Entry>& entry) {
    note([&](Recording& recording) {
      if (entry && entry->kind == EntryKind::folder) {
        folders_.insert(resolved);
        return;
      }
      auto [at, is_new] = recording.files.try_emplace(resolved);
      if (is_new) at->second = recorded(entry);
    });
  }

  // What lies there could not be read, or a folder could not be listed.
  void note_error(const std::string& resolved, EntryKind asked, const Error& error) {
    if (is_missing(error)) {
      note_entry(resolved, fail(error.what, error.where));
      return;
    }
    auto entry = inner_.entry(resolved);
    note_entry(resolved, entry);
    if (!entry || entry->kind != asked) return;
    note([&](Recording& recording) {
      RecordedFile& file = recording.files[resolved];
      if (asked == EntryKind::regular && file.kind != Kind::present) return;
      file.kind = Kind::unreadable;
      file.content = error.what;
    });
  }

  void note_text(const std::string& resolved, const std::string& text) {
    auto entry = inner_.entry(resolved);
    note_entry(resolved, entry);
    note([&](Recording& recording) {
      RecordedFile& file = recording.files[resolved];
      file.kind = is_plain_text(text) ? Kind::text : Kind::binary;
      file.content = text;
      file.size = 0;
    });
  }

  void note_list(const std::string& resolved, const std::vector<std::string>& names) {
    note([&](Recording& recording) { recording.listings[resolved] = names; });
  }

  void note_question(const std::string& question, const std::string& resolved, const Error& error) {
    note_entry(resolved, inner_.entry(resolved));
    if (is_missing(error)) return;
    note([&](Recording& recording) { recording.errors[question][resolved] = error.what; });
  }

  // Folders that need no line of their own, because a listing or a path below tells of them, are
  // left out.
  std::vector<std::string> folders() const {
    std::lock_guard lock(mutex_);
    std::vector<std::string> all;
    for (const std::string& folder : folders_)
      if (!recording_.listings.count(folder)) all.push_back(folder);
    return all;
  }

 private:
  std::optional<std::string> link(const std::string& path) {
    {
      std::lock_guard lock(mutex_);
      if (auto known = links_.find(path); known != links_.end()) return known->second;
    }
    auto target = inner_.link_target(path);
    std::lock_guard lock(mutex_);
    std::optional<std::string> found = target ? std::optional(*target) : std::nullopt;
    if (found) recording_.files[path] = {.kind = Kind::link, .content = *found, .mode = 0777};
    links_.emplace(path, found);
    return found;
  }

  static RecordedFile recorded(const Result<Entry>& entry) {
    if (!entry)
      return is_missing(entry.error())
                 ? RecordedFile{.kind = Kind::missing}
                 : RecordedFile{.kind = Kind::hidden, .content = entry.error().what};
    const bool node = entry->kind == EntryKind::character || entry->kind == EntryKind::block;
    return {.kind = node ? Kind::node : Kind::present,
            .mode = entry->mode,
            .uid = entry->uid,
            .gid = entry->gid,
            .size = node ? 0 : entry->size,
            .changed = entry->changed,
            .major = entry->major,
            .minor = entry->minor};
  }

  Source inner_;
  mutable std::mutex mutex_;
  Recording recording_;
  std::set<std::string> folders_;
  std::map<std::string, std::optional<std::string>> links_;
};

namespace {

template <class Notes> void keep_files(Source& source, const std::shared_ptr<Notes>& notes) {
  source.read_file = [notes](const std::string& path, size_t most) {
    auto text = notes->inner().read_file(path, most);
    const std::string resolved = notes->resolve(path, LastLink::follow);
    text ? notes->note_text(resolved, *text)
         : notes->note_error(resolved, EntryKind::regular, text.error());
    return text;
  };
  source.list = [notes](const std::string& path) {
    auto names = notes->inner().list(path);
    const std::string resolved = notes->resolve(path, LastLink::follow);
    names ? notes->note_list(resolved, *names)
          : notes->note_error(resolved, EntryKind::folder, names.error());
    return names;
  };
  source.entry = [notes](const std::string& path) {
    auto entry = notes->inner().entry(path);
    if (entry && entry->kind == EntryKind::link)
      notes->resolve(path, LastLink::follow); // keeps the link
    else
      notes->note_entry(notes->resolve(path, LastLink::keep), entry);
    return entry;
  };
  source.link_target = [notes](const std::string& path) {
    auto target = notes->inner().link_target(path);
    if (target)
      notes->resolve(path, LastLink::follow);
    else
      notes->note_entry(notes->resolve(path, LastLink::keep), notes->inner().entry(path));
    return target;
  };
  source.real_path = [notes](const std::string& path) {
    auto real = notes->inner().real_path(path);
    const std::string resolved = notes->resolve(path, LastLink::follow);
    notes->note_entry(resolved, notes->inner().entry(resolved));
    return real;
  };
}

template <class Notes> void keep_nodes(Source& source, const std::shared_ptr<Notes>& notes) {
  source.open_node = [notes](const std::string& path) {
    auto error = notes->inner().open_node(path);
    const std::string resolved = notes->resolve(path, LastLink::follow);
    notes->note_entry(resolved, notes->inner().entry(resolved));
    if (error)
      notes->note([&](Recording& recording) { recording.files[resolved].open_error = *error; });
    return error;
  };
  source.access_node = [notes](const std::string& path) {
    auto error = notes->inner().access_node(path);
    const std::string resolved = notes->resolve(path, LastLink::follow);
    notes->note_entry(resolved, notes->inner().entry(resolved));
    if (error)
      notes->note([&](Recording& recording) { recording.files[resolved].access_error = *error; });
    return error;
  };
  source.space = [notes](const std::string& path) {
    auto space = notes->inner().space(path);
    const std::string resolved = notes->resolve(path, LastLink::follow);
    if (!space) {
      notes->note_question("space", resolved, space.error());
    } else {
      notes->note([&](Recording& recording) {
        recording.spaces[resolved] = {.total = space->total,
                                      .free = space->free,
                                      .read_only = space->read_only,
                                      .no_exec = space->no_exec};
      });
    }
    return space;
  };
}

// Keeps the answer to a question about a file's content in one of the recording's maps.
template <class Notes, class T> std::function<Result<T>(const std::string&)>
kept(const std::shared_ptr<Notes>& notes, std::string question,
     std::function<Result<T>(const std::string&)> Source::*ask,
     std::map<std::string, T> Recording::*into) {
  return [=](const std::string& path) {
    Result<T> answer = (notes->inner().*ask)(path);
    const std::string resolved = notes->resolve(path, LastLink::follow);
    if (!answer) {
      notes->note_question(question, resolved, answer.error());
    } else {
      notes->note_entry(resolved, notes->inner().entry(resolved));
      notes->note([&](Recording& recording) { (recording.*into)[resolved] = *answer; });
    }
    return answer;
  };
}

template <class Notes> void keep_contents(Source& source, const std::shared_ptr<Notes>& notes) {
  source.elf = kept(notes, "elf", &Source::elf, &Recording::elf);
  source.gpu_code = kept(notes, "gpu_code", &Source::gpu_code, &Recording::gpu_code);
  source.module_info = kept(notes, "module_info", &Source::module_info, &Recording::module_infos);
  source.text_after = [notes](const std::string& path, const std::string& word) {
    auto text = notes->inner().text_after(path, word);
    const std::string resolved = notes->resolve(path, LastLink::follow);
    if (!text) {
      notes->note_question("text_after", resolved, text.error());
    } else {
      notes->note_entry(resolved, notes->inner().entry(resolved));
      notes->note([&](Recording& recording) { recording.texts[resolved][word] = *text; });
    }
    return text;
  };
}

// Keeps an answer that is given once.
template <class Notes, class T, class Field>
std::function<T()> kept_once(const std::shared_ptr<Notes>& notes, std::function<T()> Source::*ask,
                             Field Recording::*into) {
  return [=] {
    T answer = (notes->inner().*ask)();
    notes->note([&](Recording& recording) { recording.*into = answer; });
    return answer;
  };
}

template <class Notes> void keep_answers(Source& source, const std::shared_ptr<Notes>& notes) {
  source.environment = kept_once(notes, &Source::environment, &Recording::environment);
  source.system = kept_once(notes, &Source::system, &Recording::system);
  source.kernel_log = kept_once(notes, &Source::kernel_log, &Recording::log);
  source.processes = kept_once(notes, &Source::processes, &Recording::processes);
  source.nvml = kept_once(notes, &Source::nvml, &Recording::nvml);
  source.cuda = kept_once(notes, &Source::cuda, &Recording::cuda);
  source.run = [notes](const std::vector<std::string>& command, double deadline_s) {
    auto answer = notes->inner().run(command, deadline_s);
    RecordedCommand kept{.command = command};
    if (!answer) {
      kept.problem = answer.error().what;
    } else {
      kept.status = answer->status;
      kept.timed_out = answer->timed_out;
      kept.output = answer->output;
      kept.errors = answer->errors;
    }
    notes->note([&](Recording& recording) { recording.commands.push_back(kept); });
    return answer;
  };
}

} // namespace

Recorder::Recorder(Source inner) : notes_(std::make_shared<Notes>(std::move(inner))) {}

Source Recorder::source() const {
  Source source = notes_->inner();
  keep_files(source, notes_);
  keep_nodes(source, notes_);
  keep_contents(source, notes_);
  keep_answers(source, notes_);
  return source;
}

Recording Recorder::recording() const {
  Recording recording = notes_->recording();
  recording.folders = notes_->folders();
  return recording;
}

} // namespace gpuvet
