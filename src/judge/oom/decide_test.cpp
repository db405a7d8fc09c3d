// Each branch of the order of decisions with a text that leads to it, and one just beside it that
// does not. Lines marked "seen" are from public reports.
#include "judge/oom/testing/logs.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace gpuvet {
namespace {

using testing::conclusion;
using testing::oom_evidence;
using testing::oom_tables;

// A message of PyTorch 2.2 and newer.
struct Torch {
  const char* requested = "1.00 GiB";
  const char* total = "80.00 GiB";
  const char* free = "0.50 GiB";
  std::string processes = {}; // "Process 7 has 1.00 GiB memory in use. "
  const char* self = "79.00 GiB";
  const char* allocated = "78.00 GiB";
  const char* in_private = nullptr;
  const char* unallocated = "0.10 GiB";
  const char* limit = nullptr;

  std::string text() const {
    std::string made = fmt::format(
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {}. GPU 0 has a total "
        "capacity of {} of which {} is free. {}",
        requested, total, free, processes);
    if (self)
      made +=
          fmt::format("Including non-PyTorch memory, this process has {} memory in use. ", self);
    if (limit) made += fmt::format("{} allowed; ", limit);
    made += fmt::format("Of the allocated memory {} is allocated by PyTorch, ", allocated);
    if (in_private)
      made += fmt::format("with {} allocated in private pools (e.g., CUDA Graphs), ", in_private);
    made +=
        fmt::format("and {} is reserved by PyTorch but unallocated. If reserved but unallocated "
                    "memory is large try "
                    "setting PYTORCH_ALLOC_CONF=expandable_segments:True to avoid fragmentation.",
                    unallocated);
    return made;
  }
};

std::string says(const Torch& message) {
  return conclusion(message.text());
}

// --- 0: requests that cannot be meant -----------------------------------------------------------

TEST(OomDecide, ImpossibleRequest) {
  EXPECT_EQ(says({.requested = "130206.04 GiB"}), "certain impossible-request");     // seen
  EXPECT_EQ(says({.requested = "6080.27 GiB"}), "certain impossible-request");       // seen
  EXPECT_EQ(says({.requested = "8589934592.00 GiB"}), "certain impossible-request"); // 2^63
  EXPECT_EQ(says({.requested = "640.01 GiB"}), "certain impossible-request");
  EXPECT_EQ(says({.requested = "640.00 GiB"}), "certain larger-than-gpu"); // eight times the GPU
}

TEST(OomDecide, LargerThanTheGpu) {
  EXPECT_EQ(says({.requested = "80.01 GiB"}), "certain larger-than-gpu");
  EXPECT_EQ(says({.requested = "80.00 GiB"}), "likely too-small");
}

TEST(OomDecide, OversubscribedUnderWindows) {
  // seen: ComfyUI on a card of 16 GiB
  EXPECT_EQ(conclusion("torch.OutOfMemoryError: Allocation on device 0 would exceed allowed "
                       "memory. (out of memory)\n"
                       "Currently allocated     : 22.43 GiB\nRequested               : 4.07 GiB\n"
                       "Device limit            : 16.00 GiB\nFree (according to CUDA): 0 bytes\n"),
            "certain host-oversubscription");
  EXPECT_EQ(conclusion("torch.OutOfMemoryError: Allocation on device 0 would exceed allowed "
                       "memory. (out of memory)\n"
                       "Currently allocated     : 15.43 GiB\nRequested               : 4.07 GiB\n"
                       "Device limit            : 16.00 GiB\nFree (according to CUDA): 0 bytes\n"),
            "likely too-small");
}

// --- 0b: limits ---------------------------------------------------------------------------------

TEST(OomDecide, SoftwareCap) {
  const Torch capped = {.requested = "250.00 MiB",
                        .total = "79.19 GiB",
                        .free = "2.07 GiB",
                        .self = "77.11 GiB",
                        .allocated = "74.23 GiB",
                        .unallocated = "943.54 MiB",
                        .limit = "75.23 GiB"}; // seen
  EXPECT_EQ(says(capped), "certain software-cap");
  Torch above = capped;
  above.limit = "79.00 GiB"; // more than 98 % of the GPU is no limit
  EXPECT_EQ(says(above), "possible refused-though-free");
  Torch below = capped;
  below.limit = "76.00 GiB"; // not reached: 74.23 + 0.92 + 0.24
  EXPECT_EQ(says(below), "possible refused-though-free");
  // seen: a limit of 50 GiB, 9.58 GiB allocated, and nothing free: not the limit
  EXPECT_EQ(says({.requested = "2.00 GiB",
                  .total = "191.69 GiB",
                  .free = "0 bytes",
                  .self = nullptr,
                  .allocated = "9.58 GiB",
                  .unallocated = "0.20 GiB",
                  .limit = "50.00 GiB"}),
            "likely outside-allocator");
}

TEST(OomDecide, LimitsOfOthers) {
  EXPECT_EQ(
      conclusion(
          "Out of memory allocating 3,000,000,000 bytes (allocated so far: 0 bytes, limit set to: "
          "1,000,000,000 bytes)."),
      "certain software-cap");
  // seen: the limit is 2^64 - 1, which is none
  EXPECT_EQ(conclusion("Out of memory allocating 285,296,072 bytes (allocated so far: "
                       "7,381,975,040 bytes, limit set to: "
                       "18,446,744,073,709,551,615 bytes)."),
            "possible too-small, possible cuda-memory-taken, possible preallocation");
  EXPECT_EQ(
      conclusion(
          "Out of memory error on GPU 0. Cannot allocate 512.000000MB memory on GPU 0, 1.900000GB "
          "memory has "
          "been allocated and available memory is only 100.000000MB.\n\n"
          "2. If no, please decrease the batch size of your model. Or set environment variable "
          "`FLAGS_gpu_memory_limit_mb` to a larger value. Currently `FLAGS_gpu_memory_limit_mb` is "
          "2048, so "
          "the maximum GPU memory usage is limited to 2048 MB."),
      "certain software-cap");
}

// --- 1: fragmentation ---------------------------------------------------------------------------

TEST(OomDecide, Fragmentation) {
  // seen: 2.78 GiB unused, 1.03 GiB wanted
  EXPECT_EQ(conclusion("CUDA out of memory. Tried to allocate 1.03 GiB (GPU 0; 11.93 GiB total "
                       "capacity; 7.81 GiB already "
                       "allocated; 755.69 MiB free; 10.59 GiB reserved in total by PyTorch)"),
            "certain pool-fragmentation");
  // unused and free together are enough
  EXPECT_EQ(says({.requested = "6.00 GiB",
                  .free = "2.00 GiB",
                  .self = "77.50 GiB",
                  .allocated = "72.00 GiB",
                  .unallocated = "4.80 GiB"}),
            "certain pool-fragmentation");
  // just not enough together, and too little for "likely"
  EXPECT_EQ(says({.requested = "7.00 GiB",
                  .free = "2.00 GiB",
                  .self = "77.50 GiB",
                  .allocated = "72.00 GiB",
                  .unallocated = "4.80 GiB"}),
            "likely too-small");
  // much unused, at least half of the request
  EXPECT_EQ(says({.requested = "24.00 GiB",
                  .free = "2.00 GiB",
                  .self = "77.50 GiB",
                  .allocated = "62.00 GiB",
                  .unallocated = "14.00 GiB"}),
            "likely pool-fragmentation, likely too-small");
}

// The advice is printed always. A pool that is nearly full is not in pieces.
TEST(OomDecide, AFullPoolIsNotFragmented) {
  // seen: 196.71 MiB unused in a pool of 22.3 GiB, 34 MiB wanted
  EXPECT_EQ(says({.requested = "34.00 MiB",
                  .total = "23.56 GiB",
                  .free = "27.94 MiB",
                  .processes = "Process 99 has 22.86 GiB memory in use. ",
                  .self = nullptr,
                  .allocated = "22.08 GiB",
                  .in_private = "24.00 MiB",
                  .unallocated = "196.71 MiB"}),
            "likely too-small, possible gpu-memory-without-process");
  EXPECT_EQ(says({.requested = "1.00 GiB",
                  .free = "0 bytes",
                  .self = "79.90 GiB",
                  .allocated = "75.80 GiB",
                  .unallocated = "3.80 GiB"}), // 4.8 % of the pool
            "likely too-small");
  EXPECT_EQ(says({.requested = "1.00 GiB",
                  .free = "0 bytes",
                  .self = "79.90 GiB",
                  .allocated = "75.00 GiB",
                  .unallocated = "4.20 GiB"}), // 5.3 %
            "certain pool-fragmentation");
}

TEST(OomDecide, GraphPools) {
  EXPECT_EQ(says({.requested = "1.00 GiB",
                  .free = "0.20 GiB",
                  .self = "79.60 GiB",
                  .allocated = "78.90 GiB",
                  .in_private = "46.22 GiB",
                  .unallocated = "0.20 GiB"}),
            "certain graph-pools");
  EXPECT_EQ(says({.requested = "1.00 GiB",
                  .free = "0.20 GiB",
                  .self = "79.60 GiB",
                  .allocated = "78.90 GiB",
                  .in_private = "15.90 GiB",
                  .unallocated = "0.20 GiB"}), // under 20 % of the GPU
            "likely too-small");
}

// --- 2: others ----------------------------------------------------------------------------------

TEST(OomDecide, AnotherProcess) {
  EXPECT_EQ(says({.requested = "1.95 GiB",
                  .total = "14.57 GiB",
                  .free = "1.58 GiB",
                  .processes = "Process 2493055 has 12.02 GiB memory in use. ",
                  .self = "966.00 MiB",
                  .allocated = "734.07 MiB",
                  .unallocated = "33.93 MiB"}), // seen
            "certain cuda-memory-taken");
  // a desktop's 256 MiB would have served this request and no other
  EXPECT_EQ(says({.requested = "0.60 GiB",
                  .free = "0.40 GiB",
                  .processes = "Process 7 has 256.00 MiB memory in use. ",
                  .self = "79.30 GiB",
                  .allocated = "78.50 GiB",
                  .unallocated = "0.10 GiB"}),
            "likely too-small, possible cuda-memory-taken");
  // what the other holds is not enough
  EXPECT_EQ(says({.requested = "30.00 GiB",
                  .free = "1.00 GiB",
                  .processes = "Process 7 has 20.00 GiB memory in use. ",
                  .self = "58.90 GiB",
                  .allocated = "58.00 GiB",
                  .unallocated = "0.10 GiB"}),
            "likely too-small");
}

TEST(OomDecide, ContextsOfWorkers) {
  std::string workers;
  for (int i = 0; i < 24; ++i)
    workers += fmt::format("Process {} has 520.00 MiB memory in use. ", 4000 + i);
  EXPECT_EQ(says({.requested = "2.00 GiB",
                  .free = "0.30 GiB",
                  .processes = workers,
                  .self = "67.40 GiB",
                  .allocated = "66.00 GiB",
                  .unallocated = "0.20 GiB"}),
            "certain contexts-per-worker");
  // sizes that differ are other programs
  EXPECT_EQ(says({.requested = "0.90 GiB",
                  .free = "0.30 GiB",
                  .processes = "Process 1 has 210.00 MiB memory in use. Process 2 has 890.00 MiB "
                               "memory in use. Process 3 "
                               "has 4.00 GiB memory in use. ",
                  .self = "74.50 GiB",
                  .allocated = "73.50 GiB",
                  .unallocated = "0.20 GiB"}),
            "certain cuda-memory-taken");
}

// In a container the program finds itself under the host's number.
TEST(OomDecide, ItselfUnderAnotherNumber) {
  // seen
  EXPECT_EQ(says({.requested = "1.11 GiB",
                  .total = "39.39 GiB",
                  .free = "345.94 MiB",
                  .processes = "Process 1618370 has 39.04 GiB memory in use. ",
                  .self = nullptr,
                  .allocated = "37.50 GiB",
                  .unallocated = "1.05 GiB"}),
            "likely too-small");
  // here the list leaves room for this process beside the other: it is another one
  EXPECT_EQ(says({.requested = "1.11 GiB",
                  .total = "39.39 GiB",
                  .free = "345.94 MiB",
                  .processes = "Process 1618370 has 20.04 GiB memory in use. ",
                  .self = nullptr,
                  .allocated = "17.50 GiB",
                  .unallocated = "0.30 GiB"}),
            "certain cuda-memory-taken");
}

// --- 3: nobody ----------------------------------------------------------------------------------

TEST(OomDecide, MemoryOfNobody) {
  EXPECT_EQ(says({.requested = "2.00 GiB",
                  .free = "0.40 GiB",
                  .self = "49.00 GiB",
                  .allocated = "48.00 GiB",
                  .unallocated = "0.40 GiB"}),
            "likely gpu-memory-without-process");
  // 1.5 GiB are under 2 % of the GPU
  EXPECT_EQ(says({.requested = "1.50 GiB",
                  .free = "0.40 GiB",
                  .self = "78.10 GiB",
                  .allocated = "77.20 GiB",
                  .unallocated = "0.40 GiB"}),
            "likely too-small");
}

TEST(OomDecide, OldMessagesThatTellNoProcesses) {
  // seen: 6.59 GiB of 79 GiB are this program's
  EXPECT_EQ(conclusion("CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 79.15 GiB total "
                       "capacity; 6.38 GiB already "
                       "allocated; 3.44 MiB free; 6.59 GiB reserved in total by PyTorch)"),
            "likely outside-allocator");
  // seen: 0.88 GiB are a context
  EXPECT_EQ(conclusion("CUDA out of memory. Tried to allocate 128.00 MiB (GPU 0; 10.91 GiB total "
                       "capacity; 9.93 GiB already "
                       "allocated; 41.25 MiB free; 9.99 GiB reserved in total by PyTorch)"),
            "likely too-small");
}

TEST(OomDecide, OtherLibraries) {
  EXPECT_EQ(says({.requested = "2.00 GiB",
                  .free = "0.40 GiB",
                  .self = "79.40 GiB",
                  .allocated = "66.00 GiB",
                  .unallocated = "0.40 GiB"}),
            "likely other-libraries");
  EXPECT_EQ(says({.requested = "2.00 GiB",
                  .free = "0.40 GiB",
                  .self = "79.40 GiB",
                  .allocated = "72.00 GiB",
                  .unallocated = "0.40 GiB"}), // 7 GiB are under 10 % of the GPU
            "likely too-small");
}

TEST(OomDecide, RefusedThoughFree) {
  // seen, WSL: the driver has no number for the process
  EXPECT_EQ(says({.requested = "20.00 MiB",
                  .total = "23.99 GiB",
                  .free = "7.20 GiB",
                  .self = "17179869184.00 GiB",
                  .allocated = "14.51 GiB",
                  .unallocated = "685.18 MiB"}),
            "likely refused-though-free");
  EXPECT_EQ(says({.requested = "0.50 GiB", .free = "0.50 GiB"}), "possible refused-though-free");
  EXPECT_EQ(says({.requested = "0.51 GiB", .free = "0.50 GiB"}), "likely too-small");
}

// --- 5: a leak, never from a single message -----------------------------------------------------

std::string training_log(int steps, int from_mib, int per_step_mib) {
  std::string text;
  for (int i = 0; i < steps; ++i)
    text += fmt::format("step {} loss 0.{} mem_allocated: {} MB\n", i * 10, 900 - i,
                        from_mib + per_step_mib * i);
  return text;
}

TEST(OomDecide, LeakOnlyWithASeriesThatRises) {
  const std::string full = Torch{.requested = "0.60 GiB", .free = "0.50 GiB"}.text();
  EXPECT_EQ(conclusion(full), "likely too-small");
  EXPECT_EQ(conclusion(training_log(40, 30000, 1000) + full), "likely leak, likely too-small");
  EXPECT_EQ(conclusion(training_log(40, 70000, 0) + full), "likely too-small");
  EXPECT_EQ(conclusion(training_log(6, 30000, 5000) + full), "likely too-small"); // too few
}

TEST(OomDecide, WhatIsProvedComesBeforeALeak) {
  EXPECT_EQ(conclusion(training_log(40, 30000, 1000) + Torch{.requested = "130206.04 GiB"}.text()),
            "certain impossible-request, likely leak");
}

TEST(OomDecide, ASeriesWithoutAFailure) {
  EXPECT_EQ(conclusion(training_log(40, 2000, 100)), "likely leak");
  EXPECT_EQ(conclusion(training_log(40, 2000, 0)), "none");
}

TEST(OomDecide, PaddleGrowsByStep) {
  // seen: allocated memory under the new IR, then out of memory
  const std::vector<int> allocated = {825,  1020, 1229, 1698, 1920, 2059,
                                      2492, 2596, 2716, 2939, 3044};
  std::string text;
  for (size_t i = 0; i < allocated.size(); ++i)
    text += fmt::format("Epoch: [0] [ {:3}/6250] mem_allocated: {} MB mem_reserved: 8822 MB\n", i,
                        allocated[i]);
  EXPECT_EQ(conclusion(text + "Out of memory error on GPU 0. Cannot allocate 27.000000MB memory on "
                              "GPU 0, 10.906372GB memory "
                              "has been allocated and available memory is only 4.062500MB."),
            "likely leak, possible too-small, possible cuda-memory-taken");
}

// --- pools and engines --------------------------------------------------------------------------

std::string bfc(const char* requested, uint64_t pool, uint64_t in_use) {
  return fmt::format("Allocator (GPU_0_bfc) ran out of memory trying to allocate {} (rounded to "
                     "491520000)requested by op x\n"
                     "Limit:     {}\nInUse:     {}\nMaxInUse:     {}\n",
                     requested, pool, in_use, pool);
}

TEST(OomDecide, PoolOfTensorFlow) {
  EXPECT_EQ(conclusion(bfc("468.75MiB", 3502964736, 589212672)), "certain bfc-fragmentation");
  EXPECT_EQ(conclusion(bfc("468.75MiB", 3502964736, 3502964736 - 491520000)),
            "certain bfc-fragmentation");
  EXPECT_EQ(conclusion(bfc("468.75MiB", 3502964736, 3502964736 - 491519999)),
            "likely too-small, possible cuda-memory-taken");
  EXPECT_EQ(conclusion(bfc("468.75MiB", 491519999, 0)), "certain larger-than-gpu");
}

TEST(OomDecide, BenignLinesOfTensorFlow) {
  EXPECT_EQ(conclusion("Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.25GiB with "
                       "freed_by_count=0. The caller "
                       "indicates that this is not a failure, but may mean that there could be "
                       "performance gains if more "
                       "memory were available."),
            "none");
  EXPECT_EQ(conclusion("OOM when allocating tensor with shape[8,8] and type float on /device:CPU:0 "
                       "by allocator cpu"),
            "none");
}

TEST(OomDecide, Xla) {
  const std::string warning = "Can't reduce memory use below 2.58GiB (2770249646 bytes) by "
                              "rematerialization; only reduced to "
                              "31.49GiB (33811139404 bytes)\n"; // seen
  EXPECT_EQ(conclusion(warning), "none");                       // by itself it is a warning
  EXPECT_EQ(
      conclusion(warning +
                 "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 33762398024 bytes."),
      "certain compile-over-budget");
  EXPECT_EQ(conclusion("Can't reduce memory use below 17.97GiB (19297974672 bytes) by "
                       "rematerialization; only reduced to "
                       "20.51GiB (22027581828 bytes)\nRESOURCE_EXHAUSTED: Out of memory while "
                       "trying to allocate 2.00GiB"),
            "certain compile-over-budget");
  EXPECT_EQ(conclusion("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 41.70TiB"),
            "certain impossible-request");
}

// Texts from public reports that once misled.
TEST(OomDecide, Seen) {
  // a limit is reached, and 7 GiB of what it counts lie unused
  EXPECT_EQ(says({.requested = "3.98 GiB",
                  .total = "31.84 GiB",
                  .free = "16.30 GiB",
                  .self = "17179869184.00 GiB",
                  .allocated = "6.74 GiB",
                  .unallocated = "7.02 GiB",
                  .limit = "17.51 GiB"}),
            "certain software-cap, certain pool-fragmentation");
  // Paddle under Windows tells nothing
  EXPECT_EQ(
      conclusion("Out of memory error on GPU 0. Cannot allocate 240.250244MB memory on GPU 0, "
                 "0.000000B memory has been allocated and available memory is only 0.000000B."),
      "possible too-small, possible cuda-memory-taken, possible leak");
  EXPECT_EQ(conclusion("RESOURCE_EXHAUSTED: Out of memory while trying to\nallocate 46.86GiB. [x]"),
            "possible too-small, possible preallocation, possible cuda-memory-taken");
}

TEST(OomDecide, Vllm) {
  const char* head = "Free memory on device cuda:0 ({}/80.00 GiB) on startup is less than desired "
                     "GPU memory utilization "
                     "(0.95, 76.00 GiB).";
  EXPECT_EQ(conclusion(fmt::format(fmt::runtime(head), "40.00")), "certain cuda-memory-taken");
  EXPECT_EQ(conclusion(fmt::format(fmt::runtime(head), "75.50")), "certain startup-share");
  // seen on a DGX Spark: the page cache counts as taken there
  EXPECT_EQ(
      conclusion("Free memory on device (61.05/119.7 GiB) on startup is less than desired GPU "
                 "memory utilization (0.52, 62.24 GiB)"),
      "possible page-cache, possible cuda-memory-taken");
  EXPECT_EQ(conclusion("To serve at least one request with the model's max seq len (2048), 0.28 "
                       "GiB KV cache is needed, which "
                       "is larger than the available KV cache memory (0.17 GiB)."),
            "certain kv-cache-too-small");
}

// --- errors without numbers: never a confident answer -------------------------------------------

TEST(OomDecide, WithoutNumbersSeveralRemain) {
  for (const char* text :
       {"RuntimeError: CUDA error: out of memory", "cudaErrorMemoryAllocation: out of memory",
        "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling "
        "`cublasCreate(handle)`",
        "Failed to determine best cudnn convolution algorithm",
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB"}) {
    SCOPED_TRACE(text);
    const OomEvidence evidence = oom_evidence(text);
    const OomReport report = judge_oom(evidence, oom_tables());
    EXPECT_EQ(report.outcome, OomOutcome::open);
    EXPECT_GE(report.verdicts.size(), 2U);
    EXPECT_FALSE(report.question.empty());
  }
}

TEST(OomDecide, AnErrorOfALibraryIsAConsequence) {
  const OomEvidence evidence =
      oom_evidence("RuntimeError: CUBLAS_STATUS_NOT_INITIALIZED\n" + Torch{}.text());
  const OomReport report = judge_oom(evidence, oom_tables());
  ASSERT_NE(report.message, nullptr);
  EXPECT_EQ(report.message->template_id, "torch-2.10");
}

TEST(OomDecide, MemorySummaryWithFailures) {
  const char* table =
      "|                  PyTorch CUDA memory summary, device ID 0                 |\n"
      "|            CUDA OOMs: {}            |        cudaMalloc retries: 3         |\n"
      "| Allocated memory      |  39.8 GiB  |  41.2 GiB  |  1.9 TiB   |  1.9 TiB  |\n"
      "| GPU reserved memory   |  72.0 GiB  |  72.0 GiB  |  72.0 GiB  |   0 B     |\n"
      "| Non-releasable memory |  30.1 GiB  |  31.5 GiB  |  1.4 TiB   |  1.4 TiB  |\n";
  EXPECT_EQ(conclusion(fmt::format(fmt::runtime(table), 1)), "likely pool-fragmentation");
  EXPECT_EQ(conclusion(fmt::format(fmt::runtime(table), 0)), "none"); // nothing failed
}

// --- healthy texts ------------------------------------------------------------------------------

TEST(OomDecide, HealthyTextsWithMemoryNumbers) {
  for (const char* text : {
           "GPU memory allocated: 2.00 GB",
           "[INFO] 98 % of GPU memory in use, 1.00 GiB free",
           "If you get CUDA out of memory errors, reduce --batch-size.",
           "# avoid: CUDA out of memory",
           "except torch.cuda.OutOfMemoryError:",
           "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python train.py",
           "c++: fatal error: Killed signal terminated program cc1plus",
           "java.lang.OutOfMemoryError: Java heap space",
           "Out of memory: Killed process 4242 (cc1plus) total-vm:3103424kB",
           "MemoryError: Unable to allocate 7.45 GiB for an array with shape (1000000000,) and "
           "data type float64",
           "RuntimeError: [enforce fail at alloc_cpu.cpp:117] data. DefaultCPUAllocator: not "
           "enough memory: you tried to "
           "allocate 37984010240 bytes.",
           "std::bad_alloc",
           "fatal error: error writing to /tmp/cc.s: No space left on device",
           "Capturing CUDA graph shapes: 100%, graph pool 1.23 GiB",
           "INFO gpu_worker.py:298] Available KV cache memory: 11.32 GiB",
           "INFO: Tried to allocate a port, out of memory of earlier ones",
           "index, memory.used [MiB], memory.total [MiB]\n0, 103 MiB, 16303 MiB\n1, 8311 MiB, "
           "16303 MiB",
           "|   0  NVIDIA A100-SXM4-80GB  On   | 00000000:07:00.0 Off |                    0 |\n"
           "| N/A   32C    P0    64W / 400W |  81000MiB / 81920MiB |      0%      Default |",
           "ptxas info    : Used 255 registers, 400 bytes cmem[0]",
           "NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory",
       })
    EXPECT_EQ(conclusion(text), "none") << text;
}

// --- what the answer says -----------------------------------------------------------------------

OomReport report_of(const OomEvidence& evidence) {
  return judge_oom(evidence, oom_tables());
}

TEST(OomReport, AdviceThatMisleadsIsNamed) {
  const OomEvidence evidence = oom_evidence(Torch{}.text());
  const OomReport report = report_of(evidence);
  const std::string notes = joined(report.report.notes, "\n");
  EXPECT_NE(notes.find("advice (PYTORCH_ALLOC_CONF=expandable_segments:True) misleads"),
            std::string::npos)
      << notes;
  const OomEvidence fits = oom_evidence(Torch{.requested = "1.00 GiB",
                                              .free = "0 bytes",
                                              .allocated = "60.00 GiB",
                                              .unallocated = "18.00 GiB"}
                                            .text());
  EXPECT_EQ(joined(report_of(fits).report.notes, "\n").find("misleads"), std::string::npos);
}

TEST(OomReport, TheVariableHasTheNameThatTheVersionReads) {
  const std::string pieces = "Tried to allocate 1.03 GiB. GPU 0 has a total capacity of 11.93 GiB "
                             "of which 755.69 MiB is free. "
                             "Of the allocated memory 7.81 GiB is allocated by PyTorch, and 2.78 "
                             "GiB is reserved by PyTorch "
                             "but unallocated. If large try setting ";
  const OomEvidence now =
      oom_evidence("CUDA out of memory. " + pieces + "PYTORCH_ALLOC_CONF=expandable_segments:True");
  EXPECT_EQ(report_of(now).verdicts.front().fixes.front(),
            "export PYTORCH_ALLOC_CONF=expandable_segments:True");
  const OomEvidence then = oom_evidence("CUDA out of memory. " + pieces +
                                        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True");
  EXPECT_EQ(report_of(then).verdicts.front().fixes.front(),
            "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True");
  // What is set already is not advised again.
  const OomEvidence set =
      oom_evidence("PYTORCH_ALLOC_CONF=expandable_segments:True\nCUDA out of memory. " + pieces +
                   "PYTORCH_ALLOC_CONF=expandable_segments:True");
  EXPECT_TRUE(set.expandable_set);
  EXPECT_EQ(report_of(set).verdicts.front().fixes.front().find("expandable_segments"),
            std::string::npos);
}

TEST(OomReport, UnknownNumbersStayUnknown) {
  const OomEvidence evidence =
      oom_evidence(Torch{.free = "0.20 GiB", .self = "17179869184.00 GiB"}.text());
  const OomReport report = report_of(evidence);
  bool seen = false;
  for (const auto& row : report.report.tables.front().rows)
    if (row[0].text == "this process") {
      seen = true;
      EXPECT_EQ(row[1].text, "unknown");
      EXPECT_NE(row[2].text.find("not available"), std::string::npos);
    }
  EXPECT_TRUE(seen);
}

} // namespace
} // namespace gpuvet
