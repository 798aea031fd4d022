#include "tests/handles/recorded_told.h"

#include "tests/handles/stopped_rank.h"

#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::Key;
using testing::Not;

/// Whether a message has come, and what became of it, the program's calls do not tell.
bool is_known(const std::string& key, const std::string& value) {
  if (key == "state")
    return value == "inactive" || value == "freed";
  return key != "error" && key != "actual_source" && key != "actual_tag" && key != "actual_bytes";
}

/// What the recorder has to say: not whether a receive has met a message. A communicator that is
/// freed in the middle of a receive it knows for as long as the receive, and the MPI perhaps not.
HandleFacts recordable(HandleFacts made) {
  for (auto& [handle, facts] : made) {
    facts.erase("met");
    if (facts.contains("freed") && kind_of(handle) == "comm")
      facts.erase("gone");
  }
  return made;
}

void expect_all_told(ToldHandles& told, const HandleFacts& made) {
  expect_told(told, made, Told::nothing_wrong);
  for (const auto& [handle, facts] : made) {
    const Facts said = told.tell(kind_of(handle), handle_of(handle));
    if (facts.contains("name") && facts.at("name").contains("copied grid")) {
      EXPECT_THAT(said, Not(Contains(Key("reordered")))) << "MPI_Comm_dup has no such argument";
    }
    for (const auto& [key, values] : facts) {
      if (is_known(key, *values.begin())) {
        EXPECT_THAT(said, Contains(Key(key))) << handle;
      }
    }
  }
}

/// All that the program has made are listed.
void expect_lists(ToldHandles& told, const HandleFacts& made) {
  const auto comms = told.list("comm");
  const auto requests = told.list("request");
  const auto errhandlers = told.list("errhandler");
  EXPECT_EQ(comms.code, MPIDBG_SUCCESS);
  EXPECT_EQ(errhandlers.code, MPIDBG_SUCCESS);
  EXPECT_THAT(requests.code, AnyOf(MPIDBG_SUCCESS, MPIDBG_ERR_UNAVAILABLE));
  for (const auto& [handle, facts] : made) {
    const auto value = handle_of(handle);
    const auto kind = kind_of(handle);
    const auto has = [&](const std::string& key, const std::string& what) {
      return facts.contains(key) && facts.at(key).contains(what);
    };
    if (kind == "comm") {
      EXPECT_EQ(comms.handles.contains(value), !facts.contains("gone")) << handle;
    } else if (kind == "request" && !facts.contains("gone") && !has("kind", "null")) {
      EXPECT_EQ(requests.handles.contains(value), !has("state", "freed")) << handle;
    } else if (kind == "errhandler") {
      EXPECT_TRUE(errhandlers.handles.contains(value)) << handle;
    }
  }
}

} // namespace

void expect_recorded(ToldHandles& told, HandleFacts made) {
  made = recordable(std::move(made));
  expect_all_told(told, made);
  expect_lists(told, made);
}

} // namespace mqbridge
