#include "judge/oom/decide.hpp"

#include "base/text.hpp"
#include "judge/oom/decide_device.hpp"
#include "judge/oom/words.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace gpuvet {
namespace {

constexpr double kTimesBudget = 8; // a need of more than that many budgets is no wish

std::string at_line(uint64_t line) {
  return line == 0 ? std::string() : fmt::format("line {}: ", line);
}

OomBytes bytes_of(const OomMessage& message, std::string_view name) {
  const OomAmount& amount = message.amount(name);
  if (!amount) return std::nullopt;
  return static_cast<double>(*amount);
}

std::vector<OomFinding> as_row_says(const OomMessage& message, const OomTemplate& row) {
  std::vector<OomFinding> found;
  for (const std::string& cause : row.causes) {
    OomFinding finding;
    finding.cause = cause;
    if (OomBytes requested = bytes_of(message, "requested")) {
      finding.evidence.push_back(at_line(message.amount("requested").line) +
                                 message.amount("requested").written + " requested");
      finding.fields["requested"] = size_text(*requested);
    }
    if (row.causes.size() == 1) finding.sureness = OomSureness::certain;
    found.push_back(std::move(finding));
  }
  return found;
}

std::vector<OomFinding> decide_bare(const OomMessage& message, const OomTemplate& row) {
  const OomBytes requested = bytes_of(message, "requested");
  if (requested && *requested >= kImpossible)
    return {{"impossible-request",
             OomSureness::certain,
             {at_line(message.amount("requested").line) + size_text(*requested) +
              " requested; no GPU has a tenth of it"},
             {{"requested", size_text(*requested)}}}};
  std::vector<OomFinding> found = as_row_says(message, row);
  const std::string fits = message.word("fits_tokens");
  if (!fits.empty()) {
    OomFinding exact{"kv-cache-too-small", OomSureness::certain, {}, {}};
    exact.evidence.push_back(fmt::format("{}a request may have {} tokens, {} fit",
                                         at_line(message.line), message.word("wanted_tokens"),
                                         fits));
    exact.fields = {{"fits_tokens", fits},
                    {"needed", message.word("wanted_tokens") + " tokens"},
                    {"budget", "room for " + fits}};
    return {exact};
  }
  return found;
}

std::vector<OomFinding> decide_pool(const OomMessage& message, const OomTemplate& row) {
  OomBytes requested = bytes_of(message, "requested");
  if (auto rounded = decimal_number(message.word("rounded")))
    requested = static_cast<double>(*rounded);
  const OomBytes pool = bytes_of(message, "pool"), in_use = bytes_of(message, "in_use");
  if (!requested || (!pool && *requested >= kImpossible)) return decide_bare(message, row);
  OomFinding finding;
  finding.fields["requested"] = size_text(*requested);
  finding.evidence.push_back(at_line(message.line) + size_text(*requested) + " requested");
  if (*requested >= kImpossible || (pool && *requested > kTimesBudget * *pool)) {
    finding.cause = "impossible-request";
    finding.sureness = OomSureness::certain;
    return {finding};
  }
  if (!pool) return as_row_says(message, row);
  finding.fields["pool"] = size_text(*pool);
  finding.evidence.push_back(at_line(message.amount("pool").line) + "the pool has " +
                             size_text(*pool));
  if (*requested > *pool) {
    finding.cause = "larger-than-gpu";
    finding.sureness = OomSureness::certain;
    finding.fields["room"] = "the whole pool of " + size_text(*pool);
    return {finding};
  }
  if (!in_use || *in_use > *pool) return as_row_says(message, row);
  const double unused = *pool - *in_use;
  finding.evidence.push_back(fmt::format("{}{} of it in use: {} are left",
                                         at_line(message.amount("in_use").line), size_text(*in_use),
                                         size_text(unused)));
  finding.fields["unallocated"] = size_text(unused);
  if (*requested <= unused) {
    finding.cause = "bfc-fragmentation";
    finding.sureness = OomSureness::certain;
    return {finding};
  }
  finding.cause = "too-small";
  finding.sureness = OomSureness::likely;
  finding.fields["deficit"] = size_text(*requested - unused);
  OomFinding taken{"cuda-memory-taken", OomSureness::possible, {}, {}};
  taken.evidence.push_back(
      "the pool's size is what was free when the program began; other processes "
      "may have made it small");
  return {finding, taken};
}

std::vector<OomFinding> decide_budget(const OomMessage& message, const OomTemplate& row) {
  const OomBytes needed = bytes_of(message, "needed"), budget = bytes_of(message, "budget");
  if (!needed) return as_row_says(message, row);
  OomFinding finding;
  finding.sureness = OomSureness::certain;
  finding.evidence.push_back(fmt::format("{}{} are needed{}",
                                         at_line(message.amount("needed").line), size_text(*needed),
                                         budget ? ", " + size_text(*budget) + " may be used" : ""));
  finding.fields = {{"needed", size_text(*needed)},
                    {"requested", size_text(*needed)},
                    {"budget", budget ? size_text(*budget) : std::string("less")},
                    {"limit", budget ? size_text(*budget) : std::string("some size")},
                    {"total", "memory"}};
  if (budget && *needed > *budget) finding.fields["deficit"] = size_text(*needed - *budget);
  if (!message.word("fits_tokens").empty())
    finding.fields["fits_tokens"] = message.word("fits_tokens");
  if (row.framework == "xla") {
    finding.cause = *needed >= kImpossible ? "impossible-request" : "compile-over-budget";
  } else {
    finding.cause = row.causes.empty() ? "too-small" : row.causes.front();
  }
  return {finding};
}

// vLLM before it loads anything: what is not free belongs to somebody else, a context apart.
std::vector<OomFinding> decide_startup(const OomMessage& message, const OomTemplate& row,
                                       const OomTables& tables) {
  constexpr double kOwnAtMost = 2 * kGiB, kOwnShare = 0.1; // of the GPU, that this process may hold
  const OomBytes free = bytes_of(message, "free"), total = bytes_of(message, "total");
  const OomBytes requested = bytes_of(message, "requested");
  if (!free || !total || *total <= 0 || *free > *total) return as_row_says(message, row);
  OomFinding finding;
  finding.sureness = OomSureness::certain;
  const double taken = *total - *free;
  finding.evidence.push_back(fmt::format("{}{} of {} free before anything is loaded: {} are taken",
                                         at_line(message.line), size_text(*free), size_text(*total),
                                         size_text(taken)));
  if (requested)
    finding.evidence.push_back(fmt::format("{}a share of {} wants {}", at_line(message.line),
                                           message.word("share"), size_text(*requested)));
  finding.fields = {
      {"others", size_text(taken)},
      {"total", size_text(*total)},
      {"free", size_text(*free)},
      {"share", message.word("share")},
      {"fits_share", fmt::format("{:.2f}", std::floor(*free / *total * 100 - 1) / 100)}};
  if (requested) finding.fields["requested"] = size_text(*requested);
  const bool others = taken > std::max(kOwnAtMost, kOwnShare * *total);
  finding.cause = others ? "cuda-memory-taken" : "startup-share";
  for (const OomShared& gpu : tables.shared)
    if (others && *total >= gpu.least_gib * kGiB && *total <= gpu.most_gib * kGiB) {
      finding.sureness = OomSureness::possible;
      OomFinding cache = finding;
      cache.cause = "page-cache";
      cache.fields["gpu"] = gpu.name;
      return {cache, finding};
    }
  return {finding};
}

} // namespace

