// What debug DLLs say of handles: a DLL of version 1 by somebody else, on four platforms; one that
// has everything; and those that misbehave, which cost an error that names DLL and function, and no
// false answer.

#include "host/mqs/ask_handles.h"
#include "tests/mqs/test_target.h"
#include "tests/support/faults_tried.h"

#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Optional;
using testing::SizeIs;
using testing::UnorderedElementsAre;

using Handle = HandleQuestion::Handle;

HandleResult ask(TestTarget& target, const std::string& dll, std::vector<Handle> handles = {},
                 std::chrono::milliseconds limit = 10s) {
  HandleRequest request{static_cast<const WorkerRequest&>(target.request(dll)),
                        {std::move(handles)}};
  request.cpu_limit = limit;
  return ask_handles(request);
}

HandleResult ask(const std::string& behaviour, std::vector<Handle> handles = {},
                 std::chrono::milliseconds limit = 10s) {
  TestTarget target(test_platforms().front());
  return ask(target, "HANDLES_" + behaviour, std::move(handles), limit);
}

const CommunicatorHandle& first(const HandleResult& result) {
  return result.handles.communicators.at(0);
}

class HandlesOfVersion1 : public testing::TestWithParam<Platform> {
protected:
  TestTarget target{GetParam(),
                    {{1, 1, "MPI_COMM_WORLD", {0, 1, 2}, {}}, {2, 0, "row", {1, 2}, {}}}};
};

TEST_P(HandlesOfVersion1, AreThoseThatTheDllNames) {
  const auto result = ask(target, "handles_v1");
  ASSERT_FALSE(result.failure) << result.failure->message;
  EXPECT_EQ(result.handles.dll_version, "handles of version 1");
  EXPECT_EQ(result.dll_compatibility, 1);
  ASSERT_THAT(result.handles.communicators, SizeIs(2));
  const auto& world = result.handles.communicators[0];
  EXPECT_EQ(world.name, "MPI_COMM_WORLD");
  EXPECT_TRUE(world.predefined);
  EXPECT_THAT(world.freed, Optional(false));
  EXPECT_THAT(world.rank, Optional(1));
  EXPECT_THAT(world.size, Optional(3));
  EXPECT_THAT(world.group, ElementsAre(Optional(0), Optional(1), Optional(2)));
  EXPECT_THAT(world.fortran, Optional(0));
  const auto& row = result.handles.communicators[1];
  EXPECT_EQ(row.name, "row");
  EXPECT_FALSE(row.predefined);
  EXPECT_THAT(row.rank, Optional(0));
  EXPECT_THAT(row.group, ElementsAre(Optional(1), Optional(2)));
}

TEST_P(HandlesOfVersion1, SayNothingOfWhatTheDllDoesNotKnow) {
  const auto result = ask(target, "handles_v1");
  ASSERT_FALSE(result.failure);
  const auto& world = first(result);
  EXPECT_FALSE(world.topology);
  EXPECT_FALSE(world.attributes);
  EXPECT_FALSE(world.requests);
  EXPECT_FALSE(world.errhandler);
  EXPECT_FALSE(world.context);
  EXPECT_THAT(result.handles.incomplete, ElementsAre(HandleKind::communicator));
  EXPECT_THAT(result.handles.unlisted,
              UnorderedElementsAre(HandleKind::request, HandleKind::errhandler));
}

