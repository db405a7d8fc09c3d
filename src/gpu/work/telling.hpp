// What a test in its child process tells the parent, a line each, so that all that was said stays
// when the child hangs or dies, and half a line is no line:
//
//   b STEP - - SECONDS        begins
//   c CALL - - SECONDS        about to call; also the sign of life
//   r NAME UNIT - NUMBER      one sample of a reading
//   w NAME - - TEXT           a word
//   p NAME UNIT FRACTION NUMBER   progress: how far (0 to 1), and the current figure
//   x STATE CALL CODE TEXT    ended otherwise: "failed", "unsupported"; the reason
//   d - - - SECONDS           done
#pragma once

#include "model/verify/measurements.hpp"
#include "os/child.hpp"

#include <string>
#include <string_view>

namespace gpuvet {

class StepTeller { // the child's side
 public:
  StepTeller(int fd, Moment start) : fd_(fd), start_(start) {}

  void begin(const char* step);
  void about_to_call(const char* call); // everything said so far is with the parent before the call
  void alive() { about_to_call(last_call_.c_str()); }
  void reading(std::string_view name, std::string_view unit, double value);
  void word(std::string_view name, std::string_view text);
  void progress(double fraction, std::string_view name, double value, std::string_view unit);
  void stopped(StepState state, std::string_view call, int code, std::string_view reason);
  void done();
  double seconds() const { return seconds_since(start_); } // since the start of the run

 private:
  void line(char kind, std::string_view a, std::string_view b, std::string_view c,
            std::string_view text);
  void send();

  int fd_;
  Moment start_;
  std::string waiting_, last_call_ = "-";
};

struct StepNews { // for whoever shows how far it is
  std::string step;
  double fraction = 0; // of this step, 0 to 1
  std::string name, unit;
  double value = 0; // the current figure
};

} // namespace gpuvet
