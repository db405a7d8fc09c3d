#include "base/regex.hpp"

#include <re2/re2.h>

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

} // namespace gpuvet
