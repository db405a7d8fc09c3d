#include "cli/scan_inputs.hpp"

#include "os/progress.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

namespace gpuvet {
namespace {

struct Found {
  size_t job = 0;
  Binary binary;
};

struct Shared {
  std::mutex mutex;
  std::vector<Found> found;
  ReadFiles read;
};

std::string compilers_text(const Binary& binary) {
  std::string names;
  for (const RuntimeCompiler& compiler : binary.runtime_compilers)
    names += (names.empty() ? "" : ", ") + compiler.name;
  return names;
}

bool worth_showing(const Binary& binary) {
  return !binary.containers.empty() || !binary.problems.empty() || !binary.notes.empty();
}

void run_job(const InputJob& job, size_t index, const InspectOptions& options, Shared& shared) {
  LeafSink sink;
  sink.leaf = [&](const std::string& path, ByteStream& content) {
    Binary binary = inspect(content, path, options);
    std::lock_guard lock(shared.mutex);
    if (!binary.runtime_compilers.empty())
      shared.read.compilers.push_back(
          fmt::format("{} ({})", path.substr(path.find_last_of("/!") + 1), compilers_text(binary)));
    if (worth_showing(binary))
      shared.found.push_back({index, std::move(binary)});
    else
      ++shared.read.without_code;
  };
  sink.error = [&](Error error) {
    std::lock_guard lock(shared.mutex);
    shared.read.errors.push_back(std::move(error));
  };
  job.run(sink);
}

} // namespace

ReadFiles read_inputs(Inputs inputs, const InspectOptions& options, const Terminal& terminal) {
  Shared shared;
  shared.read.errors = inputs.errors;
  uint64_t total = 0;
  for (const InputJob& job : inputs.jobs)
    total += job.size;
  std::vector<size_t> order = largest_first(inputs.jobs);
  std::atomic<size_t> next{0};
  Progress progress(terminal, "scanning", total);
  auto work = [&] {
    for (size_t at; (at = next.fetch_add(1)) < order.size();) {
      const InputJob& job = inputs.jobs[order[at]];
      run_job(job, order[at], options, shared);
      progress.add(job.size, job.path);
    }
  };
  size_t cores = std::max(1u, std::thread::hardware_concurrency());
  size_t count = std::min({cores, order.size(), size_t{16}});
  {
    std::vector<std::jthread> threads;
    for (size_t i = 1; i < count; ++i)
      threads.emplace_back(work);
    work();
  }
  progress.done();
  std::sort(shared.found.begin(), shared.found.end(), [](const Found& a, const Found& b) {
    return a.job != b.job ? a.job < b.job : a.binary.path < b.binary.path;
  });
  for (Found& found : shared.found)
    shared.read.binaries.push_back(std::move(found.binary));
  std::sort(shared.read.compilers.begin(), shared.read.compilers.end());
  std::sort(shared.read.errors.begin(), shared.read.errors.end(),
            [](const Error& a, const Error& b) { return a.where < b.where; });
  return std::move(shared.read);
}

} // namespace gpuvet
