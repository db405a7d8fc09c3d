#include "cli/machine_source.hpp"

#include "gpu/ask.hpp"
#include "probe/image_recording.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <unistd.h>

namespace gpuvet {
namespace {

constexpr double kWithin = 0.95; // of the deadline, for the children: their answers must come first

LibraryQuestions ask_this_machine(const MachineOptions& options) {
  AskOptions asking;
  asking.deadline_s = options.deadline_s * kWithin;
  asking.contexts = options.contexts;
  LibraryQuestions questions;
  if (options.cuda) {
    auto cuda = std::make_shared<CudaQuestion>(start_cuda(asking));
    questions.cuda = [cuda] { return collect(*cuda); };
  } else {
    questions.cuda = [] {
      CudaAnswers answers;
      answers.asked.problem = "not asked (--no-cuda)";
      return answers;
    };
  }
  asking.read_roms = options.read_roms;
  auto nvml = std::make_shared<NvmlQuestion>(start_nvml(asking));
  questions.nvml = [nvml] { return collect(*nvml); };
  return questions;
}

} // namespace

void add_machine_options(CLI::App& app, MachineOptions& options) {
  auto* image = app.add_option("--image", options.image,
                               "a recorded machine: file of gpuvet snapshot, or folder")
                    ->type_name("FILE");
  app.add_option("--root", options.root, "files of another system: unpacked image, mounted disk")
      ->type_name("DIR")
      ->excludes(image);
  app.add_option("--python", options.pythons, "look at this interpreter's packages too")
      ->type_name("EXE")
      ->allow_extra_args(false);
  app.add_option("--deadline", options.deadline_s, "answer after this time, complete or not")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.01, 3600.0))
      ->capture_default_str();
  app.add_flag("!--no-cuda", options.cuda, "do not ask the CUDA driver (the slowest question)");
  app.add_flag("--contexts", options.contexts, "make a CUDA context on each GPU");
  app.add_flag("--import", options.import_packages,
               "run the interpreters' imports too, each in a child process");
}

Result<Source> machine_source(const MachineOptions& options) {
  if (!options.image.empty()) {
    auto recording = load_recording(options.image);
    if (!recording) return tl::unexpected<Error>(recording.error());
    return replay_source(*recording);
  }
  if (!options.root.empty()) return image_source(options.root);
  return live_source(ask_this_machine(options));
}

Machine see_machine(const Source& source, const MachineOptions& options) {
  ProbeOptions probing;
  probing.pythons = options.pythons;
  probing.cuda = true; // the question says itself that it was not asked
  probing.import_packages = options.import_packages;
  return probe_machine(source, probing, options.deadline_s);
}

void leave(int status) {
  std::fflush(nullptr);
  _exit(status);
}

} // namespace gpuvet
