#include "cli/oom/read_text.hpp"

#include "formats/log_text/log_text.hpp"
#include "os/progress.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gpuvet {
namespace {

constexpr size_t kPiece = size_t{1} << 20U; // bytes read at once

// Gives the lines as they are: a poll of nvidia-smi is a table, in which a time is no prefix.
class RawLines {
 public:
  explicit RawLines(OomReader& reader) : reader_(reader) {}

  void feed(std::string_view bytes) {
    for (size_t at = 0; at < bytes.size();) {
      const size_t end = std::min(bytes.find('\n', at), bytes.size());
      if (rest_.size() < kLongestLogLine)
        rest_ += bytes.substr(at, std::min(end - at, kLongestLogLine - rest_.size()));
      if (end < bytes.size()) give();
      at = end + 1;
    }
  }
  void end() {
    if (!rest_.empty()) give();
  }

 private:
  void give() {
    if (!rest_.empty() && rest_.back() == '\r') rest_.pop_back();
    reader_.take(rest_, ++number_);
    rest_.clear();
  }

  OomReader& reader_;
  std::string rest_;
  uint64_t number_ = 0;
};

bool is_poll(std::string_view head) {
  const size_t begin = head.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return false;
  const std::string_view line = head.substr(begin, head.find('\n', begin) - begin);
  return line.find("memory.used") != std::string_view::npos &&
         line.find(',') != std::string_view::npos;
}

Error why(const std::string& name) {
  return {std::strerror(errno), name};
}

Result<OomEvidence> read_one(int fd, const std::string& name, const OomGrammar& grammar,
                             const LiteralSet& literals, const Terminal& err) {
  struct stat status {};
  const bool sized = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
  if (S_ISDIR(status.st_mode)) return fail("this is a folder; name a log", name);
  Progress progress(err, "reading " + name, sized ? static_cast<uint64_t>(status.st_size) : 0);
  OomReader reader(grammar);
  LogText text(literals, [&](const PlainLine& line) {
    reader.take(line.text, line.number, line.has_literal);
  });
  RawLines raw(reader);
  std::string piece(kPiece, '\0');
  std::optional<bool> poll;
  while (true) {
    const ssize_t got = read(fd, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return tl::unexpected<Error>(why(name));
    if (got == 0) break;
    const std::string_view bytes(piece.data(), static_cast<size_t>(got));
    if (!poll) poll = is_poll(bytes);
    *poll ? raw.feed(bytes) : text.feed(bytes);
    progress.add(bytes.size(), name);
  }
  poll.value_or(false) ? raw.end() : text.end();
  return reader.end();
}

} // namespace

Result<std::vector<OomInput>> read_oom_inputs(const std::vector<std::string>& files,
                                              const OomTables& tables, const Terminal& err) {
  auto grammar = compile_oom(tables);
  if (!grammar) return tl::unexpected<Error>(grammar.error());
  const LiteralSet literals(oom_literals(tables));
  std::vector<OomInput> inputs;
  for (const std::string& name : files) {
    const int fd = name == "-" ? STDIN_FILENO : open(name.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return tl::unexpected<Error>(why(name));
    auto evidence = read_one(fd, name, *grammar, literals, err);
    if (fd != STDIN_FILENO) close(fd);
    if (!evidence) return tl::unexpected<Error>(evidence.error());
    inputs.push_back({name, std::move(*evidence)});
  }
  return inputs;
}

} // namespace gpuvet
