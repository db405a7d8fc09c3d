// Build step: pack_facts IN.toml OUT turns a facts file into the packed text that is embedded.
#include "facts/packed.hpp"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: pack_facts IN.toml OUT\n");
    return 2;
  }
  std::ifstream in(argv[1], std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in) {
    std::fprintf(stderr, "%s: cannot be read\n", argv[1]);
    return 2;
  }
  auto packed = gpuvet::pack_toml(text, argv[1]);
  if (!packed) {
    std::fprintf(stderr, "%s: %s\n", packed.error().where.c_str(), packed.error().what.c_str());
    return 1;
  }
  std::ofstream out(argv[2], std::ios::binary | std::ios::trunc);
  out << *packed;
  out.close();
  if (!out) {
    std::fprintf(stderr, "%s: cannot be written\n", argv[2]);
    return 2;
  }
  return 0;
}
