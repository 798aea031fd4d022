// libmqbridge-handles.so in the real worker, behind its filters, over a real Open MPI process.

#include "host/mqs/ask_handles.h"
#include "tests/handles/stopped_rank.h"
#include "tests/mqs/test_target.h"

#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

class HandlesInTheWorker : public testing::Test {
protected:
  static e2e::JobSpec spec() {
    e2e::JobSpec spec;
    spec.program = "handles";
    return spec;
  }

  HandleResult ask(HandleQuestion question = {}) {
    const auto worker = sanitized_worker();
    HandleRequest request{{worker.program, MQBRIDGE_HANDLES_DLL, stopped.space(), "rank"},
                          std::move(question)};
    request.sandboxed = worker.sandboxed;
    return ask_handles(request);
  }

  e2e::MpiJob job{spec()};
  StoppedRank stopped{job.pid(0), x86_64(), MQBRIDGE_TEST_PACK};
  HandleFacts made = read_facts(job.directory() / "handles.0");
};

TEST_F(HandlesInTheWorker, AreAllListed) {
  const auto result = ask();
  ASSERT_FALSE(result.failure) << result.failure->message;
  EXPECT_THAT(result.dll_messages, IsEmpty());
  EXPECT_THAT(result.handles.refused, IsEmpty());
  EXPECT_THAT(result.handles.unlisted, IsEmpty());
  EXPECT_THAT(result.handles.incomplete, ElementsAre(HandleKind::request));
  std::set<std::uint64_t> listed;
  for (const auto& handle : result.handles.communicators)
    listed.insert(handle.handle);
  for (const auto& handle : result.handles.requests)
    listed.insert(handle.handle);
  for (const auto& handle : result.handles.errhandlers)
    listed.insert(handle.handle);
  for (const auto& [handle, facts] : made) {
    const bool unlisted = facts.contains("gone") || kind_of(handle) == "status" ||
                          (facts.contains("kind") && facts.at("kind").contains("generalized"));
    if (!unlisted) {
      EXPECT_TRUE(listed.contains(handle_of(handle))) << handle;
    }
  }
  RecordProperty("fetches", static_cast<int>(result.fetches));
}

TEST_F(HandlesInTheWorker, AreDescribedOneByOne) {
  for (const auto& [handle, facts] : made) {
    if (kind_of(handle) != "request")
      continue;
    const auto result = ask({{{HandleKind::request, handle_of(handle), false}}});
    ASSERT_FALSE(result.failure) << result.failure->message;
    ASSERT_EQ(result.handles.requests.size(), 1U) << handle;
    const auto& request = result.handles.requests[0];
    if (facts.contains("tag")) {
      EXPECT_THAT(request.tag, Optional(std::stoi(*facts.at("tag").begin()))) << handle;
      EXPECT_EQ(request.datatype, *facts.at("datatype").begin()) << handle;
    }
  }
}

} // namespace
} // namespace mqbridge
