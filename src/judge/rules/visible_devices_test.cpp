// The expected values are what cuInit and cuDeviceGetCount gave on a machine with two H200 and
// driver 580.159.04; UUIDs are made up.
#include "judge/rules/visible_devices.hpp"

#include <gtest/gtest.h>

namespace gpuvet {
namespace {

const std::string kFirst = "GPU-c9fbb80c-57bb-c101-f8cf-c6f2116908e3";
const std::string kSecond = "GPU-684b014c-a1ba-38b9-7e78-e353567f6c8b";

VisibleDevices read(const std::string& value) {
  return read_visible_devices(value, {kFirst, kSecond}, false);
}

// Devices that CUDA counted: 0 stands for error 100, -1 for error 101.
int count(const std::string& value) {
  VisibleDevices result = read(value);
  return result.twice ? -1 : static_cast<int>(result.devices.size());
}

TEST(VisibleDevices, NumbersAreReadAsStrtolDoes) {
  for (const char* one :
       {"0", "1", " 0", "0 1", "0;1", "1.5", "+1", "0x1", "4294967297", "-0", "0:1", "0,"})
    EXPECT_EQ(count(one), 1) << one;
  for (const char* two : {"1,0", "0 ,1", "0, 1", "1gpu,0", "01,0"})
    EXPECT_EQ(count(two), 2) << two;
  EXPECT_EQ(read("1,0").devices, (std::vector<size_t>{1, 0}));
  EXPECT_EQ(read("4294967297").devices, (std::vector<size_t>{1}));
}

TEST(VisibleDevices, TheListEndsAtTheFirstEntryThatIsNotValid) {
  for (const char* none :
       {"", " ", "2", "-1", "abc", ",", ",0", "all", "NoDevFiles", "'0'", "\"1,0\"", "MIG-x"})
    EXPECT_EQ(count(none), 0) << none;
  for (const char* one : {"0,2,1", "0,-1,1", "0,abc,1", "0,,1", "0,GPU-dead,1", "0,MIG-x"})
    EXPECT_EQ(count(one), 1) << one;
  EXPECT_TRUE(read(" ").empty);
  EXPECT_EQ(read("0,2,1").bad, "2");
  EXPECT_EQ(read("0,2,1").why_bad, "the 2 GPUs have numbers 0 to 1");
  EXPECT_EQ(read("0,,1").bad, "(empty)");
}

TEST(VisibleDevices, UuidsMayBeShortenedAndLongerOnesAreCut) {
  for (const std::string& one :
       {kFirst, std::string("GPU-c9fb"), std::string("GPU-c"), kFirst + " ", kFirst + "0",
        std::string("GPU-C9FBB80C-57BB-C101-F8CF-C6F2116908E3"), kFirst + ",GPU-dead0000",
        kFirst + ",x," + kSecond, kFirst + ", " + kSecond, kFirst + ",0", "0," + kSecond})
    EXPECT_EQ(count(one), 1) << one;
  EXPECT_EQ(count(kSecond + "," + kFirst), 2);
  for (const std::string& none :
       {std::string("GPU-"), "gpu" + kFirst.substr(3), kFirst.substr(4), " " + kFirst,
        "GPU-" + kFirst, std::string("GPU-dead0000"), "MIG-" + kFirst, "MIG-" + kFirst + "/0/0"})
    EXPECT_EQ(count(none), 0) << none;
}

TEST(VisibleDevices, ADeviceNamedTwiceIsAnError) {
  for (const std::string& twice :
       {std::string("0,0"), std::string("0,1,0"), kFirst + "," + kFirst, kFirst + ",GPU-c9fbb"})
    EXPECT_EQ(count(twice), -1) << twice;
}

TEST(VisibleDevices, MigEntriesAreBelievedWhereThereIsMig) {
  VisibleDevices result = read_visible_devices("MIG-a,MIG-b", {kFirst}, true);
  EXPECT_EQ(result.mig_entries, 2U);
  EXPECT_EQ(result.bad, "");
}

} // namespace
} // namespace gpuvet
