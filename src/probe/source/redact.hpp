// Takes out of a recording what tells whose machine it is: serial numbers, UUIDs, host and user
// names, addresses, passwords and tokens. Each is replaced by the same stand-in wherever it occurs,
// so that what belongs together still does and the same findings follow.
#pragma once

#include "model/recording.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

struct Identity {                      // what cannot be told by its looks
  std::vector<std::string> host_names; // as the kernel and DNS know it
  std::vector<std::string> user_names; // of people
};

// Host name and people's names of the machine that this runs on.
Identity identity_of_this_machine();

void redact(Recording& recording, const Identity& identity);

// Only what the judgement needs of files that hold much else: package databases, start-up files,
// mount tables, command lines. Lines that are taken out leave an empty one, so that numbers of
// lines stay right. Part of redact(), apart for its length.
void reduce(Recording& recording);

// May the value of this variable be kept at all?
bool may_keep_variable(std::string_view name);

} // namespace gpuvet
