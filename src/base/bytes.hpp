// Bytes is a checked view of memory that somebody else owns: a mapped file, a decompressed image.
// Everything gpuvet reads is hostile until proven otherwise, so there is no unchecked access: a
// read outside the view yields nullopt. All file formats here are little endian, as are the hosts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace gpuvet {

class Bytes {
 public:
  Bytes() = default;
  Bytes(const void* data, size_t size) : data_(static_cast<const uint8_t*>(data)), size_(size) {}
  Bytes(std::string_view text) : Bytes(text.data(), text.size()) {}
  Bytes(std::span<const uint8_t> span) : Bytes(span.data(), span.size()) {}

  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }

  // Is [at, at+n) inside? Safe for any at and n: no sum that could overflow.
  bool holds(uint64_t at, uint64_t n) const { return at <= size_ && n <= size_ - at; }

  // Exactly n bytes from offset `at`.
  std::optional<Bytes> slice(uint64_t at, uint64_t n) const {
    if (!holds(at, n)) return std::nullopt;
    return Bytes(data_ + at, static_cast<size_t>(n));
  }

  // Up to n bytes from offset `at`: fewer at the end, none behind it.
  Bytes clamp(uint64_t at, uint64_t n) const {
    if (at >= size_) return {};
    return Bytes(data_ + at, static_cast<size_t>(n < size_ - at ? n : size_ - at));
  }

  // One little-endian value; need not be aligned.
  template <class T> std::optional<T> read(uint64_t at) const {
    static_assert(std::is_trivially_copyable_v<T>);
    if (!holds(at, sizeof(T))) return std::nullopt;
    T value;
    std::memcpy(&value, data_ + at, sizeof(T));
    return value;
  }

  // The NUL-terminated string at `at`, without the NUL; nullopt when no NUL follows inside the
  // view.
  std::optional<std::string_view> c_string(uint64_t at) const {
    if (at >= size_) return std::nullopt;
    const void* end = std::memchr(data_ + at, 0, size_ - static_cast<size_t>(at));
    if (!end) return std::nullopt;
    const auto* begin = data_ + at;
    return std::string_view(reinterpret_cast<const char*>(begin),
                            static_cast<size_t>(static_cast<const uint8_t*>(end) - begin));
  }

 private:
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

} // namespace gpuvet
