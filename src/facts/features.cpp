#include "facts/readers.hpp"

#include <algorithm>

namespace gpuvet {

void read_features(FactFile& file, FeatureTables& tables) {
  for (const PackedRow& packed : file.rows("feature")) {
    FactRow row(file, packed);
    Feature feature;
    feature.id = row.text("id");
    feature.name = row.text("name");
    feature.group = row.text("group");
    feature.first_sm = row.count("first_sm");
    feature.last_sm = row.count_if("last_sm");
    feature.except = row.counts("except");
    feature.target = row.text_if("target");
    feature.note = row.text_if("note");
    feature.note_for = row.counts("note_for");
    feature.sources = row.sources();
    row.end();
    tables.features.push_back(std::move(feature));
  }
  for (const PackedRow& packed : file.rows("limit")) {
    FactRow row(file, packed);
    CapabilityLimits limits;
    limits.sm = row.count("sm");
    limits.fp64_ratio = row.text("fp64");
    limits.blocks = row.count("blocks");
    limits.warps = row.count("warps");
    limits.threads = row.count("threads");
    limits.shared_sm_kib = row.count("shared_sm_kib");
    limits.shared_block_kib = row.count("shared_block_kib");
    limits.source = row.source();
    row.end();
    tables.limits.push_back(std::move(limits));
  }
}

bool has_feature(const Feature& feature, uint32_t sm) {
  return sm >= feature.first_sm && (!feature.last_sm || sm <= *feature.last_sm) &&
         std::find(feature.except.begin(), feature.except.end(), sm) == feature.except.end();
}

} // namespace gpuvet
