// A libnccl.so.2 that adds on the CPU, for the fake libcuda. Steered by GPUVET_FAKE_NCCL
// (steering.hpp); it knows besides:
//   version=NUMBER (22809)   bus=RATE (350 GB/s)   wrong=RANK  that one gets a wrong bit
//   async=CODE               of ncclCommGetAsyncError
#include "device.hpp"
#include "gpu/work/libraries/nccl_api.hpp"

#include <cstring>

namespace gpuvet {

struct NcclCommHandle {
  int rank = 0, ranks = 0;
};

} // namespace gpuvet

namespace {

using namespace gpuvet;

const fake::Steering& words() {
  static const fake::Steering words("GPUVET_FAKE_NCCL");
  return words;
}

struct Call {
  const void* from;
  void* to;
  size_t count;
  int type;
  NcclComm comm;
  CudaStream stream;
};
std::vector<Call> waiting;
int groups = 0;

float value(uint16_t bf16) {
  const uint32_t bits = uint32_t{bf16} << 16;
  float made = 0;
  std::memcpy(&made, &bits, sizeof(made));
  return made;
}

template <class T, class Add> void sum_all(std::vector<T>& sum, Add&& add) {
  for (const Call& call : waiting)
    for (size_t at = 0; at < sum.size(); ++at)
      add(sum[at], call.from, at);
}

void deliver(const void* sum, size_t bytes) {
  const int ranks = waiting.front().comm->ranks;
  const double bus = std::atof(words().text("bus", "350").c_str()) * 1e9;
  const double seconds = static_cast<double>(bytes) * 2 * (ranks - 1) / ranks / bus;
  for (const Call& call : waiting) {
    std::memcpy(call.to, sum, bytes);
    if (call.comm->rank == words().number("wrong", -1)) static_cast<char*>(call.to)[bytes / 2] ^= 1;
    if (call.stream) call.stream->now_ns += seconds * 1e9;
  }
}

int run_group() {
  if (waiting.empty()) return 0;
  const Call first = waiting.front();
  if (waiting.size() != static_cast<size_t>(first.comm->ranks)) return 5;
  if (first.type == 2) {
    std::vector<uint32_t> sum(first.count);
    sum_all(sum, [](uint32_t& to, const void* from, size_t at) {
      to += static_cast<const uint32_t*>(from)[at];
    });
    deliver(sum.data(), sum.size() * 4);
  } else {
    std::vector<float> sum(first.count);
    sum_all(sum, [](float& to, const void* from, size_t at) {
      to += value(static_cast<const uint16_t*>(from)[at]);
    });
    std::vector<uint16_t> rounded;
    for (float each : sum) {
      uint32_t bits = 0;
      std::memcpy(&bits, &each, sizeof(bits));
      rounded.push_back(static_cast<uint16_t>(bits >> 16));
    }
    deliver(rounded.data(), rounded.size() * 2);
  }
  waiting.clear();
  return 0;
}

} // namespace

extern "C" {

#define ENTER()                                                                                    \
  if (int code = words().enter(__func__, -1)) return code

const char* ncclGetErrorString(int) {
  return "an error of a fake";
}

int ncclGetVersion(int* version) {
  ENTER();
  *version = words().number("version", 22809);
  return 0;
}

int ncclCommInitAll(NcclComm* comms, int count, const int*) {
  ENTER();
  for (int rank = 0; rank < count; ++rank)
    comms[rank] = new NcclCommHandle{rank, count};
  return 0;
}

int ncclCommDestroy(NcclComm comm) {
  delete comm;
  return 0;
}

int ncclCommAbort(NcclComm) {
  return 0;
}

int ncclCommGetAsyncError(NcclComm, int* found) {
  ENTER();
  *found = words().number("async", 0);
  return 0;
}

int ncclAllReduce(const void* from, void* to, size_t count, int type, int op, NcclComm comm,
                  CudaStream stream) {
  ENTER();
  if (op != 0 || (type != 2 && type != 9)) return 4;
  waiting.push_back({from, to, count, type, comm, stream});
  return groups == 0 ? run_group() : 0;
}

int ncclGroupStart() {
  ENTER();
  ++groups;
  return 0;
}

int ncclGroupEnd() {
  ENTER();
  return --groups == 0 ? run_group() : 0;
}

} // extern "C"
