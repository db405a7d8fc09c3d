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
    return file(path, RecordedFile::Kind::text, std::move(content));
  }
  RecordingBuilder& present(const std::string& path, uint64_t size = 1000) {
    return file(path, RecordedFile::Kind::present, {}, size);
  }
  RecordingBuilder& link(const std::string& path, std::string target) {
    return file(path, RecordedFile::Kind::link, std::move(target));
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
    RecordedCommand kept;
    kept.command = std::move(command);
    kept.output = std::move(output);
    kept.status = status;
    recording->commands.push_back(std::move(kept));
    return *this;
  }
  Source source() const { return replay_source(recording); }

 private:
  RecordingBuilder& file(const std::string& path, RecordedFile::Kind kind, std::string content,
                         uint64_t size = 0) {
    RecordedFile& entry = recording->files[path];
    entry.kind = kind;
    entry.content = std::move(content);
    entry.size = size;
    return *this;
  }
};

} // namespace gpuvet::testing
