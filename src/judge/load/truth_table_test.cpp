// Replays what an H200's driver did (tests/tables/h200_truth.tsv) and requires that every line is
// predicted: loaded or not, the error number, the chosen image.
#include "judge/load/testing/build.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

namespace gpuvet {
namespace {

using testing::device;
using testing::rules;
using testing::split;

struct Row {
  std::string id, api, input, environment, changes, images, result;
  int error = 0;
  int chosen = -1;
  bool inconclusive = false;
};

std::vector<Row> read_rows() {
  std::ifstream file(GPUVET_SOURCE_DIR "/tests/tables/h200_truth.tsv");
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    line += "\t.";
    auto f = split(line, '\t');
    if (f.size() < 11) ADD_FAILURE() << line;
    Row row{f[0], f[2], f[3], f[4], f[5], f[6], f[7], 0, -1, f[10] == "inconclusive"};
    row.error = f[8] == "-" ? -1 : std::stoi(f[8]);
    row.chosen = f[9] == "-" ? -1 : std::stoi(f[9]);
    rows.push_back(row);
  }
  return rows;
}

Compression compression_named(const std::string& name) {
  if (name == "zlib") return Compression::zlib;
  if (name == "lz4") return Compression::lz4_block;
  if (name == "lz4frame") return Compression::lz4_frame;
  return name == "zstd" ? Compression::zstd : Compression::none;
}

ImageKind kind_named(const std::string& name) {
  static const std::map<std::string, ImageKind> kinds = {{"elf", ImageKind::cubin},
                                                         {"ptx", ImageKind::ptx},
                                                         {"nvvm", ImageKind::lto_ir},
                                                         {"relptx", ImageKind::relocatable_ptx}};
  auto found = kinds.find(name);
  if (found != kinds.end()) return found->second;
  return static_cast<ImageKind>(std::stoul(name.substr(5), nullptr, 16)); // kind-0xNN
}

// "sm_4294901760" is a header that lies; parse_target refuses it rightly.
Target target_named(const std::string& name) {
  if (auto target = parse_target(name)) return *target;
  return {static_cast<uint32_t>(std::stoul(name.substr(name.find('_') + 1))), 0};
}

struct Parsed {
  Container linked; // or the only container
  std::vector<Container> parts;
  std::vector<int> index_of_row; // images of `linked` -> index in the row
};

Image image_from(const std::vector<std::string>& fields, std::string& where) {
  Image image;
  image.kind = kind_named(fields[0]);
  image.target = target_named(fields[1]);
  for (size_t i = 2; i < fields.size(); ++i) {
    std::string key = fields[i].substr(0, fields[i].find('='));
    std::string value = fields[i].substr(key.size() + 1);
    if (key == "container") where = value;
    if (key == "compression") image.compression = compression_named(value);
    if (key == "elf_type") image.relocatable = true;
    if (key == "payload_target") image.payload_sm = target_named(value).sm;
    if (key == "payload")
      image.damage = image.kind == ImageKind::ptx ? Damage::ptx_text : Damage::payload;
    if (key == "ptx_isa") {
      auto isa = parse_version(value);
      image.version_major = static_cast<uint16_t>(isa->major());
      image.version_minor = static_cast<uint16_t>(isa->minor());
    }
  }
  return image;
}

Parsed parse_containers(const Row& row) {
  Parsed parsed;
  std::map<std::string, Container> parts;
  bool bad_linked = row.changes == "bad_magic=linked", bad_parts = row.changes == "bad_magic=parts";
  if (row.changes == "version=2") parsed.linked.version = 2;
  int index = 0;
  if (row.images != "-")
    for (const std::string& word : split(row.images, ' ')) {
      auto fields = split(word, ':');
      int here = index++;
      if (fields[0] == "zero-bytes") {
        parsed.linked.hangs = true;
        parsed.linked.problem = "zeros";
        continue;
      }
      std::string where;
      Image image = image_from(fields, where);
      if (where.starts_with("part")) {
        parts[where].images.push_back(image);
      } else {
        parsed.linked.images.push_back(image);
        parsed.index_of_row.push_back(here);
      }
    }
  // A wiped container has no version that the driver knows; an emptied one has no images.
  if (bad_linked) parsed.linked.version = 0;
  for (auto& [name, part] : parts)
    parsed.parts.push_back(part);
  if (bad_parts) {
    parsed.parts.assign(2, Container{});
    for (Container& part : parsed.parts)
      part.version = 0;
  }
  bool rdc = row.input == "shared object" && row.id.starts_with("l");
  if (rdc && parsed.parts.empty()) parsed.parts.assign(2, Container{});
  return parsed;
}

LoadEnvironment environment_of(const Row& row) {
  LoadEnvironment environment;
  auto has = [&](const char* name) { return row.environment.find(name) != std::string::npos; };
  environment.force_ptx_jit = has("CUDA_FORCE_PTX_JIT=1") || has("CUDA_FORCE_JIT=1");
  environment.disable_ptx_jit = has("CUDA_DISABLE_PTX_JIT=1") || has("CUDA_DISABLE_JIT=1");
  environment.jit_cache_warm = !has("CUDA_CACHE_DISABLE=1");
  return environment;
}

TEST(TruthTable, EveryMeasuredLineIsPredicted) {
  LoadDriver driver = testing::driver("580.159.04");
  size_t checked = 0, inconclusive = 0;
  for (const Row& row : read_rows()) {
    if (row.inconclusive) {
      ++inconclusive;
      continue;
    }
    ++checked;
    if (row.input == "wrapper-v1") { // a record that points to a container is no container
      EXPECT_EQ(row.error, 200) << row.id;
      continue;
    }
    Parsed parsed = parse_containers(row);
    LoadVerdict verdict =
        parsed.parts.empty()
            ? load_container(parsed.linked, device(90), &driver, environment_of(row), rules())
            : load_linked(parsed.linked, parsed.parts.empty() ? std::vector<const Container*>{}
                                                              : [&] {
                                                                  std::vector<const Container*> all;
                                                                  for (auto& part : parsed.parts)
                                                                    all.push_back(&part);
                                                                  return all;
                                                                }(),
                          device(90), &driver, environment_of(row), rules());
    EXPECT_EQ(loads(verdict), row.result == "loaded")
        << row.id << " | " << row.images << " | " << verdict.reason;
    EXPECT_EQ(verdict.outcome == LoadOutcome::may_fail, false) << row.id << verdict.reason;
    if (row.result == "error") {
      EXPECT_EQ(verdict.error, row.error)
          << row.id << " | " << row.images << " | " << verdict.reason;
    }
    if (row.result == "loaded" && row.chosen >= 0 && verdict.image >= 0) {
      EXPECT_EQ(parsed.index_of_row[static_cast<size_t>(verdict.image)], row.chosen) << row.id;
    }
  }
  EXPECT_EQ(checked, 643u);
  EXPECT_EQ(inconclusive, 12u);
}

} // namespace
} // namespace gpuvet
