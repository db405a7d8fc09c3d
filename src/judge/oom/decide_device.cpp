#include "judge/oom/decide_device.hpp"

#include "judge/oom/words.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace gpuvet {
namespace {

constexpr double kTimesGpu = 8;          // a request of more than that many GPUs is no wish
constexpr double kRealLimit = 0.98;      // of the GPU: a limit above is none
constexpr double kNotFragmented = 0.05;  // of the pool unused: it is full, not in pieces
constexpr double kManyPrivate = 0.2;     // of the GPU in private pools
constexpr double kNeighbourShare = 0.05; // of the GPU: what others hold matters
constexpr double kHiddenLeast = 512 * kMiB, kHiddenShare = 0.02;
constexpr double kLibrariesLeast = 1.5 * kGiB, kLibrariesShare = 0.1;
constexpr double kContextLeast = 200 * kMiB, kContextMost = 900 * kMiB;
constexpr double kContextSpread = 0.1; // standard deviation over mean: alike
constexpr double kOneContext = 800 * kMiB;

struct Case {
  const OomMessage& message;
  OomBalance b;
  std::vector<OomFinding> found;

  std::string line(std::string_view name) const {
    const uint64_t at = message.amount(name).line;
    return at == 0 ? std::string() : fmt::format("line {}: ", at);
  }

