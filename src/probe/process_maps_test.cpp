#include "formats/testing/streams.hpp"
#include "os/file_map.hpp"
#include "os/file_tree.hpp"
#include "probe/inputs.hpp"
#include "probe/process_maps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sys/mman.h>
#include <unistd.h>

namespace gpuvet {
namespace {

TEST(ProcessMaps, FilesOnceWithoutMemoryAndDevices) {
  auto files = parse_process_maps("55d0-55d1 r--p 00000000 08:01 11 /usr/bin/python3.11\n"
                                  "55d1-55d2 r-xp 00001000 08:01 11 /usr/bin/python3.11\n"
                                  "7f00-7f01 r--p 00000000 08:02 11 /data/with space.so\n"
                                  "7f01-7f02 r--p 00000000 08:01 12 /opt/gone.so (deleted)\n"
                                  "7f02-7f03 rw-p 00000000 00:00 0 \n"
                                  "7f03-7f04 rw-s 00000000 00:05 13 /dev/nvidia0\n"
                                  "7f04-7f05 rw-s 00000000 00:01 14 /memfd:pool (deleted)\n"
                                  "7f05-7f06 rw-p 00000000 00:00 0 [stack]\n"
                                  "7f06-7f07 r--p 00000000 08:01 15 /a\\012b.so");
  ASSERT_EQ(files.size(), 4u);
  EXPECT_EQ(files[0].path, "/usr/bin/python3.11");
  EXPECT_EQ(files[0].range, "55d0-55d1");
  EXPECT_EQ(files[1].path, "/data/with space.so");
  EXPECT_EQ(files[2].path, "/opt/gone.so");
  EXPECT_TRUE(files[2].deleted);
  EXPECT_EQ(files[3].path, "/a\nb.so");
}

TEST(ProcessMaps, AnyTextIsSurvived) {
  for (const char* text :
       {"", "\n\n", "x", " / / / / / /", "a b c d e /", "7f-8 r 0 0:0 9999999999999999999999 /a"})
    parse_process_maps(text);
}

TEST(ProcessInputs, ThisProcessAndALibraryDeletedSince) {
  std::string folder = ::testing::TempDir() + "gpuvet-pid-XXXXXX";
  ASSERT_TRUE(mkdtemp(folder.data()));
  std::string path = *real_path(folder) + "/lib.so";
  std::ofstream(path) << testing::elf("kept open");
  auto map = map_file(path);
  ASSERT_TRUE(map);

  auto pid = static_cast<uint64_t>(getpid());
  auto content_of = [&](const Inputs& inputs) -> std::string {
    testing::Leaves leaves;
    for (const InputJob& job : inputs.jobs)
      if (job.path == path) job.run(leaves.sink());
    return leaves.files[path];
  };
  Inputs alive = find_process_inputs(pid);
  EXPECT_EQ(content_of(alive), testing::elf("kept open"));
  auto self = real_path("/proc/self/exe");
  EXPECT_TRUE(std::any_of(alive.jobs.begin(), alive.jobs.end(),
                          [&](const InputJob& job) { return job.path == *self; }));

  std::filesystem::remove_all(folder);
  Inputs gone = find_process_inputs(pid);
  bool told = std::any_of(gone.errors.begin(), gone.errors.end(), [&](const Error& error) {
    return error.where == path && error.what.find("deleted") != std::string::npos;
  });
  EXPECT_TRUE(told || content_of(gone) == testing::elf("kept open"));
}

TEST(ProcessInputs, NoSuchProcess) {
  Inputs inputs = find_process_inputs(4'000'000'000u);
  ASSERT_EQ(inputs.errors.size(), 1u);
  EXPECT_NE(inputs.errors[0].what.find("no process"), std::string::npos);
}

} // namespace
} // namespace gpuvet
