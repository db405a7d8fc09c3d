// Machine facts out of hostile texts, and the machine that they make.
#include "facts/facts.hpp"
#include "judge/texts/facts_in_text.hpp"
#include "judge/texts/known_facts.hpp"

#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const gpuvet::Facts facts;
  auto tables = facts.texts();
  if (!tables) __builtin_trap();
  gpuvet::FactsInText reader(**tables);
  std::string_view text(reinterpret_cast<const char*>(data), size);
  for (uint64_t number = 1; !text.empty(); ++number) {
    size_t end = text.find('\n');
    reader.line(text.substr(0, end), number);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  if (reader.facts().size() > gpuvet::FactsInText::kMostFacts) __builtin_trap();
  gpuvet::known_facts(reader.machine());
  return 0;
}
