// The long text of one check or symptom, from its rows.
#pragma once

#include "base/result.hpp"
#include "facts/checks.hpp"
#include "model/report.hpp"

#include <string>

namespace gpuvet {

// Errors: no such id, with those that look alike.
Result<Report> explain_id(const std::string& id, const CheckTables& tables);

} // namespace gpuvet
