// What the recorder keeps, on platforms of every word size and byte order, dumped through
// mqbridge's own debug DLL: what the program says that it recorded, and the same as natively.

#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/recorder_poster.h"
#include "tests/support/requirements.h"

#include <gtest/gtest.h>
#include <memory>

namespace mqbridge::e2e {
namespace {

class RecorderOn : public testing::TestWithParam<const char*> {};

TEST_P(RecorderOn, DumpEqualsWhatWasRecordedAndTheNativeOne) {
  const RecorderPlatform& platform = recorder_platform(GetParam());
  MQBRIDGE_SKIP_IF_LACKING(lacking(platform));
  expect_recorded_truth(platform);
}

INSTANTIATE_TEST_SUITE_P(Platforms, RecorderOn,
                         testing::Values("x86_64", "i386", "s390x", "ppc", "mips", "m68k"),
                         [](const auto& of) { return std::string(of.param); });

/// Four ranks of one job, each on a platform of its own: two under native gdbservers, two under
/// qemu's stub. Each stub has started its process, and holds it at its entry.
TEST(RecorderOnFourPlatforms, OneDumpIsRightAboutEach) {
  std::vector<std::unique_ptr<RecorderPoster>> posters;
  std::vector<std::string> arguments;
  for (const char* architecture : {"x86_64", "i386", "s390x", "ppc"}) {
    const RecorderPlatform& platform = recorder_platform(architecture);
    const auto lack = lacking(platform);
    if (lack == test::no_ia32)
      continue;
    MQBRIDGE_SKIP_IF_LACKING(lack);
    posters.push_back(std::make_unique<RecorderPoster>(platform, HeldAt::entry,
                                                       static_cast<int>(posters.size())));
    arguments.push_back(posters.back()->endpoint());
  }
  const auto options = posters.front()->options();
  arguments.insert(arguments.end(), options.begin(), options.end());
  const DumpOutcome dump = dump_json(arguments);
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  const auto& ranks = dump.document["ranks"];
  ASSERT_EQ(ranks.size(), posters.size());
  for (std::size_t i = 0; i < posters.size(); ++i) {
    SCOPED_TRACE(posters[i]->platform().architecture);
    EXPECT_EQ(ranks[i]["rank"], i);
    EXPECT_EQ(ranks[i]["world_size"], 8);
    expect_recorded(*posters[i], ranks[i]);
    // One job: what is the same communicator has the same key on each.
    EXPECT_EQ(find_communicator(ranks[i], "reversed")["key"],
              find_communicator(ranks[0], "reversed")["key"]);
  }
  for (auto& poster : posters)
    EXPECT_TRUE(poster->finishes());
}

/// At its entry a static program has nothing recorded yet: that is said, and not shown as empty.
TEST(RecorderAtEntry, ThereAreNoQueuesYet) {
  const RecorderPlatform& platform = recorder_platform("ppc");
  MQBRIDGE_SKIP_IF_LACKING(lacking(platform));
  const RecorderPoster poster(platform, HeldAt::entry);
  const DumpOutcome dump = dump_json({poster.endpoint()});
  ASSERT_FALSE(dump.document.is_null()) << testing::PrintToString<Outcome>(dump);
  const auto& rank = dump.document["ranks"][0];
  EXPECT_EQ(rank["mpi"]["state"], "not_initialized");
  EXPECT_FALSE(find_error(rank, "mpi.not_initialized").is_null());
  EXPECT_EQ(rank["communicators"].size(), 0U);
}

} // namespace
} // namespace mqbridge::e2e
