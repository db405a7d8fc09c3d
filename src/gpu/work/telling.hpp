// What a test in its child process tells the parent, a line each, so that all that was said stays
// when the child hangs or dies, and half a line is no line:
//
//   b STEP - - SECONDS        begins
//   g - - - SECONDS           the driver is there and the context made: the step itself begins
//   c CALL - - SECONDS        about to call; also the sign of life
//   r NAME UNIT - NUMBER      one sample of a reading
//   w NAME - - TEXT           a word
//   p NAME UNIT FRACTION NUMBER   progress: how far (0 to 1), and the current figure
//   x STATE CALL CODE=ERROR TEXT  ended otherwise: "failed", "unsupported"; the reason
//   d - - - SECONDS           done
#pragma once

#include "model/verify/measurements.hpp"
#include "os/child.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace gpuvet {

class StepTeller { // the child's side
 public:
  StepTeller(int fd, Moment start) : fd_(fd), start_(start) {}

  void begin(const char* step);
  void ready();
  void about_to_call(const char* call); // everything said so far is with the parent before the call
  void alive() { about_to_call(last_call_.c_str()); }
  void reading(std::string_view name, std::string_view unit, double value);
  void word(std::string_view name, std::string_view text);
  // May be called often: what comes within 50 ms of the last one is not told.
  void progress(double fraction, std::string_view name, double value, std::string_view unit);
  void stopped(StepState state, std::string_view call, int code, std::string_view error,
               std::string_view reason);
  void done();
  double seconds() const { return seconds_since(start_); } // since the start of the run

 private:
  void line(char kind, std::string_view a, std::string_view b, std::string_view c,
            std::string_view text);
  void send();

  int fd_;
  Moment start_;
  double last_progress_s_ = -1;
  std::string waiting_, last_call_ = "-";
};

struct StepNews { // for whoever shows how far it is
  std::string step;
  double fraction = 0; // of this step, 0 to 1
  std::string name, unit;
  double value = 0; // the current figure
};

// --- the parent's side -----------------------------------------------------------------------

struct StepLine {
  char kind = 0;
  std::string a, b, c; // "-" is nothing
  std::string text;
};

std::optional<StepLine> parse_step_line(std::string_view text); // without line feed

// Takes whole lines off the front of `text`.
std::vector<StepLine> take_step_lines(std::string& text);

std::optional<double> number_of(const StepLine& line); // its text as a finite number

// Puts what a line of kind r, w or x says into the result.
void take_step_line(const StepLine& line, StepResult& result);

} // namespace gpuvet
