// Builds a recording in a test: what is not named is not there.
#pragma once

#include "probe/probe.hpp"

#include <memory>
#include <string>
#include <utility>

namespace gpuvet::testing {

struct RecordedMachine {
  std::shared_ptr<Recording> recording = std::make_shared<Recording>();

  RecordedMachine& text(const std::string& path, std::string content) {
    RecordedFile file;
    file.content = std::move(content);
    recording->files[path] = std::move(file);
    return *this;
  }
  RecordedMachine& binary(const std::string& path, std::string content) {
    text(path, std::move(content));
    recording->files[path].kind = RecordedFile::Kind::binary;
    return *this;
  }
  RecordedMachine& link(const std::string& path, std::string target) {
    text(path, std::move(target));
    recording->files[path].kind = RecordedFile::Kind::link;
    return *this;
  }
  RecordedMachine& unreadable(const std::string& path, std::string why) {
    text(path, std::move(why));
    recording->files[path].kind = RecordedFile::Kind::unreadable;
    return *this;
  }
  RecordedMachine& present(const std::string& path, uint32_t mode = 0755) {
    text(path, "");
    recording->files[path].kind = RecordedFile::Kind::present;
    recording->files[path].mode = mode;
    return *this;
  }
  RecordedFile& node(const std::string& path, uint32_t major, uint32_t minor) {
    text(path, "");
    RecordedFile& file = recording->files[path];
    file.kind = RecordedFile::Kind::node;
    file.mode = 0666;
    file.major = major;
    file.minor = minor;
    return file;
  }
  RecordedMachine& folder(const std::string& path) {
    recording->folders.push_back(path);
    return *this;
  }
  RecordedMachine& log(double seconds, std::string line) {
    if (!recording->log) recording->log = KernelLog{known(std::vector<LogLine>{}, "test"), "test"};
    recording->log->lines.value->push_back({seconds, std::move(line)});
    return *this;
  }

  Machine probed(void (*probe)(const Source&, Machine&)) const {
    Machine machine;
    probe(replay_source(recording), machine);
    return machine;
  }
};

} // namespace gpuvet::testing