  void add(const char* cause, OomSureness sureness, std::vector<std::string> evidence,
           std::map<std::string, std::string> fields) {
    auto put = [&](const char* name, const OomBytes& value) {
      if (value) fields.emplace(name, size_text(*value));
    };
    put("requested", b.requested);
    put("total", b.total);
    put("free", b.free);
    put("allocated", b.allocated);
    put("private", b.in_private);
    put("unallocated", b.unallocated);
    put("limit", b.limit);
    put("others", b.others);
    found.push_back({cause, sureness, std::move(evidence), std::move(fields)});
  }
};

// --- requests that no room would serve ----------------------------------------------------------

bool impossible(Case& c) {
  const OomBalance& b = c.b;
  if (!b.requested) return false;
  if (*b.requested < kImpossible && !(b.total && *b.requested > kTimesGpu * *b.total)) return false;
  std::string evidence = c.line("requested") + size_text(*b.requested) + " requested";
  if (b.total)
    evidence +=
        fmt::format(", {:.0f} times the GPU's {}", *b.requested / *b.total, size_text(*b.total));
  c.add("impossible-request", OomSureness::certain, {evidence}, {});
  return true;
}

bool oversubscribed(Case& c) {
  const OomBalance& b = c.b;
  if (!b.allocated || !b.total || *b.allocated <= *b.total * 1.01) return false;
  c.add("host-oversubscription", OomSureness::certain,
        {fmt::format("{}{} allocated, {}the GPU has {}", c.line("allocated"),
                     size_text(*b.allocated), c.line("total"), size_text(*b.total))},
        {});
  return true;
}

bool capped(Case& c) {
  const OomBalance& b = c.b;
  if (!b.limit || !b.requested) return false;
  // Paddle's total is its limit already, and it prints one only where it counts.
  const bool by_paddle = c.message.amounts.count("used") != 0;
  if (!by_paddle && b.total && *b.limit > kRealLimit * *b.total) return false;
  const OomAmount& used = c.message.amount("used");
  const double held = b.reserved    ? *b.reserved
                      : b.allocated ? *b.allocated
                      : used        ? static_cast<double>(*used)
                                    : 0;
  if (held + *b.requested <= *b.limit) return false;
  const bool room = !b.free || *b.free >= *b.requested || by_paddle;
  c.add("software-cap", room ? OomSureness::certain : OomSureness::likely,
        {fmt::format("{}{} may be used; {} held + {} requested = {}", c.line("limit"),
                     size_text(*b.limit), size_text(held), size_text(*b.requested),
                     size_text(held + *b.requested)),
         b.free ? c.line("free") + size_text(*b.free) + " of the GPU are free" : ""},
        {{"total", b.total ? size_text(*b.total) : std::string("memory")}});
  return room;
}

bool larger_than_gpu(Case& c) {
  const OomBalance& b = c.b;
  if (!b.requested || !b.total || *b.requested <= *b.total) return false;
  c.add("larger-than-gpu", OomSureness::certain,
        {fmt::format("{}{} requested, the GPU has {}", c.line("requested"), size_text(*b.requested),
                     size_text(*b.total))},
        {{"room", "the whole GPU (" + size_text(*b.total) + ")"}});
  return true;
}

// --- the pool -----------------------------------------------------------------------------------

bool fragmented(Case& c) {
  const OomBalance& b = c.b;
  if (!b.unallocated || !b.requested) return false;
  const double stuck = *b.unallocated;
  if (stuck < std::max(kLeastStuck, b.total ? kLeastStuckShare * *b.total : 0)) return false;
  const double share = b.reserved && *b.reserved > 0 ? stuck / *b.reserved : 1;
  if (share < kNotFragmented) return false;
  const std::string part = b.reserved ? fmt::format(" ({:.0f} % of the pool)", share * 100) : "";
  const std::string of =
      c.message.amounts.count("unallocated") ? c.line("unallocated") : c.line("reserved");
  const std::map<std::string, std::string> of_pool = {
      {"unused", size_text(stuck) + " of the pool"}};
  if (stuck >= *b.requested) {
    c.add("pool-fragmentation", OomSureness::certain,
          {fmt::format("{}{} of the pool lie unused{}, {} were requested", of, size_text(stuck),
                       part, size_text(*b.requested))},
          of_pool);
    return true;
  }
  if (b.free && *b.free < *b.requested && *b.free + stuck >= *b.requested) {
    c.add(
        "pool-fragmentation", OomSureness::certain,
        {fmt::format("{}{} unused{} + {} free = {}, {} were requested", of, size_text(stuck), part,
                     size_text(*b.free), size_text(stuck + *b.free), size_text(*b.requested))},
        {{"unused", size_text(stuck + *b.free) + " of the pool and the GPU"}});
    return true;
  }
  if (share >= kLikelyShare && stuck >= *b.requested / 2)
    c.add("pool-fragmentation", OomSureness::likely,
          {fmt::format("{}{} of the pool lie unused{}", of, size_text(stuck), part)}, of_pool);
  return false;
}

bool in_graph_pools(Case& c) {
  const OomBalance& b = c.b;
  if (!b.in_private || !b.total || *b.in_private < kManyPrivate * *b.total) return false;
  const double room = *b.in_private + b.unallocated.value_or(0) + b.free.value_or(0);
  const bool enough = b.requested && room >= *b.requested;
  c.add("graph-pools", enough ? OomSureness::certain : OomSureness::likely,
        {fmt::format("{}{} in private pools; of {} that are printed as allocated, tensors hold {}",
                     c.line("private"), size_text(*b.in_private),
                     size_text(b.allocated.value_or(0)), size_text(b.live.value_or(0)))},
        {});
  return enough;
}

// --- who else -----------------------------------------------------------------------------------

// Sizes of the other processes that look like bare contexts; empty: they are not alike.
std::vector<double> contexts(const OomMessage& message, const OomBalance& b) {
  std::vector<double> sizes;
  double sum = 0, squares = 0;
  for (const OomProcess& process : message.others) {
    if (process.pid == b.self_pid || !process.held) continue;
    const auto size = static_cast<double>(*process.held);
    if (size >= kContextLeast && size <= kContextMost) sizes.push_back(size);
  }
  for (double size : sizes)
    sum += size;
  const double mean = sizes.empty() ? 0 : sum / static_cast<double>(sizes.size());
  for (double size : sizes)
    squares += (size - mean) * (size - mean);
  if (sizes.size() < 2 ||
      std::sqrt(squares / static_cast<double>(sizes.size())) >= kContextSpread * mean)
    return {};
  return sizes;
}

bool others_hold_it(Case& c) {
  const OomBalance& b = c.b;
  if (!b.others || *b.others <= 0 || !b.missing || !b.requested || !b.free) return false;
  if (*b.free >= *b.requested || *b.others < *b.missing) return false;
  constexpr size_t most = 6; // that are named
  std::vector<std::string> evidence;
  for (const OomProcess& process : c.message.others)
    if (process.pid != b.self_pid && evidence.size() < most)
      evidence.push_back(fmt::format("line {}: process {} holds {}", process.held.line, process.pid,
                                     process.held.written));
  if (b.other_count > most)
    evidence.push_back(fmt::format("and {} processes more", b.other_count - most));
  evidence.push_back(fmt::format("{} free + {} of others = {}, {} were requested",
                                 size_text(*b.free), size_text(*b.others),
                                 size_text(*b.free + *b.others), size_text(*b.requested)));
  const std::vector<double> alike = contexts(c.message, b);
  double sum = 0;
  for (double size : alike)
    sum += size;
  if (!alike.empty() && sum >= *b.missing && sum >= *b.others / 2) {
    c.add("contexts-per-worker", OomSureness::certain, evidence,
          {{"count", fmt::format("{}", alike.size())},
           {"each", size_text(sum / static_cast<double>(alike.size()))}});
    return true;
  }
  const bool matters = !b.total || *b.others >= kNeighbourShare * *b.total;
  const bool alone = *b.free + *b.others >= *b.requested;
  c.add("cuda-memory-taken",
        !matters ? OomSureness::possible
        : alone  ? OomSureness::certain
                 : OomSureness::likely,
        evidence, {{"total", b.total ? size_text(*b.total) : std::string("memory")}});
  return matters && alone;
}

bool hidden(Case& c) {
  const OomBalance& b = c.b;
  if (!b.hidden || !b.total || !b.requested || !b.free || !b.self || !b.others) return false;
  if (*b.hidden < std::max(kHiddenLeast, kHiddenShare * *b.total)) return false;
  if (*b.hidden < *b.requested - *b.free || *b.free >= *b.requested) return false;
  const bool matters = *b.hidden >= kNeighbourShare * *b.total;
  c.add("gpu-memory-without-process", matters ? OomSureness::likely : OomSureness::possible,
        {fmt::format("{} in all - {} free - {} of this process - {} of others = {}",
                     size_text(*b.total), size_text(*b.free), size_text(*b.self),
                     size_text(*b.others), size_text(*b.hidden))},
        {{"hidden", size_text(*b.hidden)}});
  return matters;
}

// Messages that tell no processes: what this allocator does not hold is somebody's.
bool rest_is_elsewhere(Case& c) {
  const OomBalance& b = c.b;
  if (b.self || !b.rest || !b.total || !b.requested || !b.free) return false;
  if (*b.rest < std::max(kLibrariesLeast, kLibrariesShare * *b.total)) return false;
  if (*b.free >= *b.requested || *b.free + *b.rest - kOneContext < *b.requested) return false;
  c.add("outside-allocator", OomSureness::likely,
        {fmt::format("{} in all - {} free - {} of this allocator = {}", size_text(*b.total),
                     size_text(*b.free),
                     size_text(b.reserved ? *b.reserved : b.allocated.value_or(0)),
                     size_text(*b.rest))},
        {{"outside", size_text(*b.rest)}});
  return true;
}

bool other_libraries(Case& c) {
  const OomBalance& b = c.b;
  if (!b.outside || !b.total || !b.requested || !b.free) return false;
  if (*b.outside <= std::max(kLibrariesLeast, kLibrariesShare * *b.total)) return false;
  const bool enough = *b.free + *b.outside - kOneContext >= *b.requested;
  c.add("other-libraries", enough ? OomSureness::likely : OomSureness::possible,
        {fmt::format("{} of this process - {} of PyTorch's allocator = {}", size_text(*b.self),
                     size_text(*b.reserved), size_text(*b.outside))},
        {{"outside", size_text(*b.outside)}});
  return enough;
}

bool refused(Case& c) {
  const OomBalance& b = c.b;
  if (!b.free || !b.requested || *b.free < *b.requested) return false;
  const bool windows = c.message.amounts.count("self") && !c.message.amount("self");
  c.add("refused-though-free", windows ? OomSureness::likely : OomSureness::possible,
        {fmt::format("{}{} free, {} requested", c.line("free"), size_text(*b.free),
                     size_text(*b.requested)),
         windows ? "the driver gives no number for this process, as under Windows and WSL" : ""},
        {});
  return true;
}

// --- and if it is nothing of that ---------------------------------------------------------------

void too_small(Case& c) {
  const OomBalance& b = c.b;
  if (!b.missing || !b.total) return;
  // Everything on the GPU must be accounted for, a context apart.
  const bool accounted =
      (b.hidden && b.outside) ||
      (b.rest && *b.rest < std::max(kLibrariesLeast, kLibrariesShare * *b.total));
  const bool mine = b.reserved || b.self || b.allocated;
  // What the pool has unused is of no use to this request when it is less than it, or in pieces.
  const bool pieces = *b.missing <= 0;
  const double deficit = std::max(0.0, pieces ? *b.requested - *b.free : *b.missing);
  std::string sum =
      fmt::format("{} requested - {} free", size_text(*b.requested), size_text(*b.free));
  if (!pieces && b.unallocated)
    sum += fmt::format(" - {} unused in the pool", size_text(*b.unallocated));
  sum += fmt::format(" = {} missing", size_text(deficit));
  if (pieces && b.unallocated)
    sum += fmt::format("; the {} unused in the pool are in pieces and little",
                       size_text(*b.unallocated));
  c.add("too-small", accounted && mine ? OomSureness::likely : OomSureness::possible, {sum},
        {{"deficit", size_text(deficit)}});
}

} // namespace

