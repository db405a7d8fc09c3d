#include "formats/object/ar.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

namespace gpuvet {
namespace {

constexpr size_t kHeader = 60;
constexpr size_t kMaxNames = size_t{16} << 20;

std::optional<uint64_t> decimal(std::string_view field) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

std::string_view trimmed(std::string_view field) {
  size_t end = field.find_last_not_of(' ');
  return end == std::string_view::npos ? std::string_view{} : field.substr(0, end + 1);
}

// A name from the "//" member: ends with "/\n" (GNU) or a NUL (Windows).
std::string long_name(const std::string& names, std::string_view reference) {
  auto at = decimal(reference);
  if (!at || *at >= names.size()) return std::string("/") + std::string(reference);
  std::string_view rest = std::string_view(names).substr(static_cast<size_t>(*at));
  rest = rest.substr(0, std::min(rest.find('\n'), rest.find('\0')));
  if (rest.ends_with('/')) rest.remove_suffix(1);
  return std::string(rest);
}

struct Walk {
  ByteStream& stream;
  bool thin;
  std::string names; // content of "//"
  const std::function<void(const ArMember&)>& visit;
};

bool is_table(std::string_view name) {
  return name == "/" || name == "/SYM64/" || name.starts_with("__.SYMDEF");
}

// Handles the member whose header is `head` at `at`; returns where the next begins.
Result<uint64_t> step(Walk& walk, std::string_view head, uint64_t at) {
  std::string where = fmt::format("offset {:#x}", at);
  auto size = decimal(head.substr(48, 10));
  if (head.substr(58, 2) != "`\n" || !size)
    return fail("the archive is damaged: no member header", where);
  std::string_view field = trimmed(head.substr(0, 16));
  uint64_t data = at + kHeader;
  if (auto total = walk.stream.size(); total && !walk.thin && *size > *total - data)
    return fail("the archive is cut off inside a member", where);

  ArMember member{std::string(field), data, *size};
  bool stored = !walk.thin;
  if (field == "//") {
    auto names =
        walk.stream.window(data, static_cast<size_t>(std::min<uint64_t>(*size, kMaxNames)));
    if (!names) return tl::unexpected(names.error());
    walk.names = std::string(names->text());
    stored = true;
  } else if (is_table(field)) {
    stored = true;
  } else {
    if (field.starts_with("#1/")) {
      uint64_t length = std::min(decimal(field.substr(3)).value_or(0), *size);
      auto name = walk.stream.window(data, static_cast<size_t>(std::min<uint64_t>(length, 4096)));
      if (!name) return tl::unexpected(name.error());
      member = {std::string(name->text().substr(0, name->text().find('\0'))), data + length,
                *size - length};
    } else if (field.size() > 1 && field[0] == '/') {
      member.name = long_name(walk.names, field.substr(1));
    } else if (field.ends_with('/')) {
      member.name = std::string(field.substr(0, field.size() - 1));
    }
    walk.visit(member);
  }
  uint64_t next = data + (stored ? *size : 0);
  return next + next % 2;
}

std::string walk_members(ByteStream& stream, const std::function<void(const ArMember&)>& visit) {
  auto magic = stream.window(0, 8);
  if (!magic) return magic.error().what;
  Walk walk{stream, magic->text() == "!<thin>\n", {}, visit};
  for (uint64_t at = 8;;) {
    auto head = stream.window(at, kHeader);
    if (!head) return head.error().what;
    if (head->empty()) return {};
    if (head->size() < kHeader) return fmt::format("the archive is cut off at offset {:#x}", at);
    std::string copy(head->text());
    auto next = step(walk, copy, at);
    if (!next) return next.error().what + " (" + next.error().where + ")";
    at = *next;
  }
}

} // namespace

std::string for_each_ar_member(ByteStream& stream,
                               const std::function<void(const ArMember&)>& visit) {
  auto magic = stream.window(0, 8);
  if (magic && magic->text() == "!<thin>\n") return {}; // its members are files of their own
  return walk_members(stream, visit);
}

Result<std::vector<std::string>> thin_archive_members(ByteStream& stream) {
  std::vector<std::string> names;
  std::string problem =
      walk_members(stream, [&](const ArMember& member) { names.push_back(member.name); });
  if (!problem.empty()) return fail(problem);
  return names;
}

} // namespace gpuvet
