#include "os/terminal.hpp"

#include <cstdlib>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace gpuvet {

Terminal terminal(int fd) {
  Terminal found;
  if (!isatty(fd)) return found;
  const char* term = std::getenv("TERM");
  const char* no_colour = std::getenv("NO_COLOR");
  bool dumb = term && std::string_view(term) == "dumb";
  found.interactive = !dumb;
  found.colour = !dumb && !(no_colour && *no_colour);
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) found.width = size.ws_col;
  return found;
}

} // namespace gpuvet
