// libmqbridge-handles.so where what the recorder keeps is damaged, or cannot be read.

#include "dll/recorder/layout.h"
#include "host/memory/reader.h"
#include "tests/handles/damaged_memory.h"
#include "tests/handles/stopped_rank.h"
#include "tests/support/faults_tried.h"

#include <chrono>
#include <cstddef>
#include <fmt/format.h>
#include <functional>
#include <gmock/gmock.h>

namespace mqbridge {
namespace {

class DamagedRecordedHandles : public testing::Test {
protected:
  DamagedRecordedHandles()
      : job(spec()), stopped(job.pid(0), x86_64(), ""),
        made(read_facts(job.directory() / "handles.0")) {}

  static e2e::JobSpec spec() {
    e2e::JobSpec spec;
    spec.program = "handles";
    spec.environment.emplace_back("LD_PRELOAD",
                                  MQBRIDGE_RECORDERS "/openmpi/libmqbridge-recorder.so");
    return spec;
  }

  template <class T>
  T read(std::uint64_t address) {
    T value = {};
    const auto bytes = std::as_writable_bytes(std::span(&value, 1));
    EXPECT_TRUE(read_exact(stopped.space().memory, {address}, bytes));
    return value;
  }

  std::uint64_t root() {
    return stopped.space().images.find_symbol(MQR_ROOT_SYMBOL)->address.value;
  }

  /// Everything that is said of what the program made, and of what is listed, with a hole there.
  struct Said {
    int process_code = -1;
    std::map<std::string, Facts> of;
    std::map<std::string, int> lists;
  };
  Said said_without(std::uint64_t from, std::uint64_t size) {
    const AddressSpace space = stopped.space();
    HoledMemory memory(space.memory, from, size);
    ToldHandles told(MQBRIDGE_HANDLES_DLL, {space.images, memory, space.platform});
    Said said{told.process_code, {}, {}};
    if (told.process_code != MPIDBG_SUCCESS)
      return said;
    for (const auto& [handle, facts] : made)
      said.of[handle] = told.tell(kind_of(handle), handle_of(handle));
    for (const char* kind : {"comm", "request", "errhandler"})
      said.lists[kind] = told.list(kind).code;
    return said;
  }

  e2e::MpiJob job;
  StoppedRank stopped;
  HandleFacts made;
};

TEST_F(DamagedRecordedHandles, NeitherCrashesNorHoldsTheDll) {
  constexpr std::uint64_t seeds = 60;
  const auto start = std::chrono::steady_clock::now();
  std::size_t known = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const AddressSpace space = stopped.space();
    GarbageWords memory(space.memory, seed, seed % 2 == 0 ? 40 : 400);
    ToldHandles told(MQBRIDGE_HANDLES_DLL, {space.images, memory, space.platform});
    known += told.process_code == MPIDBG_SUCCESS ? 1U : 0U;
    for (const auto& [handle, facts] : made)
      if (told.process_code == MPIDBG_SUCCESS)
        told.tell(kind_of(handle), handle_of(handle));
  }
  EXPECT_GT(known, seeds / 4);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(40));
  test::faults_tried(seeds);
}

TEST_F(DamagedRecordedHandles, WithoutItsRootSaysNothing) {
  EXPECT_EQ(said_without(root(), 8).process_code, MPIDBG_ERR_UNAVAILABLE);
}

// That something is not there takes that one could look.
TEST_F(DamagedRecordedHandles, WithAHoleInAListNothingIsTakenForNotThere) {
  const auto keeps = read<mqr_root>(root());
  const auto handles = read<mqr_handles>(keeps.handles.word);
  const auto first = read<mqr_communicator>(keeps.communicators.first.word);
  for (const std::uint64_t hole :
       {std::uint64_t{keeps.handles.word}, std::uint64_t{keeps.communicators.first.word},
        std::uint64_t{first.node.next.word}, std::uint64_t{handles.unqueued.first.word},
        std::uint64_t{handles.errhandlers.first.word}}) {
    const auto said = said_without(hole, 16);
    ASSERT_EQ(said.process_code, MPIDBG_SUCCESS);
    for (const auto& [handle, facts] : made)
      if (!facts.contains("gone")) {
        EXPECT_THAT(said.of.at(handle), testing::Not(testing::Contains(testing::Key("gone"))))
            << handle;
      }
    for (const auto& [kind, code] : said.lists)
      EXPECT_EQ(code, MPIDBG_ERR_UNAVAILABLE) << kind;
  }
}

// The table costs what is in it, not its communicator.
TEST_F(DamagedRecordedHandles, WithoutATableItsKindIsNotKnown) {
  const auto first = read<mqr_communicator>(read<mqr_root>(root()).communicators.first.word);
  ASSERT_NE(first.attributes.word, 0U);
  const auto world = fmt::format("comm {:#x}", std::uint64_t{first.handle.word});
  ASSERT_TRUE(made.contains(world));
  const auto said = said_without(first.attributes.word, 8);
  EXPECT_FALSE(said.of.at(world).contains("attribute"));
  EXPECT_EQ(said.of.at(world).at("name"), made.at(world).at("name"));
}

