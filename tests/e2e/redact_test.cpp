// --redact: none of a real job's secrets is in any report of it.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/temp_directory.h"

#include <array>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

TEST(Redacted, HasNoSecretOfTheJob) {
  MpiJob job({.program = "ring_deadlock",
              .arguments = {},
              .ranks = 3,
              .environment = {{"SITE_TOKEN", "hunter2"}}});
  const auto with = [&](std::vector<std::string> words) {
    const auto targets = job.targets();
    words.insert(words.end(), targets.begin(), targets.end());
    return words;
  };
  const auto plain = dump_json(with({"--analyze", "--twice", "0"}));
  const json& rank = plain.document["ranks"][0];
  const std::string executable = rank["executable"];
  const std::vector<std::string> secrets = {
      '"' + rank["host"].get<std::string>() + '"',
      executable.substr(0, executable.rfind('/')),
      rank["endpoint"],
      job.directory().string(),
      "hunter2",
      rank["communicators"][0]["queues"]["receive"]["operations"][0]["buffer"],
      rank["communicators"][0]["queues"]["receive"]["operations"][0]["request"],
      '@' + host_name()};
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_THAT(plain.out, HasSubstr(secrets[i])); // else nothing is shown below
  const test::TempDirectory directory;
  const std::string saved = (directory / "dump.json").string();
  std::ofstream(saved) << plain.out;
  const std::vector<std::string> of_job = {"--collect", "--launcher", "local", "--mpirun",
                                           std::to_string(job.launcher())};
  std::vector<std::vector<std::string>> reports;
  for (const char* format : {"text", "json", "ndjson", "tsv", "dot"}) {
    reports.push_back(with({"dump", "--format", format}));
    reports.push_back({"show", saved, "--format", format});
  }
  reports.push_back(with({"why", "--format", "text"}));
  reports.push_back(with({"stacks", "--format", "text"}));
  reports.push_back(with({"stacks", "--format", "ndjson"}));
  for (const char* format : {"text", "json"}) {
    reports.push_back({"dump", "--format", format});
    reports.back().insert(reports.back().end(), of_job.begin(), of_job.end());
    reports.push_back({"analyze", "--before", saved, saved, "--format", format});
  }
  for (auto& words : reports) {
    const auto name = testing::PrintToString(words);
    words.emplace_back("--redact");
    const auto report = run_mqbridge(words);
    EXPECT_EQ(report.status(), 0) << name << testing::PrintToString(report);
    EXPECT_FALSE(report.out.empty()) << name;
    for (const std::string& secret : secrets)
      EXPECT_THAT(report.out, Not(HasSubstr(secret))) << name;
  }
}

} // namespace
} // namespace mqbridge::e2e
