// Errors are values. `what` is a sentence for a system administrator; `where` names the file and
// offset, the path or the call, so that the person can go and look.
#pragma once

#include <tl/expected.hpp>

#include <string>
#include <utility>

namespace gpuvet {

struct Error {
  std::string what;
  std::string where;
};

template <class T> using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(std::string what, std::string where = {}) {
  return tl::unexpected<Error>(Error{std::move(what), std::move(where)});
}

} // namespace gpuvet
