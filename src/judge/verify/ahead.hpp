// What the figures of a run will be held against, as far as it is known before anything has run:
// for who watches it.
#pragma once

#include "facts/facts.hpp"
#include "facts/verify/verify.hpp"
#include "model/verify/measurements.hpp"

#include <map>
#include <string>
#include <utility>

namespace gpuvet {

struct LimitAhead {
  double value = 0;
  std::string unit; // figures in another one are not held against it
};

// By step and GPU (UUID). The judgement may use another limit, since it knows the link and the
// clocks under load.
using LimitsAhead = std::map<std::pair<std::string, std::string>, LimitAhead>;

LimitsAhead limits_ahead(const Measurements& measured, const VerifyTables& tables,
                         const Facts& facts);

} // namespace gpuvet
