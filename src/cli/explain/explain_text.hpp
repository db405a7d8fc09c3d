// The explanation of a text that comes in pieces: for `gpuvet explain`, and for `gpuvet run`, which
// feeds what a command prints while it passes it on.
#pragma once

#include "cli/command.hpp"
#include "cli/machine_source.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace gpuvet {

struct ExplainOptions {
  bool here = false; // the text is from this machine: the doctor's checks that bear on it are run
  bool all = false;  // every message that was recognised, benign ones and consequences too
  bool json = false; // schema gpuvet-explain/1
  MachineOptions machine; // for `here`
};

// Exit statuses of explain.
namespace explain_status {
constexpr int found = 0, open = 1, usage = 2, not_known = 3;
}

class TextExplainer {
 public:
  explicit TextExplainer(const Facts& facts);
  ~TextExplainer();
  TextExplainer(TextExplainer&&) noexcept;
  TextExplainer& operator=(TextExplainer&&) noexcept;

  // Pieces of any size, of any content; constant memory. Not UTF-8 is tolerated, UTF-16 is
  // recognised by its first bytes.
  void feed(std::string_view bytes);

  // What is fed from here on is the file of this name; lines are counted through all files.
  void begin_file(const std::string& name);

  // Ends the text and prints the answer to standard output; complaints go to standard error. Gives
  // an explain_status. Nothing is printed when `quiet_if_unknown` and nothing was recognised, for
  // callers that only speak when they have something to say.
  int finish(const ExplainOptions& options, Context& context, bool quiet_if_unknown = false);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace gpuvet