const Facts unavailable = {{"error", {fmt::to_string(int(MPIDBG_ERR_UNAVAILABLE))}}};

/// What is said where a value in the process is another one.
class ChangedRecordedHandles : public DamagedRecordedHandles {
protected:
  template <class T>
  void with(std::uint64_t at, const T& value, const std::function<void(ToldHandles&)>& look) {
    const AddressSpace space = stopped.space();
    OverwrittenMemory<T> memory(space.memory, at, value);
    ToldHandles told(MQBRIDGE_HANDLES_DLL, {space.images, memory, space.platform});
    ASSERT_EQ(told.process_code, MPIDBG_SUCCESS);
    look(told);
  }

  /// Operations of a queue whose requests the program has, with their addresses.
  std::vector<std::pair<std::uint64_t, mqr_operation>> requests_in(const mqr_list& queue) {
    std::vector<std::pair<std::uint64_t, mqr_operation>> found;
    for (std::uint64_t at = queue.first.word; at != 0;) {
      const auto operation = read<mqr_operation>(at);
      if (operation.request.word != 0 && (operation.flags & MQR_REQUEST_FREED) == 0)
        found.emplace_back(at, operation);
      at = operation.node.next.word;
    }
    return found;
  }
};

// MPI has given the handle away anew, and the recorder has not heard of the end of the first one.
TEST_F(ChangedRecordedHandles, OfTwoRequestsWithOneHandleItIsNotKnownWhich) {
  std::uint64_t comm = read<mqr_root>(root()).communicators.first.word;
  auto requests = requests_in(read<mqr_communicator>(comm).queues[MQR_RECEIVE]);
  while (requests.size() < 2) {
    comm = read<mqr_communicator>(comm).node.next.word;
    ASSERT_NE(comm, 0U);
    requests = requests_in(read<mqr_communicator>(comm).queues[MQR_RECEIVE]);
  }
  const std::uint64_t handle = requests[0].second.request.word;
  with(requests[1].first + offsetof(mqr_operation, request), handle, [&](ToldHandles& told) {
    EXPECT_EQ(told.tell("request", handle), unavailable);
    EXPECT_TRUE(told.list("request").handles.contains(handle));
  });
  // One of which the program has freed: it has no handle any more.
  const auto freed = requests[0].second.flags | MQR_REQUEST_FREED;
  with(requests[0].first + offsetof(mqr_operation, flags), freed, [&](ToldHandles& told) {
    EXPECT_THAT(told.tell("request", handle)["state"], testing::ElementsAre("freed"));
  });
}

TEST_F(ChangedRecordedHandles, OfTwoCommunicatorsWithOneHandleItIsNotKnownWhich) {
  const auto first = read<mqr_communicator>(read<mqr_root>(root()).communicators.first.word);
  const std::uint64_t second = first.node.next.word;
  const std::uint64_t handle = first.handle.word;
  with(second + offsetof(mqr_communicator, handle), handle,
       [&](ToldHandles& told) { EXPECT_EQ(told.tell("comm", handle), unavailable); });
  with(second + offsetof(mqr_communicator, fortran), first.fortran, [&](ToldHandles& told) {
    EXPECT_EQ(told.from_fortran("comm", static_cast<std::uint32_t>(first.fortran)), std::nullopt);
    EXPECT_EQ(told.tell("comm", handle)["rank"].size(), 1U);
  });
}

// What leaves one list for another one is in none for an instant.
TEST_F(ChangedRecordedHandles, WhileTheyChangeNothingIsTakenForNotThere) {
  const auto generation = read<mqr_root>(root()).generation;
  ASSERT_EQ(generation % 2, 0U);
  with(root() + offsetof(mqr_root, generation), generation + 1, [&](ToldHandles& told) {
    int gone = 0;
    for (const auto& [handle, facts] : made) {
      if (facts.contains("gone")) {
        ++gone;
        EXPECT_EQ(told.tell(kind_of(handle), handle_of(handle)), unavailable) << handle;
      }
    }
    EXPECT_GT(gone, 0);
    for (const char* kind : {"comm", "request", "errhandler"})
      EXPECT_EQ(told.list(kind).code, MPIDBG_ERR_UNAVAILABLE) << kind;
  });
}

// Fortran makes and frees some by itself.
TEST_F(ChangedRecordedHandles, WhereErrorHandlersAreUnseenNoneIsSaidToBeNotFreed) {
  const std::uint64_t handles = read<mqr_root>(root()).handles.word;
  const std::uint32_t flags = read<mqr_handles>(handles).flags | MQR_UNSEEN_ERRHANDLERS;
  with(handles + offsetof(mqr_handles, flags), flags, [&](ToldHandles& told) {
    for (const auto& [handle, facts] : made) {
      if (!facts.contains("freed") || kind_of(handle) != "errhandler")
        continue;
      const auto said = told.tell("errhandler", handle_of(handle));
      if (facts.at("freed").contains("1")) {
        EXPECT_EQ(said.at("freed"), facts.at("freed")) << handle;
      } else {
        EXPECT_FALSE(said.contains("freed")) << handle;
      }
    }
  });
}

} // namespace
} // namespace mqbridge
