// `gpuvet explain ID`: what a check, symptom, signature or cause means, for a person.
#pragma once

#include "base/result.hpp"
#include "facts/signatures/signatures.hpp"
#include "model/report.hpp"

#include <string>

namespace gpuvet {

bool is_known_id(const std::string& id, const CheckTables& checks, const SignatureTables& tables);

// Errors: there is no such id; with ids that look alike.
Result<Report> explain_any_id(const std::string& id, const CheckTables& checks,
                              const SignatureTables& tables);

// All signatures by area: what docs/signatures.md lists.
Report list_signatures(const SignatureTables& tables);

} // namespace gpuvet
