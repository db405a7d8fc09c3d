// Gathers what a reader finds in a build file, and at the end puts in the values that the file
// itself gives to the names that settings refer to.
#pragma once

#include "formats/buildfile/mapped_text.hpp"
#include "formats/buildfile/shell_words.hpp"

#include <map>

namespace gpuvet {

// A value as written, without its quotes.
struct Written {
  MappedText text;
  bool quoted = false;
  bool number = false; // YAML without quotes, so that digits are a number
};

class Collector {
 public:
  Collector(BuildFileKind kind, std::string_view text);

  BuildFile finish();

  // Where what comes next stands.
  std::string scope;
  std::string without_gpu;

  // A variable is given a value: later references may mean it, and it is a setting when its name
  // is one that architectures are set by.
  struct How {
    SettingForm form = SettingForm::environment;
    std::string command;
    bool fallback = false;
    size_t name_begin = 0, name_end = 0; // in the file; equal: not written out
  };
  BuildSetting* variable(std::string_view name, const Written& value, const How& how);
  void define(std::string_view name, const Written& value, bool fallback = false);
  // An option of nvcc, clang or a build script.
  BuildSetting* option(std::string_view name, const Written& value, std::string_view command);

  void script(const MappedText& text); // shell commands
  void flags(const MappedText& text);  // words that become arguments of some command
  void words(const std::vector<Written>& list, std::string_view outer); // arguments

  // Image names, packages, URLs that say which toolkit or CMake there is.
  void versions_in(const MappedText& word);
  void image(const MappedText& name);
  void mention(std::vector<VersionMention>& list, std::string_view version, const MappedText& text,
               bool minimum = false);
  void publishes(const MappedText& text);

  BuildFile file;

 private:
  struct Pending {
    BuildSetting setting;
    Written value;
  };
  struct Value {
    Written written;
    bool known = true, literal = true, fallback = false, several = false;
  };

  size_t assignments(const std::vector<Written>& list, size_t i);
  size_t cut_by_blank(const std::vector<Written>& list, size_t i);
  void arguments(const std::vector<Written>& list, size_t first, std::string_view command);
  bool argument(const Written& word, std::string_view command, bool& wants_value);
  void note_publishing(const std::vector<Written>& list);
  std::vector<Value> resolve(const Written& start) const;
  struct Definition {
    Written value;
    bool fallback = false; // a default that the outside may replace
  };
  const std::vector<Definition>* defined(std::string_view name) const;

  std::string_view bytes_;
  LineIndex lines_;
  std::vector<Pending> pending_;
  std::map<std::string, std::vector<Definition>, std::less<>> definitions_;
  int depth_ = 0; // of commands inside values
};

bool is_variable_name(std::string_view text);
bool sets_architectures(std::string_view name); // may this variable be about architectures?
bool looks_like_architecture(std::string_view text);

Written written(const MappedText& script, const ShellWord& word);

// The word from `begin` on: the value of NAME=value. Has a place even when it is empty.
Written value_part(const Written& word, size_t begin);

} // namespace gpuvet
