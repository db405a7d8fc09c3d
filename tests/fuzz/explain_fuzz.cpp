// A text that is to be explained: pieces of a log to messages, facts and their causes, and the
// report.
#include "formats/log_text/log_text.hpp"
#include "judge/explain/explain_report.hpp"
#include "judge/texts/facts_in_text.hpp"
#include "render/terminal.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpuvet;
  static const Facts facts;
  auto signatures = facts.signatures();
  auto texts = facts.texts();
  if (!signatures || !texts) return 0;
  MessageFinder finder(**signatures);
  FactsInText known(**texts);
  LiteralSet set(finder.prefilter());
  LogText log(set, [&](const PlainLine& line) {
    finder.line(line.text, line.number);
    known.line(line.text, line.number);
  });
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  log.feed(bytes.substr(0, size / 2));
  log.feed(bytes.substr(size / 2));
  log.end();
  finder.end();
  ExplainInput input;
  input.found = &finder;
  input.text_facts = known.facts();
  auto explanation = explain(input, facts);
  if (explanation)
    render_terminal(explanation_report(*explanation, {log.lines(), log.bytes(), {}}, true), {});
  return 0;
}