TEST_P(HandlesOfVersion1, AreAnsweredOneByOne) {
  const auto row = ask(target, "handles_v1").handles.communicators.at(1).handle;
  const auto result = ask(target, "handles_v1",
                          {{HandleKind::communicator, row},
                           {HandleKind::communicator, 1, true},
                           {HandleKind::communicator, row + 1},
                           {HandleKind::communicator, 9, true},
                           {HandleKind::request, row}});
  ASSERT_FALSE(result.failure) << result.failure->message;
  ASSERT_THAT(result.handles.communicators, SizeIs(2));
  for (const auto& each : result.handles.communicators)
    EXPECT_EQ(each.name, "row");
  ASSERT_THAT(result.handles.refused, SizeIs(3));
  const auto& refused = result.handles.refused;
  EXPECT_EQ(refused[0].handle.value, row + 1);
  EXPECT_THAT(refused[0].reason,
              AllOf(HasSubstr("mpidbg_comm_query"), HasSubstr("nothing there is such an object")));
  EXPECT_THAT(refused[1].reason, HasSubstr("mpidbg_comm_f2c"));
  EXPECT_THAT(refused[2].reason,
              AllOf(HasSubstr("mpidbg_request_query"), HasSubstr("no function for that")));
}

INSTANTIATE_TEST_SUITE_P(, HandlesOfVersion1, testing::ValuesIn(test_platforms()),
                         [](const auto& of) { return platform_name(of.param); });

TEST(AskHandles, BringsAllThatADllSaysOfACommunicator) {
  const auto result = ask("ANSWERS");
  ASSERT_FALSE(result.failure) << result.failure->message;
  ASSERT_THAT(result.handles.communicators, SizeIs(3));
  const auto& grid = first(result);
  EXPECT_EQ(grid.handle, 0x10U);
  EXPECT_THAT(grid.fortran, Optional(4));
  EXPECT_EQ(grid.name, "grid");
  EXPECT_THAT(grid.group, ElementsAre(Optional(4), std::nullopt, Optional(6)));
  EXPECT_FALSE(grid.remote_size);
  EXPECT_THAT(grid.context, Optional(99U));
  EXPECT_THAT(grid.errhandler, Optional(0x30U));
  EXPECT_THAT(grid.requests, Optional(ElementsAre(0x20U)));
  EXPECT_THAT(grid.windows, Optional(ElementsAre(0x50U, 0x51U)));
  EXPECT_THAT(grid.files, Optional(IsEmpty()));
  ASSERT_TRUE(grid.attributes);
  ASSERT_THAT(*grid.attributes, SizeIs(2));
  EXPECT_EQ(grid.attributes->at(0).name, "MPI_TAG_UB");
  EXPECT_EQ(grid.attributes->at(0).value, "32767");
  EXPECT_EQ(grid.attributes->at(1).keyval, -5);
  ASSERT_TRUE(grid.topology);
  EXPECT_EQ(grid.topology->kind, TopologyKind::cartesian);
  EXPECT_THAT(grid.topology->reordered, Optional(true));
  EXPECT_THAT(grid.topology->dims, ElementsAre(3, 1));
  EXPECT_THAT(grid.topology->periods, ElementsAre(true, false));
}

TEST(AskHandles, BringsGraphsAndIntercommunicators) {
  const auto result = ask("ANSWERS");
  ASSERT_THAT(result.handles.communicators, SizeIs(3));
  const auto& graph = result.handles.communicators[1];
  ASSERT_TRUE(graph.topology);
  EXPECT_EQ(graph.topology->kind, TopologyKind::graph);
  EXPECT_THAT(graph.topology->index, ElementsAre(1, 3, 4));
  EXPECT_THAT(graph.topology->edges, ElementsAre(1, 0, 2, 1));
  EXPECT_THAT(graph.topology->reordered, Optional(false));
  const auto& neighbors = result.handles.communicators[2];
  EXPECT_TRUE(neighbors.intercommunicator);
  EXPECT_THAT(neighbors.remote_size, Optional(2));
  EXPECT_THAT(neighbors.remote_group, ElementsAre(Optional(0), Optional(1)));
  ASSERT_TRUE(neighbors.topology);
  EXPECT_EQ(neighbors.topology->kind, TopologyKind::dist_graph);
  EXPECT_EQ(neighbors.topology->reordered, std::nullopt) << "the DLL does not know it";
  EXPECT_TRUE(neighbors.topology->neighbors_known);
  EXPECT_THAT(neighbors.topology->sources, ElementsAre(1, 2));
  EXPECT_THAT(neighbors.topology->source_weights, ElementsAre(10, 20));
  EXPECT_THAT(neighbors.topology->destinations, ElementsAre(2));
  EXPECT_THAT(neighbors.topology->destination_weights, ElementsAre(30));
}

