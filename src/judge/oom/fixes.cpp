#include "judge/oom/fixes.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace gpuvet {

bool fix_suits(const OomFix& fix, const std::string& framework, const std::string& template_id,
               bool expandable) {
  auto names = [&](const std::string& name) { return name == framework || name == template_id; };
  auto holds = [&](const std::string& what) {
    return (what == "expandable" && expandable) || what == template_id;
  };
  if (std::any_of(fix.unless.begin(), fix.unless.end(), holds)) return false;
  return fix.frameworks.empty() || std::any_of(fix.frameworks.begin(), fix.frameworks.end(), names);
}

std::string frameworks_of(const OomFix& fix, const OomTables& tables) {
  std::vector<std::string> titles;
  for (const OomFramework& row : tables.frameworks)
    if (std::find(fix.frameworks.begin(), fix.frameworks.end(), row.id) != fix.frameworks.end())
      titles.push_back(row.title);
  return joined(titles, " or ");
}

std::string alloc_conf(const OomTables& tables, const OomMessage* message) {
  const OomVariable* variable = nullptr;
  for (const OomVariable& row : tables.variables)
    if (row.framework == "pytorch" && !row.formerly.empty()) variable = &row;
  if (variable == nullptr) return {};
  if (message == nullptr || message->framework != "pytorch") return variable->name;
  const std::string advice = message->word("advice");
  if (const size_t equals = advice.find('='); equals != std::string::npos)
    return advice.substr(0, equals);
  const std::string& id = message->template_id;
  return id == "torch-1.4" || id == "torch-2.1" ? variable->formerly : variable->name;
}

} // namespace gpuvet
