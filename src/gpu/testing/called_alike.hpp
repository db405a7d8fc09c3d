// Is a function of a library declared by us as in the library's own header? For tests.
#pragma once

#include "gpu/library.hpp"
#include "gpu/nvml_api.hpp"

#include <cstddef>
#include <type_traits>

namespace gpuvet {

template <class T> constexpr bool kLookedInto = requires {
  sizeof(T);
};

// Two parameters are passed alike: pointers to things of one size, or numbers of one size. What
// handles point to is not known to anybody, and a structure with a version says itself which it is.
template <class Ours, class Theirs> constexpr bool passed_alike() {
  if constexpr (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>) {
    using Mine = std::remove_pointer_t<Ours>;
    using Yours = std::remove_pointer_t<Theirs>;
    if constexpr (std::is_same_v<Mine, NvmlDeviceHandle> || std::is_void_v<Mine> ||
                  !kLookedInto<Mine> || requires(Mine & it) { it.version; })
      return std::is_void_v<Mine> == std::is_void_v<Yours> || !kLookedInto<Yours>;
    else
      return sizeof(Mine) == sizeof(Yours); // NOLINT(bugprone-sizeof-expression): pointers too
  } else {
    return !std::is_pointer_v<Ours> && !std::is_pointer_v<Theirs> && sizeof(Ours) == sizeof(Theirs);
  }
}

template <class Ours, class Theirs> constexpr bool kCalledAlike = false;

template <class... Ours, class Code, class... Theirs>
requires(sizeof...(Ours) == sizeof...(Theirs) &&
         sizeof(Code) ==
             sizeof(int)) constexpr bool kCalledAlike<LibraryCall<Ours...>, Code (*)(Theirs...)> =
    (passed_alike<Ours, Theirs>() && ...);

#define EXPECT_SAME_PLACE(Ours, our_field, Theirs, their_field)                                    \
  EXPECT_EQ(offsetof(Ours, our_field), offsetof(Theirs, their_field));                             \
  EXPECT_EQ(sizeof(Ours::our_field), sizeof(Theirs::their_field))

} // namespace gpuvet
