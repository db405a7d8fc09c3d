// Any file at all: as it lies in memory and as a stream, with every kernel name.
#include "formats/gpu/inspect.hpp"

#include <algorithm>

namespace {

class Stream final : public gpuvet::SequentialStream {
 public:
  explicit Stream(gpuvet::Bytes bytes) : bytes_(bytes) {}
  std::optional<uint64_t> size() const override { return std::nullopt; }

 protected:
  gpuvet::Result<size_t> pull(uint8_t* out, size_t n) override {
    gpuvet::Bytes piece = bytes_.clamp(at_, std::min<size_t>(n, 777));
    std::copy(piece.data(), piece.data() + piece.size(), out);
    at_ += piece.size();
    return piece.size();
  }

 private:
  gpuvet::Bytes bytes_;
  size_t at_ = 0;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  gpuvet::InspectOptions options{.kernels = gpuvet::KernelNames::all};
  gpuvet::MemoryStream memory(gpuvet::Bytes(data, size));
  gpuvet::inspect(memory, "x", options);
  Stream stream(gpuvet::Bytes(data, size));
  gpuvet::inspect(stream, "x", options);
  return 0;
}
