// Whole machines of QEMU, halted before their first instruction.

#include "rsp/client/client.h"
#include "rsp/commands/attach.h"
#include "tests/rsp/read_text.h"
#include "tests/support/connected.h"
#include "tests/support/real_stub.h"
#include "tests/support/requirements.h"

#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge::rsp {
namespace {

using test::connected;
using test::RealStub;

class QemuSystem : public testing::TestWithParam<std::vector<std::string>> {
protected:
  void SetUp() override {
    MQBRIDGE_SKIP_IF_LACKING(test::lacking_program(GetParam().front(), "qemu-system-misc"));
    auto command = GetParam();
    command.insert(command.end(), {"-display", "none", "-serial", "none", "-monitor", "none", "-S",
                                   "-gdb", "unix:path={socket},server=on,wait=off"});
    stub.emplace(command);
  }
  std::optional<RealStub> stub;
};

TEST_P(QemuSystem, IsKnownAndRead) {
  const auto client = connected(stub->endpoint());
  ASSERT_TRUE(client);
  EXPECT_EQ(client->features().kind, StubKind::qemu_system);
  EXPECT_EQ(client->features().max_hex_read(), 2048U);
  EXPECT_EQ(client->features().lost_link, LostLink::stays);
  const auto attached = attach(*client);
  ASSERT_TRUE(attached) << attached.error().message;
  EXPECT_TRUE(attached->stopped_before_us);
  // Nothing runs yet: its memory has whatever the machine starts with, and can be read.
  EXPECT_EQ(read_text(*client, 0, 3 * 2048).size(), 3U * 2048);
  EXPECT_EQ(read_text(*client, 0, 3 * 2048), read_text(*client, 0, 3 * 2048));
}

INSTANTIATE_TEST_SUITE_P(
    Machines, QemuSystem,
    testing::Values(std::vector<std::string>{"qemu-system-s390x", "-M", "s390-ccw-virtio", "-m",
                                             "64"},
                    std::vector<std::string>{"qemu-system-m68k", "-M", "virt", "-m", "64"}),
    [](const auto& command) {
      return command.param.front().substr(command.param.front().rfind('-') + 1);
    });

} // namespace
} // namespace mqbridge::rsp
