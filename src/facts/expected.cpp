#include "facts/readers.hpp"

namespace gpuvet {

void read_expected(FactFile& file, Expected& expected) {
  for (const PackedRow& packed : file.rows("companion")) {
    FactRow row(file, packed);
    Companion companion;
    companion.package = row.text("package");
    companion.version = row.version("version");
    companion.of = row.text("of");
    companion.of_version = row.version("of_version");
    companion.or_newer = row.flag("or_newer");
    companion.source = row.source();
    row.end();
    expected.companions.push_back(std::move(companion));
  }
  for (const PackedRow& packed : file.rows("glibc_clash")) {
    FactRow row(file, packed);
    GlibcClash clash;
    clash.last_cuda = row.version("last_cuda");
    clash.first_glibc = row.version("first_glibc");
    clash.functions = row.text("functions");
    clash.source = row.source();
    row.end();
    expected.glibc_clashes.push_back(std::move(clash));
  }
  for (const PackedRow& packed : file.rows("instance")) {
    FactRow row(file, packed);
    InstanceType type;
    type.cloud = row.text("cloud");
    type.type = row.text("type");
    type.gpus = row.count("gpus");
    type.gpu = row.text("gpu");
    type.nvswitch = row.flag("nvswitch");
    type.vgpu = row.flag("vgpu");
    type.source = row.source();
    row.end();
    expected.instances.push_back(std::move(type));
  }
}

const InstanceType* find_instance(const Expected& expected, std::string_view cloud,
                                  std::string_view type) {
  const InstanceType* wild = nullptr;
  for (const InstanceType& row : expected.instances) {
    if (row.cloud != cloud) continue;
    if (row.type == type) return &row;
    std::string_view head = row.type;
    if (!head.ends_with('*')) continue;
    head.remove_suffix(1);
    if (!wild && type.starts_with(head)) wild = &row;
  }
  return wild;
}

} // namespace gpuvet
