#include "host/dump/take_dump.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace mqbridge {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> endpoints(const std::string& text) {
  const auto targets = TargetSpec::parse_all(text);
  if (!targets)
    return {"error: " + targets.error().message};
  std::vector<std::string> texts;
  for (const auto& target : *targets)
    texts.push_back(target.text());
  return texts;
}

TEST(TargetSpec, SeveralProcessesOfThisHostAreSeveralTargets) {
  EXPECT_THAT(endpoints("local:7"), ElementsAre("local:7"));
  EXPECT_THAT(endpoints("local:7,3,12"), ElementsAre("local:7", "local:3", "local:12"));
  EXPECT_THAT(endpoints("3=node-7:7001"), ElementsAre("node-7:7001"));
  EXPECT_THAT(endpoints("exec:echo local:1,2-3"), ElementsAre("exec:echo local:1,2-3"));
}

/// A range is of the processes that run: between their numbers are those of threads, and of none;
/// and never of this one, which could not go on.
TEST(TargetSpec, ARangeIsOfWhatRuns) {
  const auto own = ::getpid();
  std::jthread thread([](std::stop_token stop) {
    while (!stop.stop_requested())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  const pid_t running = ::fork();
  if (running == 0) {
    ::pause();
    ::_exit(0);
  }
  const pid_t ended = ::fork();
  if (ended == 0)
    ::_exit(0);
  ::waitpid(ended, nullptr, 0);
  const auto found = endpoints(fmt::format("local:{}-{}", own, std::max(ended, running)));
  EXPECT_THAT(found, Contains(fmt::format("local:{}", running)));
  EXPECT_THAT(found, testing::Not(Contains(fmt::format("local:{}", own))));
  EXPECT_THAT(found, testing::Not(Contains(fmt::format("local:{}", ended))));
  for (const auto& endpoint : found) {
    const auto pid = endpoint.substr(endpoint.find(':') + 1);
    EXPECT_NE(::access(fmt::format("/proc/{}/task/{}", own, pid).c_str(), F_OK), 0)
        << "a thread of this process";
  }
  ::kill(running, SIGKILL);
  ::waitpid(running, nullptr, 0);
}

TEST(TargetSpec, ACoreFileIsTheSameByWhateverName) {
  const auto core = [](const std::string& path) {
    return TargetSpec::parse("core:" + path).value();
  };
  EXPECT_TRUE(core("/proc/self/exe").is_same_process(core("/proc/self/../self/exe")));
  EXPECT_TRUE(core("/nowhere/core").is_same_process(core("/nowhere/core")));
  EXPECT_FALSE(core("/nowhere/core").is_same_process(core("/nowhere/other")));
  EXPECT_FALSE(core("/proc/self/exe").is_same_process(TargetSpec::parse("node:7001").value()));
}

TEST(TargetSpec, WhatNamesNoProcessIsSaid) {
  for (const char* text :
       {"local:7,", "local:,7", "local:7,,8", "local:7-", "local:-7", "local:9-7", "local:7-x",
        "local:0-7", "local:7-8-9", "local:7,99999999999"})
    EXPECT_THAT(endpoints(text), ElementsAre(HasSubstr("neither a process id nor a range")))
        << text;
  EXPECT_THAT(endpoints("local:2147483646-2147483647"),
              ElementsAre(HasSubstr("no process of this host has a number from")));
  EXPECT_THAT(endpoints("3=local:7,8"), ElementsAre(HasSubstr("one rank, and several processes")));
}

} // namespace
} // namespace mqbridge
