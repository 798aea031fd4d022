// What a stub's target description says of the platform.

#include "host/process/target_description.h"
#include "tests/support/connected.h"
#include "tests/support/stub_answers.h"

#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TargetDescription, SaysArchitectureAndIncludes) {
  // As gdbserver and QEMU send them.
  const auto gdbserver = parse_target_description(
      R"(<?xml version="1.0"?><!DOCTYPE target SYSTEM "gdb-target.dtd"><target>
         <architecture>i386:x86-64</architecture><osabi>GNU/Linux</osabi>
         <feature name="org.gnu.gdb.i386.core"/></target>)");
  EXPECT_EQ(gdbserver.architecture, "i386:x86-64");
  EXPECT_THAT(gdbserver.includes, IsEmpty());
  const auto qemu = parse_target_description(
      R"(<?xml version="1.0"?><!DOCTYPE target SYSTEM "gdb-target.dtd"><target>
         <architecture>
           powerpc:common </architecture><xi:include href="power-core.xml"/>
         <xi:include href="power-fpu.xml"/></target>)");
  EXPECT_EQ(qemu.architecture, "powerpc:common");
  EXPECT_THAT(qemu.includes, ElementsAre("power-core.xml", "power-fpu.xml"));
}

TEST(TargetDescription, WhatIsNoDescriptionSaysNothing) {
  for (const char* xml : {"", "<target", "garbage", "<feature name='x'/>", "<target/>",
                          "<target><architecture> \n</architecture></target>", "<a>&b;&c;</a>"}) {
    const auto description = parse_target_description(xml);
    EXPECT_EQ(description.architecture, "") << xml;
    EXPECT_THAT(description.includes, IsEmpty()) << xml;
  }
}

struct FromStub : ::testing::Test {
  test::ScriptedStub stub;

  std::string architecture(std::map<std::string, std::string> files) {
    std::map<std::string, std::string> objects;
    for (auto& [name, xml] : files)
      objects["features:" + name] = xml;
    stub.serve_objects(objects);
    auto client = test::connected(stub);
    if (!client)
      return "(not connected)";
    auto found = read_architecture(*client);
    return found ? *found : found.error().message;
  }
};

TEST_F(FromStub, TheFirstFileIsEnough) {
  EXPECT_EQ(architecture({{"target.xml", "<target><architecture>mips</architecture>"
                                         "<xi:include href='a.xml'/></target>"}}),
            "mips");
  EXPECT_EQ(stub.count("qXfer:features"), 1U);
}

TEST_F(FromStub, AnIncludedFileMayHaveIt) {
  EXPECT_EQ(architecture({{"target.xml", "<target><xi:include href='core.xml'/>"
                                         "<xi:include href='arch.xml'/></target>"},
                          {"core.xml", "<feature name='core'/>"},
                          {"arch.xml", "<target><architecture>arm</architecture></target>"}}),
            "arm");
}

TEST_F(FromStub, FilesThatIncludeEachOtherComeToAnEnd) {
  EXPECT_EQ(architecture({{"target.xml", "<target><xi:include href='target.xml'/>"
                                         "<xi:include href='target.xml'/></target>"}}),
            "");
  EXPECT_LE(stub.count("qXfer:features"), 4U);
}

TEST_F(FromStub, ANameThatWouldEndThePacketIsNotAskedFor) {
  EXPECT_EQ(architecture({{"target.xml", "<target><xi:include href='a#b'/>"
                                         "<xi:include href='a:read:b'/>"
                                         "<xi:include href=''/></target>"}}),
            "");
  EXPECT_EQ(stub.count("qXfer:features"), 1U);
}

TEST_F(FromStub, WithoutADescriptionNothingIsStated) {
  EXPECT_EQ(architecture({}), "");
}

TEST(Describes, FamiliesAndWidths) {
  struct Case {
    const char* described;
    const char* architecture;
    int pointer_size;
    bool fits;
  };
  for (const auto& [described, architecture, pointer_size, fits] :
       {Case{"i386:x86-64", "x86_64", 8, true},
        Case{"i386:x86-64", "i386", 4, true},
        Case{"i386:x64-32", "x86_64", 4, true},
        Case{"i386", "i386", 4, true},
        Case{"i386", "x86_64", 8, false},
        Case{"x86_64", "x86_64", 8, true},
        Case{"arm", "arm", 4, true},
        Case{"armv7", "arm", 4, true},
        Case{"arm", "aarch64", 8, false},
        Case{"aarch64", "aarch64", 8, true},
        Case{"aarch64", "arm", 4, true},
        Case{"arm64", "aarch64", 8, true},
        Case{"s390:64-bit", "s390x", 8, true},
        Case{"s390:31-bit", "s390x", 8, false},
        Case{"s390:64-bit", "x86_64", 8, false},
        Case{"powerpc:common", "ppc", 4, true},
        Case{"powerpc:common", "ppc64le", 8, false},
        Case{"powerpc:common64", "ppc64", 8, true},
        Case{"mips", "mips64", 8, true},
        Case{"m68k", "m68k", 4, true},
        Case{"m68k", "mips", 4, false},
        Case{"riscv:rv32", "riscv64", 8, false},
        Case{"riscv:rv64", "riscv64", 8, true},
        Case{"sparc:v9", "sparc64", 8, true},
        Case{"something new", "x86_64", 8, true},
        Case{"", "x86_64", 8, true}}) {
    Platform platform;
    platform.architecture = architecture;
    platform.set_data_model(pointer_size == 8 ? DataModel::lp64 : DataModel::ilp32);
    EXPECT_EQ(describes(described, platform), fits) << described << " and " << architecture;
  }
}

} // namespace
} // namespace mqbridge
