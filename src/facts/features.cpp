#include "facts/readers.hpp"

#include <algorithm>

namespace gpuvet {

void read_features(FactFile& file, std::vector<Feature>& features) {
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
    feature.sources = row.sources();
    row.end();
    features.push_back(std::move(feature));
  }
}

bool has_feature(const Feature& feature, uint32_t sm) {
  return sm >= feature.first_sm && (!feature.last_sm || sm <= *feature.last_sm) &&
         std::find(feature.except.begin(), feature.except.end(), sm) == feature.except.end();
}

} // namespace gpuvet
