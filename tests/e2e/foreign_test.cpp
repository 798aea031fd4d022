// Real Open MPI of other word sizes and byte orders than this machine's, dumped through this
// machine's own debug DLL: equal to the native truth.

#include "tests/e2e/harness/foreign_poster.h"
#include "tests/e2e/harness/foreign_truth.h"
#include "tests/e2e/harness/oracle.h"
#include "tests/support/eventually.h"
#include "tests/support/gdb_server.h"
#include "tests/support/host_mpi.h"
#include "tests/support/requirements.h"
#include "tests/support/temp_directory.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <regex>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test::ChildSpec;
using test::GdbServer;
using test::ServerMode;
using test::TempDirectory;
using testing::IsEmpty;

using Case = std::tuple<std::string, std::string>; // target, scenario

std::string name_of(const testing::TestParamInfo<Case>& info) {
  std::string name = std::get<0>(info.param) + "_" + std::get<1>(info.param);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

class ForeignTest : public testing::TestWithParam<Case> {};

TEST_P(ForeignTest, DumpEqualsWhatWasPostedAndTheNativeOne) {
  const auto& [target, scenario] = GetParam();
  const ForeignPlatform& platform = foreign_platform(target);
  MQBRIDGE_SKIP_IF_LACKING(lacking(platform));
  expect_foreign_truth(platform, scenario);
}

INSTANTIATE_TEST_SUITE_P(Platforms, ForeignTest,
                         testing::Combine(testing::Values("i386", "s390x"),
                                          testing::ValuesIn(lone_scenarios())),
                         name_of);

// On a big-endian target the DLL takes the wrong byte for the status of a finished request; a rank
// that is blocked shows its pending receives as complete on a little-endian one. Where these tests
// find nothing to repair, they prove nothing.
TEST(ForeignRepairTest, TheStatusThatTheDllReadsWrongIsRepaired) {
  MQBRIDGE_SKIP_IF_NOT_OPENMPI("4.1"); // only its DLL is believed of these targets
  const ForeignPlatform& platform = foreign_platform("s390x");
  MQBRIDGE_SKIP_IF_LACKING(lacking(platform));
  ForeignPoster poster(platform, "mix");
  const DumpOutcome dump = dump_json(poster);
  const json done = find_communicator(dump.document["ranks"][0], "done");
  ASSERT_EQ(done["queues"]["send"]["total"], 5); // oracle_poster: all of them complete
  for (const json& operation : done["queues"]["send"]["operations"]) {
    EXPECT_EQ(operation["status"], "complete");
    EXPECT_THAT(operation["repairs"], testing::Contains("status"));
  }
}

DumpOutcome dump_with_types(ForeignPoster& poster, const std::string& types) {
  std::vector<std::string> arguments = poster.options();
  arguments.insert(arguments.end(), {"--types", types, poster.endpoint()});
  return dump_json(arguments);
}

// In a dump of several platforms each rank has its own files.
TEST(ForeignTypesTest, FilesOfAnotherPlatformAreLeftToItsRanks) {
  const ForeignPlatform& platform = foreign_platform("s390x");
  MQBRIDGE_SKIP_IF_LACKING(lacking(platform));
  ForeignPoster poster(platform, "mix");
  const DumpOutcome dump = dump_with_types(poster, shipped_pack("i386").string());
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  const json& rank = dump.document["ranks"][0];
  EXPECT_NE(find_error(rank, "types.other_platform"), nullptr);
  expect_foreign(platform, rank);
}

// The layouts of a platform with other words, under the target's name: without the library's own
// word on its sizes they would be believed. (Those of a platform that differs in the byte order
// alone, such as ppc64el, are equal in all that is read.)
TEST(ForeignTypesTest, LayoutsOfAnotherPlatformUnderThisOnesNameAreRefused) {
  const ForeignPlatform& platform = foreign_platform("s390x");
  MQBRIDGE_SKIP_IF_LACKING(lacking(platform));
  const TempDirectory directory;
  const auto forged = directory / "forged.types";
  std::ofstream(forged) << std::regex_replace(text_of(shipped_pack("i386")),
                                              std::regex("platform .*"), "platform s390x big 8");
  ForeignPoster poster(platform, "mix");
  const DumpOutcome dump = dump_with_types(poster, forged.string());
  EXPECT_EQ(dump.status(), 1) << testing::PrintToString<Outcome>(dump);
  EXPECT_NE(find_error(dump.document["ranks"][0], "types.mismatch"), nullptr);
  EXPECT_EQ(poster.finish(), "");
}

class PackTest : public testing::TestWithParam<const char*> {};

TEST_P(PackTest, ShippedPackIsWhatTheHeadersOfItsPlatformGive) {
  const ForeignPlatform& platform = foreign_platform(GetParam());
  MQBRIDGE_SKIP_IF_LACKING(lacking(platform));
  expect_pack_as_shipped(platform);
}

INSTANTIATE_TEST_SUITE_P(Platforms, PackTest, testing::Values("i386", "s390x"),
                         [](const auto& each) { return std::string(each.param); });

// A poster that a gdbserver has started and holds at its entry.
struct Spawned {
  TempDirectory directory;
  GdbServer server;

  explicit Spawned(const std::function<ChildSpec(const std::filesystem::path&)>& command)
      : server(ServerMode::spawned, command(directory.path())) {}

  bool finishes() const {
    std::ofstream(directory / "go").flush();
    return test::eventually(30s, [&] { return std::filesystem::exists(directory / "finished.0"); });
  }
};

TEST(MixedPlatformsTest, OneDumpOfThreeIsRightForEach) {
  const ForeignPlatform& i386 = foreign_platform("i386");
  const ForeignPlatform& s390x = foreign_platform("s390x");
  MQBRIDGE_SKIP_IF_LACKING(lacking(i386));
  MQBRIDGE_SKIP_IF_LACKING(lacking(s390x));
  const Spawned little64([](const auto& directory) {
    return SingleProcess::command("oracle_poster", directory, {"mix", "signal"});
  });
  const Spawned little32([&](const auto& directory) {
    return foreign_command(i386, directory, {"mix", "signal"});
  });
  ForeignPoster big64(s390x, "mix");
  // Only one of them has its files elsewhere, and only that one is looked for there.
  const TempDirectory directory;
  std::ofstream(directory / "ranks")
      << fmt::format("- {}\n- {}   # a comment\n- \"{}\" sysroot={}\n", little64.server.endpoint(),
                     little32.server.endpoint(), big64.endpoint(), files_of(s390x).string());
  const DumpOutcome dump =
      dump_json({"--run-until", "signal=SIGUSR1", "--targets", (directory / "ranks").string()});
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  const json& ranks = dump.document["ranks"];
  ASSERT_EQ(ranks.size(), 3U);
  EXPECT_EQ(ranks[0]["platform"]["architecture"], "x86_64");
  expect_foreign(i386, ranks[1]);
  expect_foreign(s390x, ranks[2]);
  EXPECT_THAT(differences(read_oracle(little64.directory.path(), 0), ranks[0]), IsEmpty());
  EXPECT_THAT(differences(read_oracle(little32.directory.path(), 0), ranks[1]), IsEmpty());
  EXPECT_THAT(differences(read_oracle(big64.directory(), 0), ranks[2]), IsEmpty());
  EXPECT_TRUE(little64.finishes());
  EXPECT_TRUE(little32.finishes());
  EXPECT_EQ(big64.finish(), "");
}

} // namespace
} // namespace mqbridge::e2e
