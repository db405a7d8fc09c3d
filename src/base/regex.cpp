#include "base/regex.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <string>

namespace gpuvet {

struct Regex::Impl {
  explicit Impl(const std::string& pattern, const RE2::Options& options)
      : expression(pattern, options) {}
  RE2 expression;
};

Regex::Regex(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Regex::~Regex() = default;
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;

Result<Regex> Regex::compile(std::string_view pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(int64_t{16} << 20);
  auto impl = std::make_unique<Impl>(std::string(pattern), options);
  if (!impl->expression.ok())
    return fail("not a regular expression: " + impl->expression.error(), std::string(pattern));
  return Regex(std::move(impl));
}

bool Regex::found_in(std::string_view text) const {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), impl_->expression);
}

std::optional<std::map<std::string, std::string>> Regex::fields_in(std::string_view text) const {
  const RE2& expression = impl_->expression;
  re2::StringPiece all(text.data(), text.size());
  std::vector<re2::StringPiece> groups(static_cast<size_t>(expression.NumberOfCapturingGroups()) +
                                       1);
  if (!expression.Match(all, 0, text.size(), RE2::UNANCHORED, groups.data(),
                        static_cast<int>(groups.size())))
    return std::nullopt;
  std::map<std::string, std::string> fields;
  for (const auto& [name, index] : expression.NamedCapturingGroups())
    if (const re2::StringPiece& group = groups[static_cast<size_t>(index)]; group.data())
      fields.emplace(name, std::string(group.data(), group.size()));
  return fields;
}

std::string Regex::replaced(std::string_view text,
                            const std::function<std::string(const Groups&)>& with) const {
  const RE2& expression = impl_->expression;
  re2::StringPiece all(text.data(), text.size());
  std::vector<re2::StringPiece> groups(static_cast<size_t>(expression.NumberOfCapturingGroups()) +
                                       1);
  std::string result;
  size_t at = 0;
  while (at < text.size() && expression.Match(all, at, text.size(), RE2::UNANCHORED, groups.data(),
                                              static_cast<int>(groups.size()))) {
    Groups found;
    for (const re2::StringPiece& group : groups)
      found.emplace_back(group.data(), group.size());
    const auto begin = static_cast<size_t>(groups[0].data() - text.data());
    result.append(text.substr(at, begin - at)).append(with(found));
    at = begin + groups[0].size();
    if (groups[0].empty() && at < text.size()) result += text[at++]; // go on behind it
  }
  return result.append(text.substr(std::min(at, text.size())));
}

} // namespace gpuvet
