// JUnit XML, as GitLab, Jenkins and GitHub actions read it: suites of cases, each passed, failed,
// in error or skipped. Control characters and bytes that are no UTF-8 cannot stand in XML 1.0: the
// former are dropped, the latter become U+FFFD.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gpuvet {

enum class JunitState : uint8_t { passed, failed, error, skipped };

struct JunitCase {
  std::string name;
  JunitState state = JunitState::passed;
  std::string message; // one line: why it failed or was skipped
  std::string text;    // details, several lines
};

struct JunitSuite {
  std::string name;
  std::vector<JunitCase> cases;
};

std::string render_junit(const std::string& name, const std::vector<JunitSuite>& suites);

} // namespace gpuvet
