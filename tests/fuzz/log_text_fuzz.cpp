// Logs: whatever the size of the pieces, the same lines come out.
#include "formats/log_text/log_text.hpp"

#include <cstdlib>

namespace {

using Lines = std::vector<std::pair<uint64_t, std::string>>;

Lines lines_of(std::string_view text, size_t piece) {
  static const gpuvet::LiteralSet literals({"nvcc fatal", "no kernel image", "CUDA error"});
  Lines lines;
  gpuvet::LogText log(literals, [&](const gpuvet::PlainLine& line) {
    if (line.text.size() > gpuvet::kLongestLogLine) std::abort();
    lines.emplace_back(line.number, line.text);
  });
  // The mark of UTF-16 is looked for in the first piece.
  log.feed(text.substr(0, 4));
  text.remove_prefix(std::min<size_t>(4, text.size()));
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size())))
    log.feed(text.substr(0, piece));
  log.end();
  return lines;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (lines_of(text, 7) != lines_of(text, size + 1)) std::abort();
  return 0;
}
