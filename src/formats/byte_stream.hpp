// ByteStream reads a file from front to back through a window, so that a mapped file, a member of a
// wheel that is still compressed and a file inside an image layer are all scanned by the same code
// in bounded memory.
//
// Order matters: `window(at, n)` may move forward freely, and back only as far as the start of the
// previous window. A view stays valid until the next call. Streams over memory ignore both limits
// and say so with random_access().
#pragma once

#include "base/bytes.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace gpuvet {

class ByteStream {
 public:
  // Most bytes that one window may ask for; larger objects are read in pieces or not at all.
  static constexpr size_t kMaxWindow = size_t{64} << 20;

  virtual ~ByteStream() = default;

  // Bytes [at, at+n), fewer at the end of the file and none behind it. Errors: damaged compression,
  // n > kMaxWindow, a step back that is too far.
  virtual Result<Bytes> window(uint64_t at, size_t n) = 0;

  // Size in bytes; nullopt when it is known only at the end.
  virtual std::optional<uint64_t> size() const = 0;

  virtual bool random_access() const { return false; }

  // The same content from the start, for the rare reader that needs an early part after all;
  // nullptr where that is not possible.
  virtual std::unique_ptr<ByteStream> again() const { return nullptr; }
};

// A stream over bytes in memory (a mapped file, a fuzz input).
class MemoryStream final : public ByteStream {
 public:
  explicit MemoryStream(Bytes bytes) : bytes_(bytes) {}
  Result<Bytes> window(uint64_t at, size_t n) override;
  std::optional<uint64_t> size() const override { return bytes_.size(); }
  bool random_access() const override { return true; }

 private:
  Bytes bytes_;
};

// Part of another stream, which must outlive it and is read through it: a member that is stored as
// it is. That the outer stream ends too early is an error, with `where`.
class PartStream final : public ByteStream {
 public:
  PartStream(ByteStream& outer, uint64_t base, std::optional<uint64_t> size, std::string where)
      : outer_(outer), base_(base), size_(size), where_(std::move(where)) {}
  Result<Bytes> window(uint64_t at, size_t n) override;
  std::optional<uint64_t> size() const override { return size_; }
  bool random_access() const override { return outer_.random_access() && size_; }

 private:
  ByteStream& outer_;
  uint64_t base_;
  std::optional<uint64_t> size_; // nullopt: to the outer stream's end
  std::string where_;
};

// Base for decompressors and archive members: implement `pull`, the window is kept here. Costs one
// pass over the content: bytes are pulled straight into the window, and only the tail that a window
// shares with its successor is ever copied.
class SequentialStream : public ByteStream {
 public:
  Result<Bytes> window(uint64_t at, size_t n) final;

 protected:
  // Writes up to n bytes to `out`; 0 means the end.
  virtual Result<size_t> pull(uint8_t* out, size_t n) = 0;

 private:
  Result<void> skip_to(uint64_t at);
  Result<void> fill(size_t until);
  void make_room(size_t drop, size_t n);

  std::unique_ptr<uint8_t[]> buffer_; // holds [start_, start_ + filled_) of the content
  size_t capacity_ = 0;
  size_t filled_ = 0;
  uint64_t start_ = 0;
  bool ended_ = false;
};

} // namespace gpuvet
