// The doctor's words: from a diagnosis to a report, one line, an exit status.
#pragma once

#include "judge/doctor/diagnose.hpp"

#include <string>

namespace gpuvet {

enum class DoctorOutcome : uint8_t {
  healthy,  // GPUs are here and answer, nothing is wrong
  warnings, // works, but
  fault,    // something that people use fails
  broken,   // nothing runs
  no_gpu,   // there is none, and nothing is wrong with that
  unknown,  // what would have to be known is not
};

struct DoctorVerdict {
  DoctorOutcome verdict = DoctorOutcome::unknown;
  std::string text;    // one sentence
  std::string command; // the one that mends it; empty: none
  std::string id;      // of the check or symptom behind it; empty: none
};

DoctorVerdict doctor_verdict(const Diagnosis& diagnosis, const Machine& machine,
                             const Facts& facts);

// `verbose`: every check with its answer, consequences too.
Report doctor_report(const Diagnosis& diagnosis, const Machine& machine, const Facts& facts,
                     bool verbose);

// For status lines and conditions: at most 80 bytes, without counters and times, so that it stays
// the same while the state does.
std::string one_line(const DoctorVerdict& verdict);

enum class ExitProfile : uint8_t { standard, nagios, npd, slurm };

// docs/doctor.md has the table.
int exit_status(const Diagnosis& diagnosis, const DoctorVerdict& verdict, ExitProfile profile);

std::string verdict_name(DoctorOutcome verdict); // "healthy"

} // namespace gpuvet