TEST(AskHandles, BringsAllThatADllSaysOfARequest) {
  const auto result = ask("ANSWERS");
  ASSERT_THAT(result.handles.requests, SizeIs(1));
  const auto& request = result.handles.requests[0];
  EXPECT_EQ(request.handle, 0x20U);
  EXPECT_THAT(request.fortran, Optional(17));
  EXPECT_EQ(request.kind, RequestHandleKind::receive);
  EXPECT_EQ(request.state, RequestHandleState::complete);
  EXPECT_THAT(request.persistent, Optional(true));
  EXPECT_THAT(request.comm, Optional(0x10U));
  EXPECT_THAT(request.peer, Optional(-1));
  EXPECT_THAT(request.tag, Optional(5));
  EXPECT_THAT(request.count, Optional(100U));
  EXPECT_THAT(request.bytes, Optional(800U));
  EXPECT_THAT(request.buffer, Optional(0x7000U));
  EXPECT_THAT(request.actual_source, Optional(2));
  EXPECT_THAT(request.actual_tag, Optional(5));
  EXPECT_THAT(request.actual_bytes, Optional(400U));
  EXPECT_THAT(request.error, Optional(15));
  EXPECT_THAT(request.cancelled, Optional(false));
  EXPECT_EQ(request.call, "MPI_Recv_init");
  EXPECT_EQ(request.datatype, "MPI_DOUBLE");
  ASSERT_TRUE(request.site);
  EXPECT_EQ(request.site->address.value, 0x401234U);
}

TEST(AskHandles, BringsErrorHandlersAndStatuses) {
  const auto result = ask("ANSWERS", {{HandleKind::errhandler, 0x30}, {HandleKind::status, 0x40}});
  ASSERT_FALSE(result.failure);
  ASSERT_THAT(result.handles.errhandlers, SizeIs(1));
  const auto& errhandler = result.handles.errhandlers[0];
  EXPECT_THAT(errhandler.fortran, Optional(2)); // a code as well, which a DLL of part 2 has not
  EXPECT_TRUE(errhandler.for_communicators);
  EXPECT_FALSE(errhandler.for_files);
  EXPECT_THAT(errhandler.c_callback, Optional(true));
  EXPECT_THAT(errhandler.freed, Optional(true));
  const auto other = ask("ANSWERS", {{HandleKind::errhandler, 0x31}});
  ASSERT_THAT(other.handles.errhandlers, SizeIs(1));
  EXPECT_EQ(other.handles.errhandlers[0].freed, std::nullopt) << "the DLL does not know it";
  EXPECT_THAT(errhandler.callback, Optional(0x401000U));
  EXPECT_THAT(errhandler.attached_to, Optional(ElementsAre(0x10U, 0x11U)));
  ASSERT_THAT(result.handles.statuses, SizeIs(1));
  const auto& status = result.handles.statuses[0];
  EXPECT_THAT(status.source, Optional(1));
  EXPECT_THAT(status.tag, Optional(7));
  EXPECT_THAT(status.error, Optional(0));
  EXPECT_THAT(status.cancelled, Optional(true));
  EXPECT_THAT(status.bytes, Optional(64U));
}

TEST(AskHandles, BringsTheCommunicatorOfARequestThatIsAskedForOnce) {
  const auto result = ask(
      "ANSWERS",
      {{HandleKind::request, 0x20}, {HandleKind::request, 0x20}, {HandleKind::communicator, 0x11}});
  ASSERT_FALSE(result.failure) << result.failure->message;
  EXPECT_THAT(result.handles.requests, SizeIs(2));
  ASSERT_THAT(result.handles.communicators, SizeIs(2));
  EXPECT_EQ(first(result).handle, 0x11U);
  EXPECT_EQ(result.handles.communicators[1].handle, 0x10U);
  EXPECT_THAT(result.handles.communicators[1].group, SizeIs(3));
  const auto both = ask("ANSWERS", {{HandleKind::request, 0x20}, {HandleKind::communicator, 0x10}});
  EXPECT_THAT(both.handles.communicators, SizeIs(1)) << "it is asked for itself";
  EXPECT_THAT(ask("ANSWERS").handles.communicators, SizeIs(3)) << "all are listed";
}

