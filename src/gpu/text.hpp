// Small texts that libraries of NVIDIA give.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpuvet {

// Up to `most` bytes of a C string that may lack its end.
std::string bounded_text(const char* text, size_t most);

// A PCI address as sysfs writes it: "00000000:3B:00.0" -> "0000:3b:00.0". Else unchanged.
std::string sysfs_address(std::string_view text);

// 16 bytes as NVML writes them: "GPU-5fd4b087-86f3-...". `kind`: "GPU" or "MIG".
std::string uuid_text(std::string_view kind, const unsigned char (&bytes)[16]);

// The last line of what a library printed, for the end of a sentence: "; it printed: terminate
// called ...". Empty when it printed nothing.
std::string last_words(const std::string& printed);

std::string signal_name(int number); // "SIGSEGV"

// Folders that hold the driver's libraries where the loader does not look: WSL, GKE, the GPU
// operator's driver container, Colab, NixOS, Jetson.
const std::vector<std::string>& driver_folders();

// Text on one line, and back: line feeds and backslashes are written as two characters.
std::string escaped(std::string_view text);
std::string unescaped(std::string_view text);

} // namespace gpuvet
