// A source that asks the one behind it only once what lies at a path. Whoever follows the loader
// for several packages comes to the same folders and libraries again and again. May be asked from
// several threads at once.
#pragma once

#include "probe/source.hpp"

namespace gpuvet {

// Remembers `entry`, `real_path` and `elf`, errors too, for as long as the source that is given
// back (or a copy) lives. The rest is asked anew each time.
Source remembered(Source source);

} // namespace gpuvet
