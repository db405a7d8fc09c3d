// The long text of one check or symptom, from its rows.
#pragma once

#include "base/result.hpp"
#include "facts/checks.hpp"
#include "model/report.hpp"

#include <string>

namespace gpuvet {

// Errors: no such id, with those that look alike.
Result<Report> explain_id(const std::string& id, const CheckTables& tables);

Report explain_check(const CheckRow& row); // of a cause too, which has no question

// The text of a row as a reader understands it: "{module}" becomes "MODULE", "[?A|B]" becomes A.
std::string readable_text(const std::string& text);

} // namespace gpuvet
