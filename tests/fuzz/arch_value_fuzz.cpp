// Values of build systems: the first line names the system and the toolkit, the rest is the value.
#include "base/text.hpp"
#include "judge/arch/convert.hpp"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const gpuvet::Facts facts;
  static const auto tables = facts.arch();
  static const auto rules = facts.load_rules();
  static const auto toolkits = facts.toolkits();
  std::string_view text(reinterpret_cast<const char*>(data), size);
  size_t end = std::min(text.find('\n'), text.size());
  std::vector<std::string> head = gpuvet::words_of(text.substr(0, end));
  const gpuvet::ArchSystem* system =
      head.empty() ? nullptr : gpuvet::find_arch_system(**tables, head[0]);
  if (!system) return 0;
  gpuvet::ArchContext context{*tables, *rules, nullptr, std::nullopt};
  for (const gpuvet::Toolkit& toolkit : **toolkits)
    if (head.size() > 1 && toolkit.version == head[1]) context.toolkit = &toolkit;
  std::string_view value = end < text.size() ? text.substr(end + 1) : std::string_view();
  auto codes = gpuvet::read_value(*system, value, context);
  if (!codes) return 0;
  // What was read and can be written is written to the same meaning.
  auto again = gpuvet::write_value(*system, *codes, context);
  if (!again) return 0;
  auto back = gpuvet::read_value(*system, *again, context);
  if (!back || *back != *codes) std::abort();
  return 0;
}
