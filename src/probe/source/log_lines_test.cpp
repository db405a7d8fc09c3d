#include "probe/source/log_lines.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace gpuvet {
namespace {

TEST(LogLine, IsReadAsEachLoggerWritesIt) {
  auto kmsg = kmsg_line("4,1234,65000123,-;NVRM: loading\n SUBSYSTEM=pci\n DEVICE=+pci:0\n");
  ASSERT_TRUE(kmsg);
  EXPECT_EQ(kmsg->text, "NVRM: loading");
  EXPECT_DOUBLE_EQ(*kmsg->seconds, 65.000123);
  EXPECT_EQ(kmsg_line("6,1,5,-,caller=T1;x;y")->text, "x;y");
  EXPECT_FALSE(kmsg_line("no record"));
  EXPECT_FALSE(kmsg_line("1,2;x"));

  auto journal = journal_line("[   12.500000] node7 kernel: NVRM: [x] y");
  ASSERT_TRUE(journal);
  EXPECT_EQ(journal->text, "NVRM: [x] y");
  EXPECT_DOUBLE_EQ(*journal->seconds, 12.5);
  EXPECT_FALSE(journal_line("[   12.500000] node7 systemd[1]: started"));

  auto syslog = syslog_line("Nov 30 20:44:21 node7 kernel: [  12.345678] NVRM: x");
  ASSERT_TRUE(syslog);
  EXPECT_EQ(syslog->text, "NVRM: x");
  EXPECT_DOUBLE_EQ(*syslog->seconds, 12.345678);
  EXPECT_FALSE(syslog_line("2024-10-02T10:00:00+02:00 node7 kernel: NVRM: x")->seconds);
  EXPECT_FALSE(syslog_line("Nov 30 20:44:21 node7 sshd: NVRM"));
  EXPECT_EQ(dmesg_line("[    0.000000] Linux version 6.8")->text, "Linux version 6.8");
  EXPECT_FALSE(dmesg_line("[drm] x"));
}

std::vector<std::string> texts(const KernelLog& log) {
  std::vector<std::string> all;
  for (const LogLine& line : *log.lines)
    all.push_back(line.text);
  return all;
}

TEST(LogLines, OnlyWhatBearsOnGpusIsKept) {
  const std::vector<std::string> wanted = {
      "NVRM: Xid (PCI:0000:65:00): 79, pid=1, name=x, GPU has fallen off the bus.",
      "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 28006, Non-fatal",
      "pcieport 0000:64:01.0: AER: Corrected error received: 0000:65:00.0",
      "pci 0000:65:00.0: BAR 1: no space for [mem size 0x2000000000 64bit pref]",
      "pci 0000:65:00.0: 31.504 Gb/s available PCIe bandwidth, limited by 16.0 GT/s PCIe x2 link",
      "PM: suspend exit",
      "DMAR: IOMMU enabled",
      "Out of memory: Killed process 4711 (python)",
      "INFO: task nvidia-smi:991 blocked for more than 122 seconds.",
      "python[99]: segfault at 0 ip 00007f rsp 00007f error 4 in libnccl.so.2.20.5[7f+1000]",
      "mlx5_core 0000:0c:00.0: mlx5_pcie_event: Detected insufficient power on the slot (27W).",
      "audit: avc:  denied  { read } for pid=1 comm=\"x\" name=\"nvidia0\"",
      "nfs: server store1 not responding, still trying",
      "VFS: file-max limit 9223 reached",
      "nouveau 0000:01:00.0: NVIDIA GP107",
      "nvidia: module verification failed: signature and/or required key missing",
      "nvidia_peermem: disagrees about version of symbol ib_register_peer_memory_client",
  };
  LogLines lines;
  for (const std::string& text : wanted) {
    lines.add({.seconds = 1.0, .text = text});
    lines.add({.seconds = 1.0, .text = "usb 1-1: new high-speed USB device number 5"});
    lines.add(
        {.seconds = 1.0, .text = "EXT4-fs (sda1): mounted filesystem with ordered data mode"});
  }
  EXPECT_EQ(texts(lines.take("x")), wanted);
}

TEST(LogLines, AFloodOfEqualLinesIsCountedNotKept) {
  LogLines lines;
  auto xid = [&](int i, const std::string& gpu, int code) {
    lines.add({.seconds = static_cast<double>(i),
               .text = fmt::format("NVRM: Xid (PCI:0000:{}:00): {}, pid={}, name=x, Ch {:08x}", gpu,
                                   code, i, i * 3)});
  };
  for (int i = 0; i < 100000; ++i)
    xid(i, "65", 31);
  xid(100001, "c1", 31); // another GPU
  xid(100002, "65", 79); // another code
  KernelLog log = lines.take("x");
  ASSERT_EQ(log.lines->size(), 18u); // the first 12 and the last 4, and the two others
  EXPECT_EQ(log.left_out, 100000u - 16u);
  uint64_t counted = 0;
  for (const LogLine& line : *log.lines)
    counted += 1 + line.more;
  EXPECT_EQ(counted, 100002u);
  EXPECT_TRUE(
      std::is_sorted(log.lines->begin(), log.lines->end(),
                     [](const LogLine& a, const LogLine& b) { return *a.seconds < *b.seconds; }));
  EXPECT_EQ(*log.lines->at(15).seconds, 99999);
  EXPECT_TRUE(lines.take("x").lines->empty());
}

TEST(LogLines, MemoryStaysBoundedWhateverTheLines) {
  LogLines lines;
  for (int i = 0; i < 20000; ++i) {
    std::string word; // letters only, so that no two lines are of one kind
    for (int rest = i; rest > 0; rest /= 26)
      word += static_cast<char>('a' + rest % 26);
    lines.add({.seconds = 1.0, .text = "NVRM: " + word + std::string(20000, '-')});
  }
  KernelLog log = lines.take("x");
  EXPECT_LE(log.lines->size(), 3000u);
  EXPECT_EQ(log.lines->size() + log.left_out, 20000u);
}

} // namespace
} // namespace gpuvet
