#include "render/setup_script.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

TEST(SetupScript, CommentsCannotBecomeCommands) {
  SetupPlan plan;
  plan.what = "CUDA 12.8 on Debian 12";
  plan.where = "this machine";
  plan.driver = "none";
  plan.notes = {"a name\ntouch pwned"};
  SetupAction step;
  step.title = "remove it's\n$(touch pwned)";
  step.why = "because\n$(touch pwned) of\rit";
  step.lines = {"true"};
  plan.steps.push_back(step);
  std::string script = render_setup_script(plan);
  EXPECT_EQ(script.substr(0, 20), "#!/usr/bin/env bash\n");
  size_t begin = 0;
  bool quoted = false;
  for (size_t end; (end = script.find('\n', begin)) != std::string::npos; begin = end + 1) {
    std::string line = script.substr(begin, end - begin);
    EXPECT_EQ(line.find('\r'), std::string::npos);
    if (line.find("touch pwned") == std::string::npos) continue;
    bool in_comment = line.starts_with("# ");
    bool in_word = line.starts_with("say '");
    quoted = quoted || in_word;
    EXPECT_TRUE(in_comment || in_word) << line;
  }
  EXPECT_TRUE(quoted);
}

TEST(SetupScript, StepsAreNumberedWithTheirReason) {
  SetupPlan plan;
  plan.helpers = {"say() { :; }"};
  plan.steps = {{"a", "First", "It is first.", {"one"}, {}, {}},
                {"b", "Second", "", {"two"}, {}, {}}};
  std::string script = render_setup_script(plan);
  EXPECT_NE(script.find("# It is first.\nsay '1. First'\none\n"), std::string::npos) << script;
  EXPECT_NE(script.find("say '2. Second'\ntwo\n"), std::string::npos) << script;
  EXPECT_LT(script.find("set -euo pipefail"), script.find("say() { :; }"));
}

} // namespace
} // namespace gpuvet
