// Collects changes. Each function compares one value of two machines. Part of diff.
#pragma once

#include "judge/diff/diff.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace gpuvet::diff {

inline std::string shown(const std::string& value) {
  return value;
}
inline std::string shown(bool value) {
  return value ? "on" : "off";
}
template <std::integral T> std::string shown(T value) {
  return std::to_string(value);
}

class Changes {
 public:
  explicit Changes(MachineDiff& into) : into_(into) {}

  // Texts as shown; empty: not there.
  void compare(const std::string& id, const std::string& subject, const std::string& before,
               const std::string& after);

  void not_compared(const std::string& subject, const std::string& why);

  template <class T> void compare(const std::string& id, const std::string& subject,
                                  const Observed<T>& before, const Observed<T>& after) {
    if (before && after)
      compare(id, subject, shown(*before), shown(*after));
    else if (before || after)
      not_compared(subject,
                   one_sided(bool(before), before ? after.why_unknown : before.why_unknown));
  }

  // What nullopt means is the caller's to say: here, not known.
  template <class T> void compare(const std::string& id, const std::string& subject,
                                  const std::optional<T>& before, const std::optional<T>& after) {
    if (before && after)
      compare(id, subject, shown(*before), shown(*after));
    else if (before || after)
      not_compared(subject, one_sided(before.has_value(), ""));
  }

  // Entries by name: those that differ, came or went.
  void compare_maps(const std::string& id, const std::string& subject_start,
                    const std::map<std::string, std::string>& before,
                    const std::map<std::string, std::string>& after);

  // Lines or names of which order does not count.
  void compare_sets(const std::string& id, const std::string& subject,
                    const std::set<std::string>& before, const std::set<std::string>& after);

 private:
  static std::string one_sided(bool known_before, const std::string& why);

  MachineDiff& into_;
};

// Equal changes of several subjects become one: "GPU 0000:18:00.0, 0000:2a:00.0"; `all`, if not
// empty, names all `count` of them: "all 8 GPUs".
void merge_equal(MachineDiff& diff, size_t first, const std::string& start, size_t count,
                 const std::string& all);

} // namespace gpuvet::diff
