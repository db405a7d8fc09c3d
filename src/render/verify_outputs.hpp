// What a run of `verify` came to, in the forms that other programs read: JUnit, Prometheus' text
// format for the textfile collector of its node exporter, and one line for Nagios.
#pragma once

#include "model/verify/judged.hpp"
#include "model/verify/measurements.hpp"

#include <string>
#include <vector>

namespace gpuvet {

std::string verify_junit(const std::vector<JudgedStep>& steps);

// Gauges with HELP and TYPE; a figure that is not known has no line.
std::string verify_prometheus(const Measurements& measured, const std::vector<JudgedStep>& steps,
                              int exit_status);

struct NagiosLine {
  std::string text; // "GPUVET CRITICAL - ... | copy_to_gpu_0=55.4GB/s;;51.7"
  int status = 3;   // 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN
};

// `verdict`: first line of the report. `exit_status`: of judge_verify.
NagiosLine verify_nagios(const std::string& verdict, const std::vector<JudgedStep>& steps,
                         int exit_status);

} // namespace gpuvet
