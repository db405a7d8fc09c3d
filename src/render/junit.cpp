#include "render/junit.hpp"

#include <fmt/core.h>

#include <string_view>

namespace gpuvet {
namespace {

// Length of the UTF-8 sequence at the front that XML 1.0 allows; 0: none.
size_t sequence(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  auto more = [&](size_t i) { return i < text.size() && (byte(i) & 0xc0) == 0x80; };
  unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return more(1) ? 2 : 0;
  if (first >= 0xe0 && first < 0xf0) {
    if (!more(1) || !more(2)) return 0;
    bool overlong = first == 0xe0 && byte(1) < 0xa0, surrogate = first == 0xed && byte(1) >= 0xa0;
    bool none = first == 0xef && byte(1) == 0xbf && byte(2) >= 0xbe; // U+FFFE, U+FFFF
    return overlong || surrogate || none ? 0 : 3;
  }
  if (first >= 0xf0 && first < 0xf5) {
    if (!more(1) || !more(2) || !more(3)) return 0;
    bool overlong = first == 0xf0 && byte(1) < 0x90, beyond = first == 0xf4 && byte(1) >= 0x90;
    return overlong || beyond ? 0 : 4;
  }
  return 0;
}

void add_character(std::string& out, char c, bool attribute) {
  switch (c) {
  case '&':
    out += "&amp;";
    break;
  case '<':
    out += "&lt;";
    break;
  case '>':
    out += "&gt;";
    break;
  case '"':
    out += "&quot;";
    break;
  case '\n':
  case '\t':
    // Readers turn bare ones in attributes into spaces.
    out += attribute ? (c == '\n' ? "&#10;" : "&#9;") : std::string(1, c);
    break;
  default:
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) out += c;
  }
}

std::string escaped(std::string_view text, bool attribute) {
  std::string out;
  while (!text.empty()) {
    size_t length = sequence(text);
    if (length == 1)
      add_character(out, text[0], attribute);
    else if (length == 0)
      out += "\xef\xbf\xbd";
    else
      out += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

std::string attribute(std::string_view text) {
  return "\"" + escaped(text, true) + "\"";
}

struct Counts {
  size_t tests = 0, failures = 0, errors = 0, skipped = 0;
};

void count(Counts& counts, const JunitSuite& suite) {
  for (const JunitCase& one : suite.cases) {
    ++counts.tests;
    counts.failures += one.state == JunitState::failed;
    counts.errors += one.state == JunitState::error;
    counts.skipped += one.state == JunitState::skipped;
  }
}

std::string numbers(const Counts& counts) {
  return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", counts.tests,
                     counts.failures, counts.errors, counts.skipped);
}

std::string case_xml(const JunitSuite& suite, const JunitCase& one) {
  std::string head =
      fmt::format("    <testcase classname={} name={}", attribute(suite.name), attribute(one.name));
  if (one.state == JunitState::passed) return head + "/>\n";
  if (one.state == JunitState::skipped)
    return fmt::format("{}>\n      <skipped message={}/>\n    </testcase>\n", head,
                       attribute(one.message));
  const char* tag = one.state == JunitState::failed ? "failure" : "error";
  return fmt::format("{}>\n      <{} message={}>{}</{}>\n    </testcase>\n", head, tag,
                     attribute(one.message), escaped(one.text, false), tag);
}

} // namespace

std::string render_junit(const std::string& name, const std::vector<JunitSuite>& suites) {
  Counts all;
  for (const JunitSuite& suite : suites)
    count(all, suite);
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  xml += fmt::format("<testsuites name={} {}>\n", attribute(name), numbers(all));
  for (const JunitSuite& suite : suites) {
    Counts own;
    count(own, suite);
    xml += fmt::format("  <testsuite name={} {}>\n", attribute(suite.name), numbers(own));
    for (const JunitCase& one : suite.cases)
      xml += case_xml(suite, one);
    xml += "  </testsuite>\n";
  }
  return xml + "</testsuites>\n";
}

} // namespace gpuvet
