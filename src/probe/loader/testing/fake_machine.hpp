// A machine made up for tests of the loader: libraries by their ELF facts, links, a cache.
#pragma once

#include "model/machine/loader.hpp"
#include "model/recording.hpp"
#include "probe/source.hpp"

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gpuvet {

struct FakeMachine {
  std::shared_ptr<Recording> recording = std::make_shared<Recording>();

  // A Debian-like machine: the loader and libc are there.
  FakeMachine() {
    SystemFacts system;
    system.architecture = "x86_64";
    system.glibc = known(std::string("2.39"), "test");
    recording->system = system;
    lib("/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", {.soname = "ld-linux-x86-64.so.2"});
    link("/lib64/ld-linux-x86-64.so.2", "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2");
    link("/lib", "usr/lib");
    lib("/usr/lib/x86_64-linux-gnu/libc.so.6", {.soname = "libc.so.6"});
  }

  void lib(const std::string& path, ElfFacts facts) {
    facts.has_dynamic = true;
    if (facts.machine == 0) facts.machine = 62;
    recording->files[path] = {.kind = RecordedFile::Kind::present};
    recording->elf[path] = std::move(facts);
  }
  void program(const std::string& path, ElfFacts facts) {
    facts.interpreter = "/lib64/ld-linux-x86-64.so.2";
    lib(path, std::move(facts));
  }
  void link(const std::string& path, const std::string& target) {
    recording->files[path] = {.kind = RecordedFile::Kind::link, .content = target};
  }
  void text(const std::string& path, const std::string& content) {
    recording->files[path] = {.content = content};
  }
  void folder(const std::string& path) { recording->folders.push_back(path); }

  // The cache in its newer layout, with entries in the order given.
  void cache(const std::vector<std::pair<std::string, std::string>>& entries) {
    std::string head = "glibc-ld.so.cache1.1", table, strings;
    auto number = [](std::string& to, uint64_t value, size_t bytes) {
      for (size_t i = 0; i < bytes; ++i)
        to += static_cast<char>(value >> (8 * i) & 0xff);
    };
    size_t base = 48 + 24 * entries.size();
    for (const auto& [soname, path] : entries) {
      number(table, 0x303, 4);
      number(table, base + strings.size(), 4);
      strings += soname + '\0';
      number(table, base + strings.size(), 4);
      strings += path + '\0';
      table.append(12, '\0');
    }
    number(head, entries.size(), 4);
    number(head, strings.size(), 4);
    number(head, 2, 4); // little endian
    head.resize(48, '\0');
    recording->files["/etc/ld.so.cache"] = {
        .kind = RecordedFile::Kind::binary, .content = head + table + strings, .changed = 1000};
  }

  Source source() const { return replay_source(recording); }
};

} // namespace gpuvet
