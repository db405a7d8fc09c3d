// The parts of a comparison, in the order of their weight. Part of diff.
#pragma once

#include "judge/diff/changes.hpp"

namespace gpuvet::diff {

void compare_answers(const Machine& before, const Machine& after, Changes& changes);
void compare_driver(const Machine& before, const Machine& after, Changes& changes);
void compare_driver_libraries(const Machine& before, const Machine& after, Changes& changes);
void compare_gpus(const Machine& before, const Machine& after, MachineDiff& diff);
void compare_modules(const Machine& before, const Machine& after, Changes& changes);
void compare_toolkits(const Machine& before, const Machine& after, Changes& changes);
void compare_loader(const Machine& before, const Machine& after, Changes& changes);
void compare_packages(const Machine& before, const Machine& after, Changes& changes);
void compare_pythons(const Machine& before, const Machine& after, Changes& changes);
void compare_environment(const Machine& before, const Machine& after, Changes& changes);
void compare_settings_files(const Machine& before, const Machine& after, Changes& changes);
void compare_gpu_settings(const Machine& before, const Machine& after, MachineDiff& diff);
void compare_nodes(const Machine& before, const Machine& after, MachineDiff& diff);
void compare_services(const Machine& before, const Machine& after, Changes& changes);
void compare_surroundings(const Machine& before, const Machine& after, Changes& changes);

void compare_python(const PythonEnv& before, const PythonEnv& after, const std::string& start,
                    Changes& changes);

} // namespace gpuvet::diff
