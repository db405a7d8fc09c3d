// Memory over time: values that a program prints again and again, polls of nvidia-smi, repeated
// tables and messages. A long series is thinned to its lower envelope, which is what a leak lifts.
#pragma once

#include "judge/oom/grammar.hpp"
#include "model/oom.hpp"

#include <map>
#include <optional>

namespace gpuvet {

class OomSamples {
 public:
  explicit OomSamples(const OomGrammar& grammar)
      : grammar_(grammar), keys_(grammar.series.size()) {}

  // `has_series`: the line holds the literal of some series.
  void take(std::string_view line, uint64_t number, bool has_series);
  // A line without literals: a row of a table whose head was seen, or the name of a device.
  void go_on(std::string_view line, uint64_t number);
  void take(const OomMessage& message);
  void take(const OomTable& table);
  std::vector<OomSeries> end();

 private:
  struct Growing {
    OomSeries series;
    std::vector<std::optional<double>> steps; // of each sample, where the line told it
    size_t each = 1;                          // samples that are merged into one
    OomSample merged;
    std::optional<double> merged_step;
    size_t in_merged = 0;
  };
  struct Csv { // columns of an nvidia-smi poll
    size_t columns = 0;
    std::optional<size_t> time, key, used, total;
    std::string used_unit, total_unit;
  };

  Growing* growing(const std::string& id, const std::string& what, const std::string& key);
  void add(const std::string& id, const std::string& what, const std::string& key, OomSample sample,
           std::optional<double> step, std::optional<uint64_t> total);
  bool take_header(std::string_view line);
  void take_row(std::string_view line, uint64_t number);
  std::optional<double> step_of(std::string_view line) const;

  const OomGrammar& grammar_;
  std::map<std::string, Growing> all_;
  std::vector<std::string> keys_; // of each series row: device that was named last
  std::optional<Csv> csv_;
};

} // namespace gpuvet