std::vector<OomFinding> decide_device(const OomMessage& message, const OomTemplate& row) {
  Case c{message, balance_of(message), {}};
  const bool ended = impossible(c) || oversubscribed(c) || capped(c) || larger_than_gpu(c) ||
                     fragmented(c) || in_graph_pools(c) || others_hold_it(c) || hidden(c) ||
                     rest_is_elsewhere(c) || other_libraries(c) || refused(c);
  if (ended) { // what stands beside it and is worth a word
    const std::string last = c.found.empty() ? "" : c.found.back().cause;
    if (last == "pool-fragmentation") in_graph_pools(c);
    if (last == "software-cap") fragmented(c); // the limit counts what lies unused, too
  } else {
    too_small(c);
  }
  std::stable_sort(c.found.begin(), c.found.end(), [](const OomFinding& a, const OomFinding& b) {
    return a.sureness < b.sureness;
  });
  for (const std::string& cause : row.causes) { // when the numbers did not decide
    if (!c.found.empty() && c.found.front().sureness != OomSureness::possible) break;
    auto is = [&](const OomFinding& found) { return found.cause == cause; };
    if (std::none_of(c.found.begin(), c.found.end(), is))
      c.add(cause.c_str(), OomSureness::possible, {}, {});
  }
  for (OomFinding& finding : c.found)
    finding.evidence.erase(std::remove(finding.evidence.begin(), finding.evidence.end(), ""),
                           finding.evidence.end());
  return std::move(c.found);
}

} // namespace gpuvet
