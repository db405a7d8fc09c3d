#include "probe/testing/recorded_machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gpuvet {
namespace {

using testing::RecordedMachine;

const std::string kUnits = "/usr/lib/systemd/system/", kOwn = "/etc/systemd/system/";

ServiceUnit unit(const RecordedMachine& machine, const std::string& name) {
  std::vector<ServiceUnit> units = machine.probed(probe_place).services;
  auto at = std::find_if(units.begin(), units.end(),
                         [&](const ServiceUnit& each) { return each.name == name; });
  EXPECT_NE(at, units.end()) << name;
  return at == units.end() ? ServiceUnit{} : *at;
}

TEST(PlaceServices, EnabledByLinksAndRunningByCgroup) {
  RecordedMachine machine;
  machine.text(kUnits + "nvidia-fabricmanager.service", "[Service]\nExecStart=/usr/bin/fm\n");
  machine.text(kUnits + "nvidia-persistenced.service", "[Service]\n");
  machine.link(kOwn + "multi-user.target.wants/nvidia-fabricmanager.service",
               kUnits + "nvidia-fabricmanager.service");
  machine.text("/sys/fs/cgroup/system.slice/nvidia-persistenced.service/cgroup.events",
               "populated 1\nfrozen 0\n");
  ServiceUnit fabric = unit(machine, "nvidia-fabricmanager.service");
  EXPECT_EQ(fabric.file, kUnits + "nvidia-fabricmanager.service");
  EXPECT_EQ(*fabric.enabled, true);
  EXPECT_EQ(*fabric.running, false);
  ServiceUnit persistence = unit(machine, "nvidia-persistenced.service");
  EXPECT_EQ(*persistence.enabled, false);
  EXPECT_EQ(*persistence.running, true);
}

TEST(PlaceServices, WithoutCgroupsRunningIsUnknown) {
  RecordedMachine machine;
  machine.text(kUnits + "docker.service", "[Service]\n");
  EXPECT_FALSE(unit(machine, "docker.service").running);
}

TEST(PlaceServices, MaskedUnits) {
  RecordedMachine machine;
  machine.text(kUnits + "nvidia-persistenced.service", "[Service]\n");
  machine.link(kOwn + "nvidia-persistenced.service", "/dev/null");
  machine.text("/dev/null", "");
  EXPECT_EQ(unit(machine, "nvidia-persistenced.service").state, "masked");
}

TEST(PlaceServices, HardenedUnitsOfTheAdministrator) {
  RecordedMachine machine;
  machine.text(kOwn + "train.service", "[Service]\nExecStart=/opt/venv/bin/python train.py\n"
                                       "PrivateDevices=yes\nDeviceAllow=/dev/null rw\n"
                                       "Environment=\"API_KEY=secret\" CUDA_VISIBLE_DEVICES=0\n");
  machine.text(kOwn + "train.service.d/gpu.conf",
               "[Service]\nDeviceAllow=char-nvidia rw\nPrivateDevices=no\n");
  machine.text(kOwn + "web.service", "[Service]\nExecStart=/usr/bin/nginx\n");
  std::vector<ServiceUnit> units = machine.probed(probe_place).services;
  ASSERT_EQ(units.size(), 1u);
  EXPECT_EQ(units[0].name, "train.service");
  EXPECT_EQ(units[0].settings.at("PrivateDevices"), "no");
  EXPECT_EQ(units[0].settings.at("DeviceAllow"), "/dev/null rw; char-nvidia rw");
  EXPECT_EQ(units[0].settings.at("Environment"), "CUDA_VISIBLE_DEVICES=0");
}

TEST(PlaceServices, SystemdIsAskedAboutWhatShouldRun) {
  RecordedMachine machine;
  machine.text(kUnits + "nvidia-fabricmanager.service", "[Service]\n");
  machine.link(kOwn + "multi-user.target.wants/nvidia-fabricmanager.service", "x");
  machine.folder("/sys/fs/cgroup/system.slice").folder("/run/systemd/system");
  machine.present("/usr/bin/systemctl");
  RecordedCommand asked;
  asked.command = {"/usr/bin/systemctl", "show", "--no-pager",
                   "--property=Id,ActiveState,NRestarts,Result", "nvidia-fabricmanager.service"};
  asked.output = "Result=exit-code\nNRestarts=5\nId=nvidia-fabricmanager.service\n"
                 "ActiveState=failed\n";
  machine.recording->commands.push_back(asked);
  ServiceUnit fabric = unit(machine, "nvidia-fabricmanager.service");
  EXPECT_EQ(fabric.state, "failed");
  EXPECT_EQ(fabric.restarts, 5u);
  EXPECT_EQ(fabric.settings.at("Result"), "exit-code");
}

} // namespace
} // namespace gpuvet
