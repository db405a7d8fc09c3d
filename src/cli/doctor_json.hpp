// The doctor's answer as JSON, schema gpuvet-doctor/1 (docs/doctor-json.md).
#pragma once

#include "judge/doctor/doctor_report.hpp"

#include <string>

namespace gpuvet {

std::string doctor_json(const Diagnosis& diagnosis, const DoctorVerdict& verdict,
                        const Machine& machine, const CheckTables& tables);

} // namespace gpuvet