TEST(AskHandles, SaysThatNothingIsThereToBeRead) {
  const auto result = ask("READS_AT_THE_HANDLE", {{HandleKind::request, 0xffffffffff20}});
  ASSERT_FALSE(result.failure) << result.failure->message;
  ASSERT_THAT(result.handles.refused, SizeIs(1));
  EXPECT_EQ(result.handles.refused[0].reason,
            "mpidbg_request_query: nothing can be read at 0xffffffffff20, where it would be");
}

TEST(AskHandles, SaysWhichListsAreNotWhole) {
  const auto whole = ask("ANSWERS");
  EXPECT_THAT(whole.handles.incomplete, IsEmpty());
  EXPECT_THAT(whole.handles.unlisted, ElementsAre(HandleKind::errhandler)); // it has no such list
  const auto partly = ask("LISTS_PARTLY");
  EXPECT_THAT(partly.handles.communicators, SizeIs(1));
  EXPECT_THAT(partly.handles.incomplete, ElementsAre(HandleKind::communicator));
}

TEST(AskHandles, KeepsWhatIsOfAHandleThatIsListedAndNotThere) {
  const auto result = ask("ANSWERS");
  ASSERT_THAT(result.handles.refused, SizeIs(1));
  EXPECT_EQ(result.handles.refused[0].handle.value, 0x13U);
}

struct HandleFault {
  const char* dll;
  const char* code;
  std::vector<const char*> words; ///< that the message must have
  std::vector<Handle> asked = {};
  std::size_t kept = 0; ///< communicators that were answered before
};

void PrintTo(const HandleFault& fault, std::ostream* out) {
  *out << fault.dll;
}

class HandleDllFault : public testing::TestWithParam<HandleFault> {};

TEST_P(HandleDllFault, IsNamed) {
  test::faults_tried(1);
  const auto& fault = GetParam();
  const auto result = ask(fault.dll, fault.asked, 1s);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->code, fault.code) << result.failure->message;
  EXPECT_THAT(result.failure->message, HasSubstr(std::string(fault.dll) + ".so"));
  for (const char* word : fault.words)
    EXPECT_THAT(result.failure->message, HasSubstr(word));
  EXPECT_THAT(result.failure->hint, Not(IsEmpty()));
  EXPECT_THAT(result.handles.communicators, SizeIs(fault.kept));
  if (fault.asked.empty())
    EXPECT_THAT(result.handles.incomplete, Contains(HandleKind::request));
  else
    EXPECT_THAT(result.handles.refused, SizeIs(fault.asked.size() - fault.kept));
}

