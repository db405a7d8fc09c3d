#include "facts/readers.hpp"

namespace gpuvet {

void read_buildvars(FactFile& file, BuildTables& tables) {
  for (const PackedRow& packed : file.rows("tool")) {
    FactRow row(file, packed);
    BuildVariable tool;
    tool.tool = row.text("name");
    tool.variables = row.list("variables");
    tool.number_format = row.text_if("number_format");
    tool.separator = row.text_if("separator");
    tool.ptx_syntax = row.text_if("ptx");
    tool.keywords = row.list("keywords");
    tool.example = row.text_if("example");
    tool.since = row.text_if("since");
    tool.gotchas = row.list("gotchas");
    if (std::string value = row.text_if("confidence"); !value.empty()) tool.confidence = value;
    tool.sources = row.sources();
    row.end();
    tables.variables.push_back(std::move(tool));
  }
  for (const PackedRow& packed : file.rows("not_existing")) {
    FactRow row(file, packed);
    WrongVariable wrong;
    wrong.name = row.text("name");
    wrong.seen_in = row.text_if("seen_in");
    wrong.truth = row.text("truth");
    wrong.use = row.list("use");
    wrong.source = row.source();
    row.end();
    tables.wrong.push_back(std::move(wrong));
  }
  for (const PackedRow& packed : file.rows("cmake")) {
    FactRow row(file, packed);
    CMakeFeature feature;
    feature.feature = row.text("feature");
    feature.versions = row.list("since");
    feature.note = row.text_if("note");
    feature.source = row.source();
    row.end();
    tables.cmake.push_back(std::move(feature));
  }
  for (const PackedRow& packed : file.rows("spelling")) {
    FactRow row(file, packed);
    ArchSpelling spelling;
    spelling.meaning = row.text("meaning");
    spelling.nvcc = row.text_if("nvcc");
    spelling.cmake = row.text_if("cmake");
    spelling.torch = row.text_if("torch");
    spelling.tensorflow = row.text_if("tensorflow");
    spelling.spack = row.text_if("spack");
    spelling.note = row.text_if("note");
    spelling.source = row.source();
    row.end();
    tables.spellings.push_back(std::move(spelling));
  }
}

} // namespace gpuvet
