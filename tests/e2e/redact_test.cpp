// --redact: none of a real job's secrets is in any report of it.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"

#include <array>
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
  std::vector<std::string> targets;
  for (int rank = 0; rank < job.ranks(); ++rank)
    targets.push_back(local_target(job.pid(rank)));
  const auto with = [&](std::vector<std::string> words) {
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
  const std::vector<std::vector<std::string>> reports = {
      {"dump", "--format", "text"},   {"dump", "--format", "json"},
      {"dump", "--format", "ndjson"}, {"dump", "--format", "tsv"},
      {"dump", "--format", "dot"},    {"why", "--format", "text"},
      {"stacks", "--format", "text"}, {"stacks", "--format", "ndjson"}};
  for (auto words : reports) {
    const auto name = words[0] + ' ' + words[2];
    words.emplace_back("--redact");
    const auto report = run_mqbridge(with(words));
    EXPECT_EQ(report.status(), 0) << name << testing::PrintToString(report);
    EXPECT_FALSE(report.out.empty()) << name;
    for (const std::string& secret : secrets)
      EXPECT_THAT(report.out, Not(HasSubstr(secret))) << name;
  }
}

} // namespace
} // namespace mqbridge::e2e
