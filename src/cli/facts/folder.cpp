#include "cli/facts/folder.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

namespace gpuvet {

FactsReader facts_folder(std::string directory) {
  return [directory = std::move(directory)](const std::string& name) -> Result<std::string> {
    constexpr std::streamsize largest = 16 << 20; // bytes; the GPU table has 0.2 million
    std::string path = directory + "/" + name;
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    if (!in) return fail(std::string("cannot be opened: ") + std::strerror(errno), path);
    std::string text(static_cast<size_t>(largest) + 1, '\0');
    in.read(text.data(), largest + 1);
    if (in.bad()) return fail("cannot be read", path);
    if (in.gcount() > largest) return fail("is larger than 16 MiB: not a facts file", path);
    text.resize(static_cast<size_t>(in.gcount()));
    return text;
  };
}

} // namespace gpuvet
