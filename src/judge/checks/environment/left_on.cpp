#include "judge/checks/environment/left_on.hpp"

#include "judge/checks/common.hpp"

#include <fmt/core.h>

namespace gpuvet {

Outcome left_on(const Machine& machine, const std::vector<std::string>& names,
                const std::function<bool(const std::string& value)>& matters) {
  Outcome outcome = fires({});
  auto add = [&](const std::string& name, const SetHere& setting) {
    outcome.evidence.push_back(setting.where);
    auto& fields = outcome.fields;
    if (fields.empty()) {
      fields["name"] = name;
      fields["value"] = setting.value;
      fields["place"] = setting.here           ? "here"
                        : setting.file.empty() ? "in " + setting.process
                                               : setting.file + ":" + setting.line;
    }
    if (setting.here) fields.emplace("variable", name);
    if (!setting.process.empty()) fields.emplace("process", setting.process);
    if (!setting.file.empty()) {
      fields.emplace("file", setting.file);
      fields.emplace("line", setting.line);
    }
  };
  for (const std::string& name : names)
    for (const SetHere& setting : settings_of(machine, name))
      if (matters(setting.value)) add(name, setting);
  if (outcome.evidence.empty())
    return ok(names.size() == 1 ? names.front() + " is not set so" : "none of them is set so");
  return outcome;
}

} // namespace gpuvet
