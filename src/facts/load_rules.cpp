#include "facts/readers.hpp"

namespace gpuvet {
namespace {

std::string confidence(FactRow& row) {
  std::string value = row.text_if("confidence");
  return value.empty() ? "high" : value;
}

Target target(FactRow& row) {
  auto value = parse_target(row.text("target"));
  if (!value) row.refuse("'target' is not a compute capability");
  return value.value_or(Target{});
}

} // namespace

void read_load_rules(FactFile& file, LoadRules& rules) {
  for (const PackedRow& packed : file.rows("target")) {
    FactRow row(file, packed);
    SassRange range;
    range.target = target(row);
    range.first_cuda = row.text("first_cuda");
    range.last_cuda = row.text_if("last_cuda");
    range.note = row.text_if("note");
    range.source = row.source();
    row.end();
    rules.sass_ranges.push_back(std::move(range));
  }
  for (const PackedRow& packed : file.rows("family")) {
    FactRow row(file, packed);
    Family family;
    family.sm = row.count("sm");
    family.devices = row.counts("devices");
    family.first_cuda = row.text("first_cuda");
    family.last_cuda = row.text_if("last_cuda");
    family.note = row.text_if("note");
    family.source = row.source();
    row.end();
    rules.families.push_back(std::move(family));
  }
  for (const PackedRow& packed : file.rows("tegra")) {
    FactRow row(file, packed);
    TegraCapability tegra;
    tegra.sm = row.count("sm");
    tegra.name = row.text("name");
    tegra.note = row.text_if("note");
    tegra.source = row.source();
    row.end();
    rules.tegra.push_back(tegra.sm);
    rules.tegra_rows.push_back(std::move(tegra));
  }
  for (const PackedRow& packed : file.rows("ptx_isa")) {
    FactRow row(file, packed);
    PtxIsa isa;
    isa.isa = row.version("isa");
    isa.cuda = row.version("cuda");
    isa.has_toolkit = row.flag("toolkit", true);
    isa.note = row.text_if("note");
    isa.source = row.source();
    row.end();
    rules.ptx_isas.push_back(std::move(isa));
  }
  for (const PackedRow& packed : file.rows("architecture_word")) {
    FactRow row(file, packed);
    ArchitectureWord word;
    word.word = row.text("word");
    word.first_sm = row.count("first_sm");
    word.last_sm = row.count("last_sm");
    word.source = row.source();
    row.end();
    rules.architecture_words.push_back(std::move(word));
  }
  for (const PackedRow& packed : file.rows("dispatching_library")) {
    FactRow row(file, packed);
    DispatchingLibrary library;
    library.prefix = row.text("prefix");
    library.source = row.source();
    row.end();
    rules.dispatching_libraries.push_back(std::move(library));
  }
  for (const PackedRow& packed : file.rows("environment")) {
    FactRow row(file, packed);
    EnvironmentVariable variable;
    variable.name = row.text("name");
    variable.values = row.text("values");
    variable.effect = row.text("effect");
    variable.default_value = row.text_if("default");
    variable.confidence = confidence(row);
    variable.source = row.source();
    row.end();
    rules.environment.push_back(std::move(variable));
  }
}

void read_drivers(FactFile& file, LoadRules& rules) {
  for (const PackedRow& packed : file.rows("branch")) {
    FactRow row(file, packed);
    DriverBranch branch;
    branch.branch = row.count("branch");
    branch.cuda = row.version("cuda");
    branch.ptx_isa = row.version("ptx_isa");
    branch.confidence = confidence(row);
    branch.note = row.text_if("note");
    branch.source = row.source();
    row.end();
    rules.branches.push_back(std::move(branch));
  }
  for (const PackedRow& packed : file.rows("architecture_end")) {
    FactRow row(file, packed);
    ArchitectureEnd end;
    end.architecture = row.text("architecture");
    end.first_sm = row.count("first_sm");
    end.last_sm = row.count("last_sm");
    end.last_branch = row.count("last_branch");
    end.source = row.source();
    row.end();
    rules.ends.push_back(std::move(end));
  }
  for (const PackedRow& packed : file.rows("minor_floor")) {
    FactRow row(file, packed);
    MinorFloor floor;
    floor.cuda_major = row.count("cuda_major");
    floor.min_linux = row.text("min_linux");
    floor.min_windows = row.text_if("min_windows");
    floor.until_branch = row.count_if("until_branch");
    floor.note = row.text_if("note");
    floor.source = row.source();
    row.end();
    rules.floors.push_back(std::move(floor));
  }
}

} // namespace gpuvet
