// The service, with a real job that hangs: what it sees, and what becomes of the job when the
// service is killed.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/own_service.h"
#include "tests/support/eventually.h"
#include "tests/support/process_table.h"

#include <csignal>
#include <gmock/gmock.h>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;

TEST(Service, SaysByItselfThatAJobHangs) {
  const MpiJob job({.program = "ring_deadlock", .ranks = 4});
  ASSERT_TRUE(job.await_spinning({0, 1, 2, 3}));
  OwnService service(job.launcher(), "every = \"1s\"\n");
  ASSERT_TRUE(test::eventually(30s, [&] { return service.job()["stuck_since"].is_string(); }));
  const auto jobs = run_mqbridge({"jobs", "--service", service.socket()});
  EXPECT_THAT(jobs.out, HasSubstr("DEADLOCK (certain) since "));
  const auto dump =
      run_mqbridge({"dump", "--service", service.socket(), "--job", "ring", "--format", "json"});
  EXPECT_EQ(dump.status(), 0) << dump.err;
  const json document = json::parse(dump.out);
  EXPECT_EQ(document["ranks"].size(), 4U);
  EXPECT_EQ(document["analysis"]["core_ranks"], json::array({0, 1, 2, 3}));
  service.process().signal(SIGTERM);
  const auto ended = service.process().wait(20s);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->code, 0);
  for (int rank = 0; rank < 4; ++rank)
    EXPECT_FALSE(test::is_stopped(job.pid(rank)));
}

TEST(Service, ReadsItsConfigurationAgain) {
  OwnService service(1);
  service.configure("[[job]]\nname = \"other\"\nmpirun = 2\n");
  service.process().signal(SIGHUP);
  EXPECT_TRUE(test::eventually(10s, [&] { return service.job()["name"] == "other"; }));
  service.configure("[[job]]\nname = \"third\"\n");
  service.process().signal(SIGHUP);
  EXPECT_TRUE(test::eventually(10s, [&] {
    return service.process().err().find("stays as it was") != std::string::npos;
  })) << service.process().err();
  EXPECT_THAT(service.process().err(), HasSubstr("service.toml:1: "));
  EXPECT_EQ(service.job()["name"], "other");
  service.process().signal(SIGTERM);
  ASSERT_TRUE(service.process().wait(20s));
}

TEST(Service, KilledInTheMiddleOfALookLeavesTheJobRunningAndWhatItHasKept) {
  MpiJob job({.program = "ring_deadlock", .ranks = 4});
  ASSERT_TRUE(job.await_spinning({0, 1, 2, 3}));
  OwnService service(job.launcher());
  std::size_t kept = 0;
  for (const auto moment : {120ms, 400ms, 2200ms}) {
    const auto asked = run_mqbridge({"dump", "--service", service.socket(), "--job", "ring"});
    ASSERT_EQ(asked.status(), 0) << asked.err;
    ++kept;
    test::ChildProcess second(
        mqbridge_command({"dump", "--service", service.socket(), "--job", "ring"}));
    std::this_thread::sleep_for(moment);
    service.process().signal(SIGKILL);
    service.process().wait(5s);
    EXPECT_TRUE(test::eventually(15s, [&] {
      for (int rank = 0; rank < 4; ++rank)
        if (test::is_stopped(job.pid(rank)) || test::tracer_of(job.pid(rank)) != 0)
          return false;
      return true;
    })) << moment.count();
    second.wait(10s);
    service.start();
    EXPECT_GE(service.job()["looks"], kept) << moment.count();
    kept = service.job()["looks"];
    EXPECT_TRUE(service.job()["last_look"]["error"].is_null());
  }
}

} // namespace
} // namespace mqbridge::e2e
