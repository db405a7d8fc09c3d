#include "judge/arch/dialect.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace gpuvet {

bool holds_for(const std::optional<Version>& first, const std::optional<Version>& last,
               const Toolkit* toolkit) {
  if (!first && !last) return true;
  if (!toolkit) return false;
  auto version = parse_version(toolkit->version);
  return version && (!first || *first <= *version) && (!last || *version <= *last);
}

namespace {

bool release_matches(const ArchAccept& accept, const std::optional<Version>& release) {
  if (!release) return true;
  Version series{{release->major(), release->minor()}};
  return (!accept.first_release || *accept.first_release <= series) &&
         (!accept.last_release || series <= *accept.last_release);
}

} // namespace

bool accepts(const ArchSystem& system, Target target, const ArchContext& context) {
  if (system.one_digit && target.sm >= 100) return false;
  if (target.suffix && system.suffixes.find(target.suffix) == std::string::npos) return false;
  if (system.product.empty()) return true;
  bool any = false;
  for (const ArchAccept& accept : context.tables->accepts) {
    if (accept.product != system.product) continue;
    any = true;
    if (!release_matches(accept, context.release)) continue;
    if (context.toolkit && !holds_for(accept.first_toolkit, accept.last_toolkit, context.toolkit))
      continue;
    if (std::find(accept.targets.begin(), accept.targets.end(), target) != accept.targets.end())
      return true;
  }
  return !any;
}

Result<const ArchRewrite*> rewrite_of(const ArchSystem& system, Target value,
                                      const ArchContext& context) {
  bool depends = false;
  for (const ArchRewrite& rewrite : context.tables->rewrites) {
    if (rewrite.system != system.id || rewrite.value != value) continue;
    if (holds_for(rewrite.first_toolkit, rewrite.last_toolkit, context.toolkit)) return &rewrite;
    depends = true;
  }
  if (depends && !context.toolkit)
    return fail(fmt::format("what {} makes of {} depends on the toolkit: name it with --toolkit",
                            system.tool, number_text(system, value)),
                system.id);
  return nullptr;
}

std::string number_text(const ArchSystem& system, Target target, bool ptx) {
  if (system.number == "prefixed") return ptx ? compute_name(target) : sm_name(target);
  std::string text = system.number == "dotted" ? cc_name(target.sm) : std::to_string(target.sm);
  if (target.suffix) text += target.suffix;
  return text;
}

} // namespace gpuvet
