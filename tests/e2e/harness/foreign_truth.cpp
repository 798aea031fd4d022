#include "tests/e2e/harness/foreign_truth.h"

#include "tests/e2e/harness/foreign_poster.h"
#include "tests/e2e/harness/oracle.h"
#include "tests/e2e/harness/target_programs.h"
#include "tests/support/host_mpi.h"
#include "tests/support/pack_part.h"
#include "tests/support/temp_directory.h"

#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <iterator>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;

bool blocks(const std::string& scenario) {
  return scenario.starts_with("blocked");
}

} // namespace

const std::vector<std::string>& lone_scenarios() {
  static const std::vector<std::string> all = {
      "mix",          "receives=100",    "blocked_recv",   "blocked_ssend",
      "blocked_wait", "blocked_waitall", "blocked_waitany"};
  return all;
}

json native_rank(const std::string& scenario) {
  SingleProcess poster("oracle_poster", {scenario});
  EXPECT_TRUE(!blocks(scenario) || poster.await_spinning());
  const DumpOutcome dump = dump_json({local_target(poster.pid())});
  EXPECT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  return dump.document["ranks"][0];
}

void expect_foreign(const ForeignPlatform& platform, const json& rank) {
  EXPECT_EQ(rank["status"], "ok");
  EXPECT_EQ(rank["platform"], json({{"architecture", platform.architecture},
                                    {"byte_order", platform.byte_order},
                                    {"pointer_size", platform.pointer_size}}));
  EXPECT_EQ(rank["world_rank"], 0);
  EXPECT_EQ(rank["world_size"], 1);
  EXPECT_EQ(rank["mpi"]["transport"], "ob1");
  EXPECT_EQ(rank["mpi"]["state"], "initialized");
  EXPECT_EQ(rank["mpi"]["types_match"], "exact");
  EXPECT_EQ(rank["mpi"]["types_source"],
            fmt::format("pack openmpi-{}-{}.types", rank["mpi"]["version"].get<std::string>(),
                        platform.target));
  // A host of another release has no DLL that fits: then mqbridge reads ob1's lists itself.
  if (rank["mpi"]["version"] == test::openmpi_version()) {
    EXPECT_THAT(rank["dll"].value("path", ""), HasSubstr("libompi_dbg_msgq.so"));
  } else {
    EXPECT_EQ(rank["dll"], nullptr);
  }
  EXPECT_EQ(find_error(rank, "dll.version_differs"), nullptr);
}

void expect_foreign_truth(const ForeignPlatform& platform, const std::string& scenario) {
  ForeignPoster poster(platform, scenario);
  const DumpOutcome dump = dump_json(poster);
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  const json& rank = dump.document["ranks"][0];
  expect_foreign(platform, rank);
  EXPECT_THAT(differences(read_oracle(poster.directory(), 0), rank), IsEmpty());
  if (rank["mpi"]["version"] == test::openmpi_version()) { // others have other ids
    EXPECT_EQ(comparable_communicators(rank).dump(1),
              comparable_communicators(native_rank(scenario)).dump(1));
  }
  EXPECT_TRUE(blocks(scenario) ? poster.runs_on() : poster.finish().empty());
}

std::filesystem::path shipped_pack(const std::string& architecture) {
  return fmt::format("{}/packs/openmpi-4.1.4-{}.types", MQBRIDGE_BINARY_DIRECTORY, architecture);
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void expect_pack_as_shipped(const ForeignPlatform& platform) {
  const test::TempDirectory directory;
  const auto made = directory / "made.types";
  const auto libraries = files_of(platform) / "usr/lib" / platform.multiarch;
  const auto library = (libraries / "libmpi.so.40").string();
  std::vector<std::string> arguments = {
      "types",     "make",
      "--mpi",     "openmpi",
      "--cc",      platform.compiler + "-gcc",
      "--include", (libraries / "openmpi/include").string(),
      "--include", (files_of(platform) / "usr/include" / platform.multiarch).string(),
      "--include", (files_of(platform) / "usr/include").string(),
      "--library", library,
      "-o",        made.string()};
  const auto source = target_files("openmpi-source"); // of ./dev test --full
  const bool whole = std::filesystem::exists(source);
  if (whole)
    arguments.insert(arguments.end(), {"--source", source.string()});
  const Outcome make = run_mqbridge(arguments);
  ASSERT_EQ(make.status(), 0) << testing::PrintToString(make);
  const auto shipped = read_type_pack(shipped_pack(platform.target));
  const auto plain = read_type_pack(made);
  ASSERT_TRUE(shipped && plain);
  EXPECT_EQ(text_of(made), write_type_pack(test::PackPart(*shipped, *plain).pack));
  EXPECT_TRUE(!whole || text_of(made) == text_of(shipped_pack(platform.target)));
  const Outcome check = run_mqbridge(
      {"types", "check", shipped_pack(platform.target).string(), "--library", library});
  EXPECT_EQ(check.status(), 0) << testing::PrintToString(check);
  EXPECT_THAT(check.out, HasSubstr("109 sizes compared, all agree"));
}

} // namespace mqbridge::e2e
