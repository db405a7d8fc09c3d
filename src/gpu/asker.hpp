// Calls a library from the child, telling of each call before it is made.
#pragma once

#include "gpu/library.hpp"
#include "gpu/lines.hpp"

namespace gpuvet {

struct SeriousCodes {
  int missing;     // the library has no such function
  int lost;        // the GPU is gone: nothing else is asked of it
  int needs_reset; // the GPU is unusable, but tells about itself
};

class Asker {
 public:
  Asker(Teller& tell, const SeriousCodes& codes) : tell_(tell), codes_(codes) {}

  void turn_to(int gpu) {
    gpu_ = gpu;
    verdict_ = 0;
  }

  // The code of the call; kNotAsked once the GPU was lost.
  template <class... Parameters, class... Arguments>
  int ask(const LibraryCall<Parameters...>& call, Arguments... arguments) {
    if (!call.function) return codes_.missing;
    if (gpu_ != kNoGpu && verdict_ == codes_.lost) return kNotAsked;
    tell_.about_to_call(gpu_, call.name);
    int code = call.function(arguments...);
    if (code == codes_.lost || code == codes_.needs_reset) verdict_ = code;
    return code;
  }

  template <class T> void answer(const char* field, const T& value) {
    tell_.answer(gpu_, field, value);
  }
  template <class T> void answer(const char* field, int code, const T& value) {
    tell_.answer(gpu_, field, code, value);
  }

  int verdict() const { return verdict_; } // on this GPU: 0, or the serious code
  Teller& tell() { return tell_; }

 private:
  Teller& tell_;
  SeriousCodes codes_;
  int gpu_ = kNoGpu;
  int verdict_ = 0;
};

} // namespace gpuvet