const std::vector<HandleFault>& handle_faults() {
  static const std::vector<Handle> comm = {{HandleKind::communicator, 0x10}};
  static const std::vector<Handle> request = {{HandleKind::communicator, 0x10},
                                              {HandleKind::request, 0x20}};
  static const std::vector<HandleFault> faults = {
      {"NO_QUERY", "dll.missing_function", {"mpidbg_comm_query"}},
      {"NEXT_VERSION", "dll.version", {"version 2"}},
      {"NARROW", "dll.width", {"4-byte"}},
      {"NARROW_BY_BITNESS", "dll.width", {"4-byte"}},
      {"FAILS_ONCE", "dll.failed", {"mpidbg_init_once", "no memory"}},
      {"SUPPORTS_NO_IMAGE", "dll.no_handles", {"mpidbg_init_per_image"}},
      {"PROCESS_UNAVAILABLE", "dll.no_handles", {"mpidbg_init_per_process", "lack"}},
      {"CRASHES_IN_COMM_QUERY", "dll.crashed", {"SIGSEGV", "mpidbg_comm_query"}, comm},
      {"CRASHES_IN_REQUEST_DESCRIBE",
       "dll.crashed",
       {"SIGSEGV", "mpidbg_request_describe"},
       request,
       1},
      {"CRASHES_IN_REQUEST_LIST", "dll.crashed", {"SIGSEGV", "mpidbg_request_list"}, {}, 3},
      {"CRASHES_IN_F2C", "dll.crashed", {"mpidbg_comm_f2c"}, {{HandleKind::communicator, 4, true}}},
      {"LOOPS_IN_ERRHANDLER_QUERY",
       "dll.timeout",
       {"mpidbg_errhandler_query"},
       {{HandleKind::errhandler, 0x30}}},
      {"EXITS_IN_STATUS_QUERY",
       "dll.crashed",
       {"exit status 7", "mpidbg_status_query"},
       {{HandleKind::status, 0x40}}},
      {"LISTS_MINUS_1", "dll.failed", {"mpidbg_comm_list", "-1 handles"}},
      {"LISTS_2_31", "dll.failed", {"mpidbg_comm_list", "2147483647 handles"}},
      {"LISTS_FOR_LONG", "dll.failed", {"mpidbg_comm_list", "65537 handles"}},
      {"LISTS_NOTHING_BY_COUNT", "dll.failed", {"mpidbg_comm_list", "no list of them"}},
      {"NAMES_WITHOUT_END", "dll.failed", {"a name map that does not end"}, {}, 4096},
      {"ANSWERS_WILD", "dll.crashed", {"SIGSEGV", "mpidbg_comm_query"}, comm},
      {"WILD_GROUP", "dll.crashed", {"SIGSEGV", "mpidbg_comm_query"}, comm},
  };
  return faults;
}

INSTANTIATE_TEST_SUITE_P(, HandleDllFault, testing::ValuesIn(handle_faults()),
                         [](const auto& of) { return std::string(of.param.dll); });

TEST(HandleDll, ThatCallsTheSystemIsStopped) {
  if (!test_worker().sandboxed)
    GTEST_SKIP() << "outside of the sandbox";
  test::faults_tried(1);
  const auto result = ask("CONNECTS_IN_COMM_QUERY");
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->code, "dll.forbidden");
  EXPECT_THAT(result.failure->message, HasSubstr("mpidbg_comm_query"));
}

TEST(HandleDll, ThatCrashesAtTheEndHasSaidAll) {
  test::faults_tried(1);
  const auto result = ask("CRASHES_AT_THE_END");
  EXPECT_FALSE(result.failure);
  EXPECT_THAT(result.handles.communicators, SizeIs(3));
  EXPECT_THAT(result.dll_messages, Contains(HasSubstr("mpidbg_finalize_per_process")));
}

TEST(HandleDll, ThatSucceedsWithoutAnAnswerHasNone) {
  test::faults_tried(1);
  const auto result = ask("ANSWERS_NULL", {{HandleKind::communicator, 0x10},
                                           {HandleKind::request, 0x20},
                                           {HandleKind::errhandler, 0x30},
                                           {HandleKind::status, 0x40}});
  EXPECT_FALSE(result.failure);
  EXPECT_THAT(result.handles.refused, SizeIs(4));
  for (const auto& refused : result.handles.refused)
    EXPECT_THAT(refused.reason, HasSubstr("answered nothing"));
}

TEST(HandleDll, WithACodeOfNoKindHasNoAnswer) {
  test::faults_tried(1);
  const auto result = ask("ODD_CODES", {{HandleKind::communicator, 0x10}});
  EXPECT_FALSE(result.failure);
  ASSERT_THAT(result.handles.refused, SizeIs(1));
  EXPECT_THAT(result.handles.refused[0].reason, HasSubstr("code 77"));
}

class CountsOfADll : public testing::TestWithParam<const char*> {};

