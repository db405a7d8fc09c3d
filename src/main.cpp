#include "cli/command.hpp"

int main(int argc, char** argv) {
  return gpuvet::run_command(argc, argv);
}
