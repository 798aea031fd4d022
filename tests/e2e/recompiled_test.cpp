// Programs that are built again while they hang: what runs is looked at, and not what has its name.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/oracle.h"
#include "tests/support/temp_directory.h"

#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <optional>
#include <string>

namespace mqbridge::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const fs::path inferiors = MQBRIDGE_BINARY_DIRECTORY "/inferiors";

/// A job whose program can be replaced.
class RecompiledTest : public testing::Test {
protected:
  RecompiledTest() {
    fs::copy_file(inferiors / "oracle_poster", program_);
    job_.emplace(JobSpec{.program = program_.string(), .arguments = {"mix"}});
  }

  void build_again() {
    fs::remove(program_);
    fs::copy_file(inferiors / "mpi_state", program_);
  }

  test::TempDirectory directory_;
  const fs::path program_ = directory_ / "solver";
  std::optional<MpiJob> job_;
};

bool shows_lines(const json& rank) {
  return rank["stacks"].dump().find("oracle_poster.c") != std::string::npos;
}

TEST_F(RecompiledTest, OfALiveJobTheLinesAreThoseOfWhatRuns) {
  build_again();
  const auto dump = dump_json({"--mpirun", std::to_string(job_->launcher())});
  EXPECT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  ASSERT_EQ(dump.document["ranks"].size(), 2U);
  for (int number = 0; number < 2; ++number) {
    const auto& rank = dump.document["ranks"][static_cast<std::size_t>(number)];
    EXPECT_THAT(differences(read_oracle(job_->directory(), number), rank), IsEmpty());
    EXPECT_TRUE(shows_lines(rank)) << rank["stacks"];
    EXPECT_THAT(rank["errors"].dump(), HasSubstr("image.replaced"));
  }
  EXPECT_EQ(job_->finish(), "");
}

TEST_F(RecompiledTest, OfACoreTheQueuesAreThereAndLinesWithTheExecutableThatRan) {
  const auto kept = directory_ / "kept";
  fs::copy_file(program_, kept);
  const auto written =
      run_program({{"gcore", "-o", (directory_ / "core").string(), std::to_string(job_->pid(1))}});
  ASSERT_EQ(written.status(), 0) << testing::PrintToString(written);
  build_again();
  const auto core = fmt::format("core:{}.{}", (directory_ / "core").string(), job_->pid(1));
  const auto oracle = read_oracle(job_->directory(), 1);

  const auto without = dump_json({core});
  EXPECT_EQ(without.status(), 0) << testing::PrintToString<Outcome>(without);
  const auto& rank = without.document["ranks"][0];
  EXPECT_THAT(differences(oracle, rank), IsEmpty());
  EXPECT_FALSE(shows_lines(rank));
  EXPECT_THAT(rank["errors"].dump(),
              AllOf(HasSubstr("image.build_id"), HasSubstr("core:FILE@EXECUTABLE")));

  const auto with = dump_json({fmt::format("{}@{}", core, kept.string())});
  EXPECT_EQ(with.status(), 0) << testing::PrintToString<Outcome>(with);
  EXPECT_THAT(differences(oracle, with.document["ranks"][0]), IsEmpty());
  EXPECT_TRUE(shows_lines(with.document["ranks"][0]));
  EXPECT_THAT(with.document["ranks"][0]["errors"].dump(), Not(HasSubstr("image.build_id")));
  EXPECT_EQ(job_->finish(), "");
}

} // namespace
} // namespace mqbridge::e2e