/// Whatever a count says: nothing is read by it, and nothing is known.
TEST_P(CountsOfADll, ThatNothingHasAreNotFollowed) {
  test::faults_tried(1);
  const auto result = ask(GetParam());
  ASSERT_FALSE(result.failure) << result.failure->message;
  ASSERT_THAT(result.handles.communicators, SizeIs(3));
  for (const auto& each : result.handles.communicators) {
    EXPECT_THAT(each.group, IsEmpty());
    EXPECT_FALSE(each.remote_size);
    EXPECT_FALSE(each.attributes);
    EXPECT_FALSE(each.requests);
    EXPECT_FALSE(each.windows);
    EXPECT_TRUE(!each.topology || !each.topology->neighbors_known);
    EXPECT_THAT(each.size, Optional(3)); // which stands by itself
  }
}

INSTANTIATE_TEST_SUITE_P(, CountsOfADll,
                         testing::Values("HUGE_COUNTS", "NEGATIVE_COUNTS", "NULL_ARRAYS"),
                         [](const auto& of) { return std::string(of.param); });

TEST(HandleDll, WithTextsThatDoNotEndIsCutOff) {
  test::faults_tried(1);
  const auto result = ask("UNTERMINATED_TEXTS");
  ASSERT_FALSE(result.failure);
  EXPECT_EQ(first(result).name, std::string(64, 'x'));
  EXPECT_EQ(first(result).attributes->at(0).value, std::string(4096, 'y'));
  EXPECT_EQ(result.handles.requests.at(0).call, std::string(32, 'c'));
  EXPECT_EQ(result.handles.requests.at(0).datatype, std::string(64, 'd'));
}

TEST(HandleDll, WithEnumerationsOfItsOwnSaysUnknown) {
  test::faults_tried(1);
  const auto result = ask("UNKNOWN_ENUMERATIONS");
  const auto& request = result.handles.requests.at(0);
  EXPECT_EQ(request.kind, RequestHandleKind::unknown);
  EXPECT_EQ(request.state, RequestHandleState::unknown);
  EXPECT_FALSE(request.peer);
}

TEST(HandleDll, ThatContradictsItselfIsNotBelieved) {
  test::faults_tried(3);
  const auto beyond = ask("RANK_BEYOND_GROUP");
  EXPECT_FALSE(first(beyond).rank);
  EXPECT_FALSE(first(beyond).size);
  const auto twice = ask("ONE_TWICE_IN_GROUP");
  EXPECT_THAT(first(twice).group, IsEmpty());
  EXPECT_THAT(first(twice).size, Optional(3));
  const auto topologies = ask("TWO_TOPOLOGIES");
  EXPECT_FALSE(first(topologies).topology);
}

TEST(HandleDll, OfAnotherVersionSaysWhatItsSizeHolds) {
  const auto old = ask("SIZE_OF_AN_OLD_ONE");
  ASSERT_FALSE(old.failure);
  EXPECT_THAT(first(old).errhandler, Optional(0x30U));
  EXPECT_FALSE(first(old).context);
  EXPECT_THAT(old.handles.requests.at(0).actual_source, Optional(2));
  EXPECT_FALSE(old.handles.requests.at(0).actual_bytes);
  EXPECT_FALSE(old.handles.requests.at(0).error);
  EXPECT_EQ(old.handles.requests.at(0).datatype, "");
  const auto newer = ask("SIZE_OF_A_NEW_ONE");
  EXPECT_THAT(newer.handles.requests.at(0).error, Optional(15));
}

TEST(HandleDll, WithASizeThatHoldsNothingDescribesNothing) {
  test::faults_tried(1);
  const auto result = ask("SIZE_3");
  ASSERT_FALSE(result.failure);
  EXPECT_EQ(result.handles.requests.at(0).kind, RequestHandleKind::unknown);
  EXPECT_THAT(result.dll_messages, Contains(HasSubstr("3 bytes")));
}

} // namespace
} // namespace mqbridge
