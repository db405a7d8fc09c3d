#include "probe/kernel/parts.hpp"

#include <gtest/gtest.h>

namespace gpuvet::kernel {
namespace {

TEST(KernelCompiler, IsReadInEachFormOfProcVersion) {
  EXPECT_EQ(compiler_of("Linux version 5.15.0-166-generic (buildd@x) (gcc (Ubuntu "
                        "11.4.0-1ubuntu1~22.04) 11.4.0, GNU ld (GNU Binutils) 2.38) #1"),
            "gcc 11.4.0");
  EXPECT_EQ(compiler_of("Linux version 4.18.0-553.el8.x86_64 (mockbuild@x) (gcc version 8.5.0 "
                        "20210514 (Red Hat 8.5.0-22) (GCC)) #1 SMP"),
            "gcc 8.5.0");
  EXPECT_EQ(compiler_of("Linux version 6.1.0 (x@y) (Debian clang version 14.0.6, LLD 14.0.6) #1"),
            "clang 14.0.6");
  EXPECT_EQ(compiler_of("Linux version 6.18.44 (a@b) (gcc (GCC) 15.3.0, GNU ld 2.46) #1 SMP"),
            "gcc 15.3.0");
  EXPECT_EQ(compiler_of("Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016"), "");
}

} // namespace
} // namespace gpuvet::kernel
