// Checks of the driver: modules, versions, flavour, packages.
#include "judge/checks/subjects.hpp"

#include <fmt/core.h>

namespace gpuvet {
namespace {

Outcome library_mismatch(const Machine& machine, const Facts&) {
  const Observed<std::string>& module = machine.kernel.module_version;
  const Observed<std::string>& user = machine.driver.user_version;
  if (machine.surroundings.wsl) return not_applicable("under WSL the module is Windows' driver");
  if (!module) return not_known(module.why_unknown);
  if (!user) return not_known(user.why_unknown);
  if (*module == *user) return ok(fmt::format("both are {}", *module));
  return fires(
      {fmt::format("{}: {}", module.source, *module), fmt::format("{}: {}", user.source, *user)},
      {{"user", *user}, {"module", *module}});
}

} // namespace

CheckList driver_checks() {
  return {{"driver-library-mismatch", library_mismatch}};
}

} // namespace gpuvet
