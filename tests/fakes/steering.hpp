// How a fake library is told to misbehave: words in an environment variable, parted by commas.
//   gpus=4                       so many GPUs
//   hang=WHERE  sleep=WHERE (in the kernel, state D)  abort=WHERE  segv=WHERE  exit=WHERE
//   error=WHERE:CODE             that call returns CODE
//   KEY=TEXT                     anything else that the library knows
// WHERE is a function ("nvmlInit_v2"), a GPU ("1": every call on it), or both
// ("1:nvmlDeviceGetUUID"). A key may be given several times.
#pragma once

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace fake {

class Steering {
 public:
  explicit Steering(const char* variable) {
    const char* set = std::getenv(variable);
    std::string text = set ? set : "";
    for (size_t at = 0; at < text.size();) {
      size_t end = std::min(text.find(',', at), text.size());
      words_.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  }

  std::vector<std::string> all(const std::string& key) const {
    std::vector<std::string> found;
    for (const std::string& word : words_)
      if (word.compare(0, key.size() + 1, key + "=") == 0)
        found.push_back(word.substr(key.size() + 1));
    return found;
  }

  std::string text(const std::string& key, const std::string& otherwise) const {
    auto found = all(key);
    return found.empty() ? otherwise : found.back();
  }

  int number(const std::string& key, int otherwise) const {
    return std::atoi(text(key, std::to_string(otherwise)).c_str());
  }

  // To be called first in every function; gpu is -1 where none is asked about. What is returned is
  // returned by the function unless it is 0.
  int enter(const char* call, int gpu) const {
    if (is_here("hang", call, gpu))
      for (;;)
        pause();
    if (is_here("sleep", call, gpu)) sleep_in_kernel();
    if (is_here("abort", call, gpu)) std::abort();
    if (is_here("segv", call, gpu)) std::raise(SIGSEGV);
    if (is_here("exit", call, gpu)) std::exit(3);
    for (const std::string& word : all("error")) {
      size_t colon = word.rfind(':');
      if (matches(word.substr(0, colon), call, gpu)) return std::atoi(word.c_str() + colon + 1);
    }
    return 0;
  }

 private:
  // With this flag the kernel makes a process wait uninterruptibly for its child.
  [[noreturn]] static void sleep_in_kernel() {
    if (syscall(SYS_clone, CLONE_VFORK | SIGCHLD, nullptr, nullptr, nullptr, nullptr) == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;)
        pause();
    }
    std::abort();
  }

  bool is_here(const char* key, const char* call, int gpu) const {
    for (const std::string& where : all(key))
      if (matches(where, call, gpu)) return true;
    return false;
  }

  static bool matches(const std::string& where, const std::string& call, int gpu) {
    std::string number = std::to_string(gpu);
    return where == call || (gpu >= 0 && (where == number || where == number + ":" + call));
  }

  std::vector<std::string> words_;
};

// As libraries do it: cut to the buffer. `text` "long" fills it without an end.
inline int put(char* to, size_t size, const std::string& text) {
  if (text == "long") {
    std::memset(to, 'x', size);
    return 0;
  }
  std::strncpy(to, text.c_str(), size - 1);
  to[size - 1] = 0;
  return 0;
}

} // namespace fake
