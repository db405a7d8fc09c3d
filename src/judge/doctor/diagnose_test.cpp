#include "judge/checks/testing/machines.hpp"
#include "judge/doctor/diagnose.hpp"
#include "judge/doctor/doctor_report.hpp"
#include "judge/doctor/log_checks.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace gpuvet {
namespace {

const Facts& facts() {
  static const Facts all;
  return all;
}

Diagnosis diagnosed(const Machine& machine) {
  auto diagnosis = diagnose(machine, facts());
  if (!diagnosis) throw std::runtime_error(diagnosis.error().what);
  return std::move(*diagnosis);
}

DoctorVerdict verdict_of(const Machine& machine) {
  return doctor_verdict(diagnosed(machine), machine, facts());
}

const CheckResult& check(const Diagnosis& diagnosis, const std::string& id) {
  for (const CheckResult& result : diagnosis.checks)
    if (result.row->id == id) return result;
  throw std::runtime_error("no check " + id);
}

TEST(FillIn, ReplacesNamesAndNothingElse) {
  EXPECT_EQ(fill_in("module {module}, user {user}", {{"module", "550"}, {"user", "580"}}),
            "module 550, user 580");
  EXPECT_EQ(fill_in("{branch}", {}), "(unknown branch)");
  EXPECT_EQ(fill_in("awk '{print $1}' {", {{"print", "x"}}), "awk '{print $1}' {");
}

TEST(Diagnose, AnUnseenMachineIsNotHealthy) {
  Machine machine;
  DoctorVerdict verdict = verdict_of(machine);
  EXPECT_EQ(verdict.verdict, DoctorOutcome::unknown) << verdict.text;
  EXPECT_EQ(exit_status(diagnosed(machine), verdict, ExitProfile::standard), 3);
  EXPECT_EQ(exit_status(diagnosed(machine), verdict, ExitProfile::nagios), 3);
  EXPECT_EQ(exit_status(diagnosed(machine), verdict, ExitProfile::npd), 2);
}

TEST(Diagnose, AHealthyMachineIsHealthyUntilSomethingIsNotKnown) {
  Machine machine = testing::healthy_h100();
  EXPECT_EQ(verdict_of(machine).verdict, DoctorOutcome::healthy) << verdict_of(machine).text;
  Machine cut = machine;
  cut.not_finished = {"NVML"};
  EXPECT_EQ(verdict_of(cut).verdict, DoctorOutcome::unknown);
  Machine silent = machine;
  silent.nvml = {};
  EXPECT_NE(verdict_of(silent).verdict, DoctorOutcome::healthy);
}

TEST(Diagnose, OneBrokenDriverIsOneFinding) {
  Machine machine = testing::healthy_h100();
  // The upgrade replaced libraries and module files; what is loaded is older.
  machine.kernel.module_version = known<std::string>("575.57.08", "/sys/module/nvidia/version");
  for (KernelModule& module : *machine.kernel.modules.value)
    if (!module.version.empty()) module.version = "575.57.08";
  machine.nvml = {};
  machine.nvml.asked = {.state = AskState::failed, .problem = "", .error = 18};
  machine.cuda = {};
  machine.cuda.asked = {.state = AskState::failed, .problem = "", .error = 803};
  Diagnosis diagnosis = diagnosed(machine);
  DoctorVerdict verdict = doctor_verdict(diagnosis, machine, facts());
  EXPECT_EQ(verdict.id, "driver-library-mismatch") << verdict.text;
  EXPECT_EQ(verdict.verdict, DoctorOutcome::broken);
  const CheckResult& cause = check(diagnosis, "driver-library-mismatch");
  EXPECT_EQ(cause.explains.size(), 2u); // NVML 18 and CUDA 803
  for (size_t i : diagnosis.causes)
    EXPECT_LE(diagnosis.checks[i].severity,
              i == diagnosis.causes.front() ? Severity::blocker : Severity::warning)
        << diagnosis.checks[i].row->id << ": " << diagnosis.checks[i].title;
}

TEST(Diagnose, ASymptomWithoutACauseIsAFaultWithOpenQuestions) {
  Machine machine = testing::healthy_h100();
  machine.cuda = {};
  machine.cuda.asked = {.state = AskState::failed, .problem = "", .error = 999};
  Diagnosis diagnosis = diagnosed(machine);
  DoctorVerdict verdict = doctor_verdict(diagnosis, machine, facts());
  EXPECT_EQ(verdict.verdict, DoctorOutcome::fault);
  EXPECT_EQ(verdict.id, "cuda-999") << verdict.text;
  EXPECT_TRUE(verdict.command.empty()); // no guess
}

TEST(LogChecks, FieldsAndCounts) {
  Machine machine;
  CheckRow row;
  row.log = "GPU (?P<address>[0-9a-f:.]+) lost";
  EXPECT_EQ(log_outcome(row, machine).answer, Answer::unknown);
  machine.kernel.log.lines = known<std::vector<LogLine>>(
      {{1.5, "NVRM: GPU 0000:01:00.0 lost"}, {2.0, "other"}, {3.0, "NVRM: GPU 0000:02:00.0 lost"}},
      "/dev/kmsg");
  Outcome outcome = log_outcome(row, machine);
  EXPECT_EQ(outcome.answer, Answer::fires);
  EXPECT_EQ(outcome.fields["address"], "0000:01:00.0");
  EXPECT_EQ(outcome.fields["count"], "2");
  ASSERT_EQ(outcome.evidence.size(), 2u);
  row.log = "fell off";
  EXPECT_EQ(log_outcome(row, machine).answer, Answer::ok);
}

TEST(LogChecks, AnXidOfAnotherNumberIsNotMeant) {
  Machine machine = testing::healthy_h100();
  machine.kernel.xids = {{.code = 79, .pci_address = "0000:65:00", .detail = "GPU has fallen"}};
  Diagnosis diagnosis = diagnosed(machine);
  EXPECT_EQ(check(diagnosis, "xid-79").outcome.answer, Answer::fires);
  EXPECT_EQ(check(diagnosis, "xid-13").outcome.answer, Answer::ok);
}

TEST(OneLine, FitsAndStaysWhole) {
  DoctorVerdict verdict{DoctorOutcome::broken, std::string(70, 'x') + "\xc3\xa4\xc3\xa4\xc3\xa4",
                        "", "id"};
  std::string line = one_line(verdict);
  EXPECT_LE(line.size(), 80u);
  EXPECT_TRUE(line.ends_with("..."));
  unsigned char last = static_cast<unsigned char>(line[line.size() - 4]);
  EXPECT_NE(last, 0xc3u); // not the first half of a letter
}

TEST(ExitStatus, SlurmDrainsOnlyForTheNode) {
  Diagnosis diagnosis;
  CheckRow row;
  row.blame = "user";
  CheckResult result;
  result.row = &row;
  result.severity = Severity::error;
  diagnosis.checks.push_back(result);
  diagnosis.causes = {0};
  DoctorVerdict verdict{DoctorOutcome::fault, "x", "", "y"};
  EXPECT_EQ(exit_status(diagnosis, verdict, ExitProfile::slurm), 0);
  EXPECT_EQ(exit_status(diagnosis, verdict, ExitProfile::standard), 1);
  row.blame = "provider";
  EXPECT_EQ(exit_status(diagnosis, verdict, ExitProfile::slurm), 1);
}

} // namespace
} // namespace gpuvet
