#include "judge/diff/diff.hpp"

#include "judge/diff/parts.hpp"

namespace gpuvet {

namespace {

// A probe that was cut short leaves its first answer untouched: nothing of its part may be
// compared, or all of it would seem to be gone.
template <class T> bool was_probed(const Observed<T>& first_answer) {
  return first_answer || first_answer.why_unknown != Observed<T>{}.why_unknown;
}

bool runs(const Machine& machine) {
  return machine.seen != Seen::image_folder && was_probed(machine.kernel.functions);
}

} // namespace

MachineDiff diff_machines(const Machine& before, const Machine& after) {
  MachineDiff result;
  diff::Changes changes(result);
  const bool running = runs(before) && runs(after);
  const bool software = was_probed(before.packages.relevant) && was_probed(after.packages.relevant);
  const bool surroundings =
      was_probed(before.surroundings.container) && was_probed(after.surroundings.container);
  diff::compare_answers(before, after, changes);
  if (running) {
    diff::compare_driver(before, after, changes);
    diff::compare_gpus(before, after, result);
    diff::compare_modules(before, after, changes);
  } else if (before.seen == Seen::image_folder || after.seen == Seen::image_folder) {
    changes.not_compared("driver, kernel and GPUs", "a folder of files does not tell");
  }
  if (software) {
    diff::compare_driver_libraries(before, after, changes);
    diff::compare_toolkits(before, after, changes);
    diff::compare_loader(before, after, changes);
    diff::compare_packages(before, after, changes);
  }
  diff::compare_pythons(before, after, changes);
  diff::compare_environment(before, after, changes);
  if (software && running) diff::compare_settings_files(before, after, changes);
  diff::compare_gpu_settings(before, after, result);
  if (running) diff::compare_nodes(before, after, result);
  if (surroundings) {
    diff::compare_services(before, after, changes);
    diff::compare_surroundings(before, after, changes);
  }
  for (const std::string& part : before.not_finished)
    changes.not_compared(part, "was not finished in time before");
  for (const std::string& part : after.not_finished)
    changes.not_compared(part, "was not finished in time now");
  return result;
}

MachineDiff diff_pythons(const PythonEnv& before, const PythonEnv& after) {
  MachineDiff result;
  diff::Changes changes(result);
  diff::compare_python(before, after, "", changes);
  return result;
}

} // namespace gpuvet
