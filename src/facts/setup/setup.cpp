#include "facts/setup/setup.hpp"

#include "facts/rows.hpp"

#include <algorithm>

namespace gpuvet {
namespace {

void read_distributions(FactFile& file, SetupTables& tables) {
  for (const PackedRow& packed : file.rows("distribution")) {
    FactRow row(file, packed);
    SetupDistribution one;
    one.name = row.text("name");
    one.title = row.text("title");
    one.ids = row.list("ids");
    one.version = row.text("version");
    one.packages = row.text("packages");
    one.tags = row.list("tags");
    one.codename = row.text_if("codename");
    one.crb = row.text_if("crb");
    one.gcc = row.count_if("gcc");
    one.source = row.source();
    row.end();
    tables.distributions.push_back(std::move(one));
  }
}

void read_packaged(FactFile& file, SetupTables& tables) {
  for (const PackedRow& packed : file.rows("packaged")) {
    FactRow row(file, packed);
    PackagedToolkits one;
    one.repository = row.text("repository");
    one.arch = row.text("arch");
    one.first = row.text_if("first");
    one.unsure = row.text_if("unsure");
    one.seen = row.text_if("seen");
    one.last = row.text_if("last");
    one.none = row.flag("none");
    one.first_driver = row.count_if("first_driver");
    one.source = row.source();
    row.end();
    auto known = [&](const SetupDistribution& d) { return d.name == one.repository; };
    if (std::none_of(tables.distributions.begin(), tables.distributions.end(), known))
      row.refuse("no distribution is called '" + one.repository + "'");
    if (one.first.empty() != one.seen.empty()) row.refuse("first and seen come together");
    tables.packaged.push_back(std::move(one));
  }
}

void read_systems(FactFile& file, SetupTables& tables) {
  for (const PackedRow& packed : file.rows("system")) {
    FactRow row(file, packed);
    PackageWords one;
    one.packages = row.text("packages");
    one.install = row.text("install");
    one.remove = row.text("remove");
    one.alternatives = row.text("alternatives");
    one.initramfs = row.text("initramfs");
    one.compiler = row.text("compiler");
    one.source = row.source();
    row.end();
    tables.systems.push_back(std::move(one));
  }
}

void read_flavours(FactFile& file, SetupTables& tables) {
  for (const PackedRow& packed : file.rows("flavour")) {
    FactRow row(file, packed);
    ModuleFlavour one;
    one.first_sm = row.count("first_sm");
    one.last_sm = row.count("last_sm");
    one.arch = row.text_if("arch");
    one.module = row.text("module");
    one.text = row.text("text");
    one.source = row.source();
    row.end();
    if (one.module != "proprietary" && one.module != "open" && one.module != "either")
      row.refuse("module is proprietary, open or either");
    tables.flavours.push_back(std::move(one));
  }
}

void read_script(FactFile& file, SetupTables& tables) {
  for (const PackedRow& packed : file.rows("helper")) {
    FactRow row(file, packed);
    SetupHelper one;
    one.name = row.text("name");
    one.needs = row.list("needs");
    one.unless = row.list("unless");
    one.run = row.list("run");
    row.end();
    tables.helpers.push_back(std::move(one));
  }
  for (const PackedRow& packed : file.rows("step")) {
    FactRow row(file, packed);
    SetupStep one;
    one.id = row.text("id");
    one.title = row.text("title");
    one.why = row.text_if("why");
    one.needs = row.list("needs");
    one.unless = row.list("unless");
    one.run = row.list("run");
    if (!one.run.empty()) one.source = row.source(); // places for removals have no source
    row.end();
    tables.steps.push_back(std::move(one));
  }
}

void read_removals(FactFile& file, SetupTables& tables) {
  for (const PackedRow& packed : file.rows("removal")) {
    FactRow row(file, packed);
    SetupRemoval one;
    one.check = row.text("check");
    one.stage = row.text("stage");
    one.title = row.text("title");
    one.why = row.text_if("why");
    std::string per = row.text_if("per");
    one.each = per == "each";
    one.needs = row.list("needs");
    one.run = row.list("run");
    one.source = row.source();
    row.end();
    if (!per.empty() && !one.each) row.refuse("per is each, or missing");
    if (one.stage != "repository" && one.stage != "software")
      row.refuse("stage is repository or software");
    tables.removals.push_back(std::move(one));
  }
}

} // namespace

void read_setup(FactFile& file, SetupTables& tables) {
  read_distributions(file, tables);
  read_packaged(file, tables);
  read_systems(file, tables);
  read_flavours(file, tables);
  read_script(file, tables);
  read_removals(file, tables);
}

} // namespace gpuvet
