// An MPI whose library exports the functions of MPICH's binary interface alone, as Debian 13's
// MPICH 4.2.1 does: which one it is, and that nothing is read where nothing is known to be.

#include "host/mpi/mpi_library.h"
#include "host/mpi/mpi_support.h"
#include "host/mpi/mpich/mpich_layout.h"
#include "tests/builders/elf_builder.h"
#include "tests/mqs/test_target.h"

#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using namespace std::literals;

/// What stands in Debian 13's libmpich.so.12.4.1 for MPI_Get_library_version.
constexpr auto mpich_text = "\0MPICH Version:      %s\n\0MPICH Release date: %s\n\0"sv;
constexpr auto mpich_constants = "--with-device=ch4:ucx\0"
                                 "16:1:4\0\0\0\0\0\0Wed Apr 17 15:30:02 CDT 2024\0"
                                 "4.2.1\0\0\0MPII_init_async\0"sv;

class MpichRelease : public testing::Test {
protected:
  MpichRelease() { memory.fail_with({"connect.lost", "nothing is to be read", ""}); }

  std::optional<MpiLibrary> identify(std::string_view constants,
                                     const std::string& exported = "MPIR_Dup_fn") {
    test::ElfBuilder builder(test::elf_shapes[0]);
    builder.add_symbols(SHT_DYNSYM,
                        {{exported, 0x10100, 16, STT_FUNC}, {"PMPI_Init", 0x10120, 16, STT_FUNC}});
    builder.add_data(std::string(constants));
    builder.write(directory / "libmpich.so.12");
    images.emplace(images_of((directory / "libmpich.so.12").string(), "/usr/lib/libmpich.so.12"));
    auto found = identify_mpi(space());
    EXPECT_TRUE(found);
    return found ? std::move(*found) : std::nullopt;
  }

  AddressSpace space() { return {*images, memory, platform}; }

  test::TestDirectory directory;
  std::optional<ImageSet> images;
  FakeMemory memory;
  Platform platform;
};

TEST_F(MpichRelease, IsKnownByTheInterfaceAndTheTextsOfTheLibrary) {
  const auto mpi = identify(std::string(mpich_text) + std::string(mpich_constants));
  ASSERT_TRUE(mpi);
  EXPECT_EQ(mpi->provider, "mpich");
  EXPECT_EQ(mpi->name, "MPICH");
  EXPECT_EQ(mpi->version, "4.2.1");
  EXPECT_EQ(mpi->dll_name, "");
  EXPECT_EQ(mpi->image->target_path, "/usr/lib/libmpich.so.12");
}

TEST_F(MpichRelease, OfACompilerThatKeepsTheConstantsInTheirOrder) {
  const auto mpi = identify(std::string(mpich_text) +
                            "4.3.0rc2\0\0\0\0\0\0\0\0Mon Jan 13 10:33:27 CST 2025\0\0\0\0"
                            "17:0:5\0"s);
  ASSERT_TRUE(mpi);
  EXPECT_EQ(mpi->version, "4.3.0rc2");
}

// The library is read piece by piece; none of these places may fall between two pieces.
TEST_F(MpichRelease, IsFoundWhereverItsTextsStand) {
  constexpr std::size_t piece = std::size_t{256} << 10;
  for (std::size_t before = piece - 800; before < piece + 100; before += 31) {
    const auto mpi =
        identify(std::string(before, 'x') + std::string(mpich_text) + std::string(mpich_constants));
    ASSERT_TRUE(mpi);
    EXPECT_EQ(mpi->name, "MPICH") << before;
    EXPECT_EQ(mpi->version, "4.2.1") << before;
  }
}

TEST_F(MpichRelease, OfMpisThatAreMadeOfMpichHasTheirNames) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"\0MVAPICH Version:\t%s\n\0"sv, "MVAPICH"},
      {"\0MVAPICH2 Version:\t%s\n\0MPICH Version:\t%s\n\0"sv, "MVAPICH"},
      {"\0Intel(R) MPI Library 2021.13 for Linux* OS\n\0"sv, "Intel MPI"},
      {"\0no MPICH Version: of anything\0"sv, "MPICH ABI"},
      {""sv, "MPICH ABI"}};
  for (const auto& [text, name] : cases) {
    const auto mpi = identify(text);
    ASSERT_TRUE(mpi) << text;
    EXPECT_EQ(mpi->provider, "mpich");
    EXPECT_EQ(mpi->name, name);
    EXPECT_EQ(support_named(name).facts().provider, "mpich") << "as reports look it up";
    EXPECT_FALSE(mpi->version) << text;
  }
}

TEST_F(MpichRelease, HasNoVersionWhereNoneStandsBesideTheDate) {
  for (const auto constants :
       {"4.2.1\0"sv, "Wed Apr 17 15:30:02 CDT 2024\0"sv,
        "Wed Apr 17 15:30:02 CDT 2024\0x\0004.2.1\0"sv, "unreleased development copy\0004.2.1\0"sv,
        "any text that ends in 2024\0004.2.1\0"sv, "Wed Apr 17 15:30:02 CDT 2024\0$(reboot)\0"sv,
        "Wed Apr 17 15:30:02 CDT 2024\0004.\0"sv,
        "4.2.0\0Wed Apr 17 15:30:02 CDT 2024\0004.2.1\0"sv}) {
    const auto mpi = identify(std::string(mpich_text) + std::string(constants));
    ASSERT_TRUE(mpi);
    EXPECT_EQ(mpi->name, "MPICH");
    EXPECT_FALSE(mpi->version) << *mpi->version;
  }
}

TEST_F(MpichRelease, IsAskedOfNoLibraryWithoutTheInterface) {
  EXPECT_FALSE(identify(std::string(mpich_text) + std::string(mpich_constants), "MPIR_dup_fn"));
}

// A layout of another version would give a false answer: without types there is none.
TEST_F(MpichRelease, LeadsToNoLayoutAndNoState) {
  ASSERT_TRUE(identify(std::string(mpich_text) + std::string(mpich_constants)));
  const auto& mpich = support_of("mpich");
  EXPECT_EQ(mpich.read_state(space()).value(), MpiState::unknown);
  EXPECT_EQ(mpich.read_thread_level(space()).value(), ThreadLevel::unknown);
  EXPECT_FALSE(mpich.read_transport(space()).value().name);
  Warnings warnings;
  EXPECT_FALSE(mpich.read_variables(space(), warnings).value());
  const auto layout = mpich::find_layout(space());
  ASSERT_TRUE(layout);
  EXPECT_FALSE(layout->communicator.context);
  EXPECT_FALSE(layout->request.kind);
  for (const auto& list : layout->lists)
    EXPECT_FALSE(list);
  const auto types =
      mpich.check_types([&](std::string_view type) { return images->find_type(type); }, space());
  ASSERT_TRUE(types);
  EXPECT_FALSE(types->fit);
}

} // namespace
} // namespace mqbridge
