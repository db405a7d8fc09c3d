// The grammar of messages about GPU memory, its tables and series, and the judgement of whatever
// came out of it.
#include "facts/facts.hpp"
#include "judge/oom/oom.hpp"
#include "render/terminal.hpp"

#include <cstdlib>

namespace {

struct Known {
  gpuvet::Facts facts;
  const gpuvet::OomTables* tables = nullptr;
  std::optional<gpuvet::OomGrammar> grammar;

  Known() {
    auto read = facts.oom();
    if (!read) std::abort();
    tables = *read;
    auto made = gpuvet::compile_oom(*tables);
    if (!made) std::abort();
    grammar.emplace(std::move(*made));
  }
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Known known;
  gpuvet::OomReader reader(*known.grammar);
  std::string_view text(reinterpret_cast<const char*>(data), size);
  for (uint64_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    reader.take(line, number);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  const gpuvet::OomEvidence evidence = reader.end();
  const gpuvet::OomReport report = gpuvet::judge_oom(evidence, *known.tables);
  (void)gpuvet::render_terminal(report.report, {});
  return 0;
}
