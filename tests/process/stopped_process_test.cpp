// A target as it is learnt from its stub: Linux processes at their entry, and machines that have
// nothing but memory.

#include "host/process/live/live_process.h"
#include "host/process/stopped_process.h"
#include "rsp/commands/attach.h"
#include "tests/builders/elf_builder.h"
#include "tests/process/target_image_builder.h"
#include "tests/support/connected.h"
#include "tests/support/stub_memory.h"

#include <gmock/gmock.h>

namespace mqbridge::test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr std::uint64_t load_bias = 0x40000;

std::string as_text(const std::vector<std::uint8_t>& bytes) {
  return {bytes.begin(), bytes.end()};
}

/// A stub and what was learnt through it.
struct TargetTest : ::testing::Test {
  TestDirectory directory;
  ElfCache files{FilePaths{}};
  ScriptedStub stub;
  StubMemory memory;
  std::unique_ptr<rsp::Client> client;

  Result<std::unique_ptr<StoppedProcess>> open(const ProcessOptions& options = {}) {
    stub.on("?", Answer::packet("S05"));
    memory.serve(stub, AtHole::refuse, BinaryForm::none, 0x2000);
    client = connected(stub);
    if (!client)
      return fail("test", "not connected");
    auto attachment = rsp::attach(*client);
    if (!attachment)
      return forward(std::move(attachment));
    return StoppedProcess::open(std::make_unique<LiveProcess>(*client, *attachment), files,
                                options);
  }
  /// A file whose only symbol, `answer`, is 42.
  std::filesystem::path firmware(const ElfShape& shape) {
    ElfBuilder builder(shape);
    const auto address = builder.add_data(ByteWriter(shape.byte_order).number(42, 4).bytes());
    builder.add_symbols(SHT_SYMTAB, {{"answer", address.value, 4}});
    builder.write(directory / "firmware");
    memory.put(ElfBuilder::base + load_bias, builder.bytes());
    return directory / "firmware";
  }
};

struct BareMachine : TargetTest, ::testing::WithParamInterface<ElfShape> {};

INSTANTIATE_TEST_SUITE_P(Shapes, BareMachine, ::testing::ValuesIn(elf_shapes),
                         [](const auto& of) { return of.param.architecture; });

TEST_P(BareMachine, IsWhatTheGivenFileSays) {
  const auto path = firmware(GetParam());
  auto target = open({.images = {{path, {load_bias}}}});
  ASSERT_TRUE(target) << target.error().message;
  EXPECT_EQ((*target)->platform().architecture, GetParam().architecture);
  EXPECT_EQ((*target)->platform().pointer_size, GetParam().word());
  EXPECT_EQ((*target)->executable(), path.string());
  Warnings warnings;
  const auto loaded = (*target)->load_images(warnings);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_THAT(warnings, SizeIs(0));
  const auto symbol = (*target)->images().find_symbol("answer");
  ASSERT_TRUE(symbol);
  std::array<std::byte, 4> bytes{};
  ASSERT_EQ((*target)->memory().read(symbol->address, bytes), 4U);
  EXPECT_EQ(bytes[GetParam().byte_order == ByteOrder::big ? 3 : 0], std::byte{42});
  EXPECT_EQ((*target)->doubtful_memory(), std::nullopt);
}

TEST_P(BareMachine, AnotherMachineBehindTheStubIsNamed) {
  const auto path = firmware(GetParam());
  stub.serve_objects({{"features:target.xml", "<target><architecture>riscv:rv64</architecture>"
                                              "</target>"}});
  const auto target = open({.images = {{path, {load_bias}}}});
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().code, "target.platform");
  EXPECT_THAT(target.error().message, HasSubstr("riscv:rv64"));
  EXPECT_THAT(target.error().message, HasSubstr(GetParam().architecture));
}

TEST_F(TargetTest, WithoutVectorAndImageTheErrorSaysWhatToGive) {
  const auto target = open();
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().code, "target.platform");
  EXPECT_THAT(target.error().hint, HasSubstr("--image FILE[@BIAS]"));
}

TEST_F(TargetTest, AFileThatIsNotThereIsAnError) {
  const auto target = open({.images = {{"/nowhere/firmware", {}}}});
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().code, "elf.open");
}

