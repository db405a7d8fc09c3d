// One way of the link between pinned memory and a GPU: data that are new for each sample, copied as
// often as a sample takes, checked to the last byte by the side that received them.
#pragma once

#include "gpu/work/bandwidth/host_side.hpp"
#include "gpu/work/pieces.hpp"

#include <cstdint>

namespace gpuvet {

enum class Way : uint8_t { to_gpu, from_gpu };
enum class Carrier : uint8_t { copy_engine, kernel };

class HostCopy {
 public:
  HostCopy(Bench& bench, Way way, HostMemory&& host, Carrier carrier = Carrier::copy_engine);

  // The source holds the words of this seed, the destination others: what an earlier sample left
  // there, and at first the complement.
  void prepare(uint64_t seed);
  // One copy of the first `some` bytes.
  void enqueue(CudaStream stream, size_t some);
  void enqueue(CudaStream stream) { enqueue(stream, bytes()); }
  // Throws when one of the first `some` bytes of the destination is wrong; tells where as the word
  // first_place.
  void check(size_t some);
  void check() { check(bytes()); }

  size_t bytes() const { return host_.bytes(); }
  const HostMemory& host() const { return host_; }
  CudaPointer device() const { return device_.at(); }

 private:
  void device_fill(uint64_t seed, uint64_t flip);

  Bench& bench_;
  const Way way_;
  const Carrier carrier_;
  HostMemory host_;
  DeviceMemory device_;
  Stream stream_; // for what is not timed
  MismatchBox mismatches_;
  CudaFunction fill_, check_, copy_;
  const Grid grid_;
  uint64_t seed_ = 0;
  bool poisoned_ = false;
};

// Bytes per second of `copies` copies behind the gate.
double timed_rate(Gate& gate, Bench& bench, CudaStream stream, HostCopy& copy, unsigned copies,
                  size_t bytes);

// What the link moves, roughly: small copies until two in a row agree, for at least 0.3 s, in a
// short test 0.05 s, since a link that was idle may need that long to leave its lowest generation.
double first_look(Bench& bench, Gate& gate, CudaStream stream, HostSide& side, Way way,
                  double test_seconds);

} // namespace gpuvet
