// Replays tests/tables/h200_loads.tsv: every target of nvcc 13.0 and combinations of them, loaded
// on an H200 through the driver and the runtime under the JIT switches. Lines of class "open"
// record what no rule promises and are not replayed.
#include "judge/load/testing/build.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

namespace gpuvet {
namespace {

using testing::device;
using testing::rules;
using testing::split;

struct Containers {
  Container only; // or the linked one
  std::map<std::string, Container> parts;
};

// "linked/elf:sm_80,part0/ptx:compute_80" or "elf:sm_90,ptx:compute_90".
Containers parse_containers(const std::string& images, bool bare) {
  Containers containers;
  for (const std::string& word : split(images, ',')) {
    size_t slash = word.find('/'), colon = word.find(':');
    std::string place = slash == std::string::npos ? "" : word.substr(0, slash);
    Image image = testing::image(word.substr(colon + 1));
    if (place.starts_with("part"))
      containers.parts[place].images.push_back(image);
    else
      containers.only.images.push_back(image);
  }
  if (bare) containers.only.role = Role::bare;
  return containers;
}

LoadEnvironment environment_named(const std::string& text) {
  LoadEnvironment environment;
  environment.force_ptx_jit = text.find("CUDA_FORCE_") != std::string::npos;
  environment.disable_ptx_jit = text.find("CUDA_DISABLE_") != std::string::npos;
  return environment;
}

TEST(H200Loads, EveryRuleLineIsPredicted) {
  LoadDriver driver = testing::driver("580.159.04");
  std::ifstream file(GPUVET_SOURCE_DIR "/tests/tables/h200_loads.tsv");
  size_t checked = 0;
  for (std::string line; std::getline(file, line);) {
    auto f = split(line, '\t');
    if (f.size() < 9 || f[0] != "rule") continue;
    Containers containers = parse_containers(f[3], f[5].starts_with("bare-"));
    std::vector<const Container*> parts;
    for (const auto& [name, part] : containers.parts)
      parts.push_back(&part);
    for (const std::string& setting : split(f[4], ';')) {
      LoadEnvironment environment = environment_named(setting);
      LoadVerdict verdict =
          parts.empty()
              ? load_container(containers.only, device(90), &driver, environment, rules())
              : load_linked(containers.only, parts, device(90), &driver, environment, rules());
      std::string where = f[2] + " | " + setting + " | " + verdict.reason;
      EXPECT_EQ(loads(verdict), f[6] == "loaded") << where;
      EXPECT_NE(verdict.outcome, LoadOutcome::may_fail) << where;
      EXPECT_EQ(verdict.error, std::stoi(f[7])) << where;
      bool one_image = f[8] != "-" && f[8].find('|') == std::string::npos;
      if (one_image && parts.empty() && loads(verdict)) {
        EXPECT_EQ(verdict.image, std::stoi(f[8])) << where;
      }
      ++checked;
    }
  }
  EXPECT_GT(checked, 1000u);
}

} // namespace
} // namespace gpuvet
