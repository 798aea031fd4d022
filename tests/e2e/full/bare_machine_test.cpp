// Machines without any operating system: no auxiliary vector, no link map, no process id. What runs
// there is what the user says (--image), and nothing is believed that contradicts it.

#include "tests/e2e/harness/bare_machine.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/requirements.h"

#include <gmock/gmock.h>

namespace mqbridge::e2e {
namespace {

using testing::HasSubstr;

TEST(BareMachineTest, ABigEndian32BitOneIsDumpedByItsImage) {
  MQBRIDGE_SKIP_IF_LACKING(BareMachine::lacking("m68k"));
  expect_dump_of_bare_machine("m68k", "big", 4);
}

TEST(BareMachineTest, ALittleEndian64BitOneIsDumpedByItsImage) {
  MQBRIDGE_SKIP_IF_LACKING(BareMachine::lacking("riscv64"));
  expect_dump_of_bare_machine("riscv64", "little", 8);
}

TEST(BareMachineTest, WhatIsNotLoadedThereIsRefused) {
  MQBRIDGE_SKIP_IF_LACKING(BareMachine::lacking("m68k"));
  BareMachine machine("m68k");
  struct Case {
    std::vector<std::string> images;
    const char* code;
    const char* said;
  };
  const Case cases[] = {
      {{}, "target.platform", "the stub gives no auxiliary vector"},
      {{machine.program() + "@0x1000"}, "image.mismatch", "is not what is loaded at 0x11000"},
      {{machine.program() + "@0x70000000"}, "image.mismatch", "the target has no memory at"},
      {{MQBRIDGE_BINARY_DIRECTORY "/mqbridge"}, "image.mismatch", "mqbridge is not"},
      {{machine.program(), MQBRIDGE_BINARY_DIRECTORY "/mqbridge"}, "target.platform", "x86_64"},
      {{"/nowhere/firmware"}, "elf.open", "/nowhere/firmware"},
  };
  for (const auto& [images, code, said] : cases) {
    std::vector<std::string> arguments = {machine.endpoint()};
    for (const auto& image : images)
      arguments.insert(arguments.end(), {"--image", image});
    const auto dump = dump_json(arguments);
    ASSERT_EQ(dump.status(), 3) << testing::PrintToString<Outcome>(dump);
    const auto error = find_error(dump.document["ranks"][0], code);
    ASSERT_FALSE(error.is_null()) << code << dump.out;
    EXPECT_THAT(error["message"].get<std::string>(), HasSubstr(said));
    EXPECT_TRUE(dump.document["ranks"][0]["communicators"].empty());
  }
}

} // namespace
} // namespace mqbridge::e2e
