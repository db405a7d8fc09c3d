// Takes out of a recording what tells whose machine it is: serial numbers, UUIDs, host and user
// names, addresses, passwords and tokens. Each is replaced by the same stand-in wherever it occurs,
// so that what belongs together still does and the same findings follow.
#pragma once

#include "model/recording.hpp"
#include "probe/source.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

struct Identity {                      // what cannot be told by its looks
  std::vector<std::string> host_names; // as the kernel and DNS know it
  std::vector<std::string> user_names; // of people
};

// Host name and people's names of the machine that a source is about, as far as it tells.
Identity identity_of(const Source& source);

void redact(Recording& recording, const Identity& identity);

// Only what the judgement needs of files that hold much else: package databases, start-up files,
// mount tables, command lines. Lines that are taken out leave an empty one, so that numbers of
// lines stay right. Part of redact(), apart for its length.
void reduce(Recording& recording);

// May the value of this variable be kept at all?
bool may_keep_variable(std::string_view name);

} // namespace gpuvet
