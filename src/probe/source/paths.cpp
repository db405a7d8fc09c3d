#include "probe/source/paths.hpp"

#include <vector>

namespace gpuvet {
namespace {

constexpr int kMostLinks = 40; // as the kernel
constexpr size_t kLongestPath = 1 << 14;

// Pushes the parts of `path` so that its first one is taken next.
void push_parts(std::string_view path, std::vector<std::string>& parts) {
  for (size_t end = path.size(); end > 0;) {
    size_t slash = path.rfind('/', end - 1);
    size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
    if (begin < end) parts.emplace_back(path.substr(begin, end - begin));
    end = slash == std::string_view::npos ? 0 : slash;
  }
}

// `pattern` starts behind '['. Where the set ends; npos: it never does, so '[' is a plain
// character.
size_t set_end(std::string_view pattern) {
  size_t first = !pattern.empty() && (pattern[0] == '!' || pattern[0] == '^') ? 1 : 0;
  return pattern.find(']', first + 1);
}

bool in_set(char c, std::string_view set) {
  bool negated = !set.empty() && (set[0] == '!' || set[0] == '^');
  if (negated) set.remove_prefix(1);
  bool found = false;
  for (size_t i = 0; i < set.size(); ++i) {
    if (i + 2 < set.size() && set[i + 1] == '-') {
      found |= set[i] <= c && c <= set[i + 2];
      i += 2;
    } else {
      found |= set[i] == c;
    }
  }
  return found != negated;
}

// Does one pattern element match `c`? Sets its length. The pattern is not empty and not at '*'.
bool element_matches(char c, std::string_view pattern, size_t& length) {
  length = 1;
  if (pattern[0] == '?') return true;
  if (pattern[0] == '[') {
    size_t end = set_end(pattern.substr(1));
    if (end != std::string_view::npos) {
      length = end + 2;
      return in_set(c, pattern.substr(1, end));
    }
  }
  if (pattern[0] == '\\' && pattern.size() > 1) {
    length = 2;
    return c == pattern[1];
  }
  return c == pattern[0];
}

} // namespace

Result<std::string> resolve_links(const std::string& path, LastLink last, const LinkAt& link_at) {
  std::vector<std::string> todo; // last element is next
  push_parts(path, todo);
  std::string done; // without a trailing slash; "" is the root
  int links = 0;
  while (!todo.empty()) {
    std::string part = std::move(todo.back());
    todo.pop_back();
    if (part == ".") continue;
    if (part == "..") {
      size_t slash = done.rfind('/');
      done.resize(slash == std::string::npos ? 0 : slash);
      continue;
    }
    std::string here = done + "/" + part;
    if (here.size() > kLongestPath) return fail("the path is too long", path);
    bool may_follow = !todo.empty() || last == LastLink::follow;
    std::optional<std::string> target = may_follow ? link_at(here) : std::nullopt;
    if (!target) {
      done = std::move(here);
      continue;
    }
    if (++links > kMostLinks) return fail("too many levels of symbolic links", path);
    if (target->starts_with('/')) done.clear();
    push_parts(*target, todo);
  }
  return done.empty() ? std::string("/") : done;
}

bool matches_pattern(std::string_view name, std::string_view pattern) {
  size_t n = 0, p = 0;
  size_t star = std::string_view::npos, star_name = 0; // where to go on when an attempt fails
  while (n < name.size()) {
    size_t length = 0;
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_name = n;
    } else if (p < pattern.size() && element_matches(name[n], pattern.substr(p), length)) {
      ++n;
      p += length;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++star_name;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*')
    ++p;
  return p == pattern.size();
}

} // namespace gpuvet
