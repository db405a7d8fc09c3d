// Stands before another source and keeps every answer, so that a recording holds exactly what the
// probes asked and cannot drift from them.
#pragma once

#include "model/recording.hpp"
#include "probe/source.hpp"

#include <memory>

namespace gpuvet {

class Recorder {
 public:
  explicit Recorder(Source inner);

  // Callable from several threads, as the probes are.
  Source source() const;

  // What was answered so far. Probes that still run past their deadline add nothing to it.
  Recording recording() const;

 private:
  class Notes;
  std::shared_ptr<Notes> notes_;
};

} // namespace gpuvet
