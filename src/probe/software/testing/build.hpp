// Recorded machines, built in few words for the tests of probes.
#pragma once

#include "probe/source.hpp"

#include <memory>
#include <string>
#include <utility>

namespace gpuvet::testing {

struct RecordingBuilder {
  std::shared_ptr<Recording> recording = std::make_shared<Recording>();

  RecordingBuilder& text(const std::string& path, std::string content) {
    recording->files[path] = {.kind = RecordedFile::Kind::text, .content = std::move(content)};
    return *this;
  }
  RecordingBuilder& present(const std::string& path, uint64_t size = 1000) {
    recording->files[path] = {.kind = RecordedFile::Kind::present, .content = {}, .size = size};
    return *this;
  }
  RecordingBuilder& link(const std::string& path, std::string target) {
    recording->files[path] = {.kind = RecordedFile::Kind::link, .content = std::move(target)};
    return *this;
  }
  RecordingBuilder& folder(const std::string& path) {
    recording->folders.push_back(path);
    return *this;
  }
  RecordingBuilder& variable(const std::string& name, std::string value) {
    recording->environment[name] = std::move(value);
    return *this;
  }
  // Also makes the file.
  RecordingBuilder& holds(const std::string& path, const std::string& word, std::string after) {
    if (recording->files.count(path) == 0) present(path);
    recording->texts[path][word] = std::move(after);
    return *this;
  }
  RecordingBuilder& answer(std::vector<std::string> command, std::string output, int status = 0) {
    recording->commands.push_back(
        {.command = std::move(command), .status = status, .output = std::move(output)});
    return *this;
  }
  Source source() const { return replay_source(recording); }
};

} // namespace gpuvet::testing
