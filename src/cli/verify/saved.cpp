#include "cli/verify/saved.hpp"

#include "os/file_entry.hpp"

namespace gpuvet {
namespace {

constexpr size_t kMost = size_t{1} << 30; // bytes: a soak of months

} // namespace

Result<SavedRun> read_saved_run(const std::string& path) {
  auto text = read_whole_file(path, kMost);
  if (!text) return fail(text.error().what, path);
  return read_measurements(*text, path);
}

} // namespace gpuvet
