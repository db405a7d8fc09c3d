#include "cli/diff_json.hpp"

#include "formats/json_write.hpp"

namespace gpuvet {

std::string diff_json(const MachineDiff& diff, const std::string& before,
                      const std::string& after) {
  Json changes = json_list();
  for (const Change& change : diff.changes) {
    Json json = json_object();
    set(json, "id", json_of(change.id));
    set(json, "subject", json_of(change.subject));
    set(json, "before", json_or_null(change.before));
    set(json, "after", json_or_null(change.after));
    changes.items.push_back(std::move(json));
  }
  Json not_compared = json_list();
  for (const NotCompared& part : diff.not_compared) {
    Json json = json_object();
    set(json, "subject", json_of(part.subject));
    set(json, "why", json_of(part.why));
    not_compared.items.push_back(std::move(json));
  }
  Json json = json_object();
  set(json, "schema", json_of("gpuvet-diff/1"));
  set(json, "before", json_of(before));
  set(json, "after", json_of(after));
  set(json, "changed", json_of(!diff.changes.empty()));
  set(json, "changes", std::move(changes));
  set(json, "not_compared", std::move(not_compared));
  return write_json(json);
}

} // namespace gpuvet
