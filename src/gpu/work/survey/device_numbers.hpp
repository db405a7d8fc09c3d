// All attributes of each device that the CUDA driver offers, by our names
// (gpu/work/attributes.hpp).
#pragma once

#include <map>
#include <memory>
#include <string>

namespace gpuvet {

class Talk;
struct NumbersQuestion {
  std::shared_ptr<Talk> talk;
};

NumbersQuestion start_device_numbers(const std::string& library, double deadline_s);

// By CUDA ordinal. What a driver does not know is absent.
std::map<int, std::map<std::string, double>>
collect_device_numbers(const NumbersQuestion& question);

} // namespace gpuvet