std::vector<OomFinding> decide(const OomMessage& message, const OomTemplate& row,
                               const OomTables& tables) {
  switch (row.kind) {
  case OomKind::device:
    return decide_device(message, row);
  case OomKind::pool:
    return decide_pool(message, row);
  case OomKind::budget:
    return decide_budget(message, row);
  case OomKind::startup:
    return decide_startup(message, row, tables);
  case OomKind::bare:
  case OomKind::disguised:
    break;
  }
  return decide_bare(message, row);
}

std::vector<OomFinding> decide(const OomTable& table) {
  if (table.failures.value_or(0) == 0) return {};
  auto bytes = [&](const char* name) -> OomBytes {
    auto at = table.now.find(name);
    if (at == table.now.end() || !at->second) return std::nullopt;
    return static_cast<double>(*at->second);
  };
  const OomBytes reserved = bytes("reserved"), allocated = bytes("allocated"),
                 stuck = bytes("stuck");
  OomFinding finding;
  finding.evidence.push_back(fmt::format("line {}: failed {} times, retried {} times on GPU {}",
                                         table.line, *table.failures, table.retries.value_or(0),
                                         table.device));
  if (reserved && allocated && stuck && *reserved > 0 && *stuck >= kLikelyShare * *reserved &&
      *stuck >= kLeastStuck) {
    finding.cause = "pool-fragmentation";
    finding.sureness = OomSureness::likely;
    finding.evidence.push_back(fmt::format(
        "{} reserved, {} allocated, {} not releasable: {:.0f} % of the pool", size_text(*reserved),
        size_text(*allocated), size_text(*stuck), *stuck / *reserved * 100));
    finding.fields = {{"requested", "the requests"},
                      {"unused", size_text(*stuck) + " of the pool"}};
    return {finding};
  }
  std::vector<OomFinding> found;
  for (const char* cause : {"too-small", "leak", "cuda-memory-taken"}) {
    finding.cause = cause;
    found.push_back(finding);
  }
  return found;
}

std::vector<OomFinding> decide(const std::vector<OomGrowth>& growth, bool over) {
  const OomGrowth *allocated = nullptr, *reserved = nullptr, *used = nullptr;
  bool flat = false; // what is allocated was looked at and does not rise
  for (const OomGrowth& one : growth) {
    const std::string& what = one.series->what;
    if (what == "allocated" && !one.rises && one.values >= kFewestSamples) flat = true;
    if (!one.rises) continue;
    const OomGrowth*& best = what == "allocated" ? allocated : what == "reserved" ? reserved : used;
    if (best == nullptr || one.values > best->values) best = &one;
  }
  const OomGrowth* chosen = allocated ? allocated : reserved ? reserved : used;
  if (chosen == nullptr) return {};
  OomFinding finding;
  finding.fields["slope"] = growth_text(*chosen).substr(0, growth_text(*chosen).find(" ("));
  finding.evidence.push_back(series_name(*chosen->series) + " rises by " + growth_text(*chosen));
  if (std::string left = time_left_text(*chosen); !over && !left.empty())
    finding.evidence.push_back("the GPU is full " + left);
  if (allocated || (reserved && flat)) {
    finding.sureness = OomSureness::likely; // longer inputs from step to step look the same
    finding.cause = allocated ? "leak" : "cache-growth";
    return {finding};
  }
  // What an allocator or the GPU holds rises with either; the tensors were not looked at.
  std::vector<OomFinding> found;
  for (const char* cause : {"leak", "cache-growth"}) {
    finding.cause = cause;
    found.push_back(finding);
  }
  return found;
}

} // namespace gpuvet
