#include "probe/local_gpus.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace gpuvet {
namespace {

std::string first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// "0x10de" -> "10de"
std::string hex_digits(const std::string& text) {
  return text.starts_with("0x") ? text.substr(2) : text;
}

// "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build ..."
std::string version_in(const std::string& line) {
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    bool number = !word.empty() && word.find_first_not_of("0123456789.") == std::string::npos;
    if (number && word.find('.') != std::string::npos) return word;
  }
  return {};
}

} // namespace

LocalGpus local_gpus(const std::string& root) {
  namespace fs = std::filesystem;
  LocalGpus found;
  std::error_code error;
  fs::path devices = fs::path(root) / "sys/bus/pci/devices";
  for (fs::directory_iterator at(devices, error), end; !error && at != end; at.increment(error)) {
    if (hex_digits(first_line(at->path() / "vendor")) != "10de") continue;
    // Class 03xxxx is a display controller; the rest are audio, USB and bridges on the same card.
    if (!hex_digits(first_line(at->path() / "class")).starts_with("03")) continue;
    found.gpus.push_back(
        {at->path().filename().string(), "10de:" + hex_digits(first_line(at->path() / "device"))});
  }
  std::sort(found.gpus.begin(), found.gpus.end(),
            [](const LocalGpu& a, const LocalGpu& b) { return a.pci_address < b.pci_address; });
  fs::path module = fs::path(root) / "sys/module/nvidia/version";
  fs::path nvrm = fs::path(root) / "proc/driver/nvidia/version";
  if (std::string version = first_line(module); !version.empty())
    found.driver = known(version, module.string());
  else if (std::string line = version_in(first_line(nvrm)); !line.empty())
    found.driver = known(line, nvrm.string());
  else
    found.driver = unknown<std::string>("no nvidia kernel module is loaded (" + module.string() +
                                        " and " + nvrm.string() + " are missing)");
  return found;
}

} // namespace gpuvet
