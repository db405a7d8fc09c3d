// Regular expressions in linear time, whatever the text (RE2).
#pragma once

#include "base/result.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

class Regex {
 public:
  // Errors: a sentence with what RE2 dislikes.
  static Result<Regex> compile(std::string_view pattern);
  ~Regex();
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;

  bool found_in(std::string_view text) const;

  // Named groups of the first match, those that took part; nullopt: no match.
  std::optional<std::map<std::string, std::string>> fields_in(std::string_view text) const;

  // Every match replaced by what `with` makes of its groups; the first is the whole match.
  using Groups = std::vector<std::string_view>;
  std::string replaced(std::string_view text,
                       const std::function<std::string(const Groups&)>& with) const;

 private:
  struct Impl;
  explicit Regex(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace gpuvet
