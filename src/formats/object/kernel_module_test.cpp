#include "formats/object/kernel_module.hpp"
#include "formats/testing/zip_builder.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace gpuvet {
namespace {

using namespace std::string_literals;

template <class T> void put(std::string& out, size_t at, T value) {
  std::memcpy(out.data() + at, &value, sizeof(value));
}

// A 64-bit ELF file with a section .modinfo and the name table, nothing else.
std::string module_file(const std::string& modinfo) {
  const std::string names = "\0.modinfo\0.shstrtab\0"s;
  std::string out(64, '\0');
  std::memcpy(out.data(),
              "\x7f"
              "ELF\x02\x01\x01",
              7);
  put<uint16_t>(out, 16, 1);
  put<uint16_t>(out, 18, 62);
  put<uint32_t>(out, 20, 1);
  size_t info_at = out.size(), names_at = info_at + modinfo.size();
  out += modinfo + names;
  out.resize((out.size() + 7) / 8 * 8);
  size_t table = out.size();
  put<uint64_t>(out, 40, table);
  put<uint16_t>(out, 52, 64);
  put<uint16_t>(out, 58, 64);
  put<uint16_t>(out, 60, 3);
  put<uint16_t>(out, 62, 2);
  out.resize(table + 3 * 64);
  auto section = [&](size_t index, uint32_t name, uint32_t type, size_t at, size_t size) {
    put<uint32_t>(out, table + index * 64, name);
    put<uint32_t>(out, table + index * 64 + 4, type);
    put<uint64_t>(out, table + index * 64 + 24, at);
    put<uint64_t>(out, table + index * 64 + 32, size);
  };
  section(1, 1, 1, info_at, modinfo.size());
  section(2, 10, 3, names_at, names.size());
  return out;
}

Result<ModuleInfo> read(const std::string& file, const std::string& path) {
  return read_module_info(std::string_view(file), path);
}

const std::string kInfo = "alias=char-major-195-*\0version=550.127.05\0supported=external\0"
                          "license=Dual MIT/GPL\0srcversion=ABCD\0vermagic=6.8.0-45-generic SMP\0"s;

std::string signature(const std::string& name) {
  std::string block = "\x30\x20\x06\x03\x55\x04\x03\x0c"s + static_cast<char>(name.size()) + name;
  std::string description("\0\0\x02\0\0\0\0\0\0\0\0", 11);
  return block + description + static_cast<char>(block.size()) + "~Module signature appended~\n";
}

TEST(KernelModule, ReadsWhatModinfoSays) {
  auto info = read(module_file(kInfo), "nvidia.ko");
  ASSERT_TRUE(info) << info.error().what;
  EXPECT_EQ(info->version, "550.127.05");
  EXPECT_EQ(info->license, "Dual MIT/GPL");
  EXPECT_EQ(info->srcversion, "ABCD");
  EXPECT_EQ(info->vermagic, "6.8.0-45-generic SMP");
  EXPECT_EQ(info->is_signed, false);
}

TEST(KernelModule, NamesTheSigner) {
  auto info = read(module_file(kInfo) + signature("my host Secure Boot key"), "a.ko");
  ASSERT_TRUE(info);
  EXPECT_EQ(info->is_signed, true);
  EXPECT_EQ(info->signer, "my host Secure Boot key");
}

TEST(KernelModule, ASignatureThatLiesAboutItsSizeNamesNobody) {
  std::string file = module_file(kInfo) + signature("x");
  file[file.size() - 29] = '\xff';
  file[file.size() - 30] = '\xff';
  auto info = read(file, "a.ko");
  ASSERT_TRUE(info);
  EXPECT_EQ(info->is_signed, true);
  EXPECT_EQ(info->signer, "");
}

TEST(KernelModule, CompressedOnesAreUnpacked) {
  std::string file = testing::gzip(module_file(kInfo) + signature("key"));
  auto info = read(file, "nvidia.ko.gz");
  ASSERT_TRUE(info) << info.error().what;
  EXPECT_EQ(info->version, "550.127.05");
  EXPECT_EQ(info->signer, "key");
}

TEST(KernelModule, LargeCompressedOnesAreRefused) {
  std::string file = testing::gzip("x") + std::string(5 << 20, 'x');
  auto info = read(file, "nvidia.ko.gz");
  ASSERT_FALSE(info);
  EXPECT_NE(info.error().what.find("too large"), std::string::npos);
}

TEST(KernelModule, OtherFilesAreErrors) {
  EXPECT_FALSE(read(std::string("not a module"), "a.ko"));
  EXPECT_FALSE(read(std::string(), "a.ko"));
  std::string cut = module_file(kInfo);
  cut.resize(100);
  EXPECT_FALSE(read(cut, "a.ko"));
}

} // namespace
} // namespace gpuvet