TEST_F(TargetTest, ZerosOfAStubThatAnswersFailedReadsWithThemAreDoubtful) {
  const auto path = firmware(elf_shapes[2]);
  memory.put(0x900000, std::string(8192, '\0'));
  // OpenOCD 0.12
  stub.on("qSupported", Answer::packet("PacketSize=4000;qXfer:memory-map:read-;"
                                       "qXfer:features:read+;qXfer:threads:read+;"
                                       "QStartNoAckMode+;vContSupported+"));
  auto target = open({.images = {{path, {load_bias}}}});
  ASSERT_TRUE(target) << target.error().message;
  Warnings warnings;
  ASSERT_TRUE((*target)->load_images(warnings));
  EXPECT_EQ((*target)->doubtful_memory(), std::nullopt);
  std::array<std::byte, 4> bytes{};
  ASSERT_EQ((*target)->memory().read({0x900010}, bytes), 4U);
  const auto doubtful = (*target)->doubtful_memory();
  ASSERT_TRUE(doubtful);
  EXPECT_EQ(doubtful->code, "memory.zeros");
  EXPECT_THAT(doubtful->message, HasSubstr("the first at 0x900000"));
  EXPECT_THAT(doubtful->hint, HasSubstr("gdb report_data_abort enable"));
}

/// A dynamic executable at `load_bias`, and its auxiliary vector.
struct LinuxProcess : TargetTest, ::testing::WithParamInterface<PlatformCase> {
  std::uint64_t word = static_cast<std::uint64_t>(GetParam().pointer_size);
  bool wide = word == 8;
  std::uint64_t table = load_bias + (wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr));

  TargetBytes bytes() const { return TargetBytes(GetParam()); }

  void load(std::uint64_t r_debug, bool interpreter) {
    memory.put(load_bias,
               as_text(bytes()
                           .elf_header(wide ? EM_S390 : EM_PPC, 4)
                           .program_header(PT_PHDR, table - load_bias, 4 * (wide ? 56 : 32))
                           .program_header(PT_LOAD, 0, 0x1000)
                           .program_header(PT_DYNAMIC, 0x800, 4 * word)
                           .program_header(interpreter ? PT_INTERP : PT_NULL, 0x700, 16)
                           .pad_to(0x700)
                           .text("/lib/ld.so")
                           .pad_to(0x800)
                           .word(DT_DEBUG)
                           .word(r_debug)
                           .word(DT_NULL)
                           .word(0)
                           .pad_to(0x2000)
                           .take()));
  }
  std::string vector() const {
    return as_text(bytes()
                       .word(AT_PHDR)
                       .word(table)
                       .word(AT_PHENT)
                       .word(wide ? 56 : 32)
                       .word(AT_PHNUM)
                       .word(4)
                       .word(AT_PAGESZ)
                       .word(4096)
                       .word(AT_EXECFN)
                       .word(load_bias + 0x700)
                       .word(AT_NULL)
                       .word(0)
                       .take());
  }
  Result<ImageSet> images() {
    auto target = open();
    if (!target)
      return forward(std::move(target));
    Warnings warnings;
    EXPECT_EQ((*target)->executable(), "/lib/ld.so"); // AT_EXECFN, where the stub does not say
    auto loaded = (*target)->load_images(warnings);
    if (!loaded)
      return forward(std::move(loaded));
    return std::move((*target)->images());
  }
};

INSTANTIATE_TEST_SUITE_P(Platforms, LinuxProcess, ::testing::ValuesIn(platform_cases),
                         name_of_case);

TEST_P(LinuxProcess, AtItsEntryHasNoLibrariesYet) {
  load(0, true);
  stub.serve_objects({{"auxv:", vector()}});
  const auto found = images();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, "target.not_started");
  EXPECT_THAT(found.error().hint, HasSubstr("--run-until signal"));
}

TEST_P(LinuxProcess, AtItsEntryUnderGdbserverTheListIsEmpty) {
  load(0, true);
  stub.serve_objects({{"auxv:", vector()}, {"libraries-svr4:", "<library-list-svr4/>"}});
  const auto found = images();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, "target.not_started");
}

TEST_P(LinuxProcess, AStaticExecutableHasNoLibrariesEver) {
  load(0, false);
  stub.serve_objects({{"auxv:", vector()}});
  const auto found = images();
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->images(), SizeIs(1));
  EXPECT_EQ(found->images().front().bias.value, load_bias);
}

TEST_P(LinuxProcess, AMisleadingDescriptionIsNamed) {
  load(0, false);
  stub.serve_objects(
      {{"auxv:", vector()},
       {"features:target.xml", "<target><architecture>i386:x86-64</architecture></target>"}});
  const auto target = open();
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().code, "target.platform");
  EXPECT_THAT(target.error().message, HasSubstr("i386:x86-64"));
}

} // namespace
} // namespace mqbridge::test
