// A value that was looked for: either found, or not known with the reason. There is no default that
// could be mistaken for an answer.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace gpuvet {

template <class T> struct Observed {
  std::optional<T> value;
  std::string why_unknown = "not looked for";
  std::string source; // file, call or rule that gave the value

  explicit operator bool() const { return value.has_value(); }
  const T& operator*() const { return *value; }
  const T* operator->() const { return &*value; }
};

template <class T> Observed<T> known(T value, std::string source) {
  return {std::move(value), {}, std::move(source)};
}

template <class T> Observed<T> unknown(std::string why) {
  return {std::nullopt, std::move(why), {}};
}

} // namespace gpuvet
