// Which MPI call a thread is in, from where, and for which request: of frames and stacks made here.

#include "host/mpi/blocked_calls.h"
#include "host/mpi/helper_threads.h"
#include "host/mpi/mpi_function.h"
#include "host/mpi/program_frames.h"
#include "host/stacks/system_calls.h"
#include "tests/mqs/test_target.h"

#include <cstring>
#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;
using testing::SizeIs;

constexpr std::uint64_t stack = 0x7ffd'0000;
constexpr std::uint64_t request = 0x1234'5678;
constexpr std::uint64_t other_request = 0x1234'6000;
constexpr std::uint64_t to_buffer = 0x100; ///< from a request's address to its buffer's

std::shared_ptr<const ElfFile> functions_of_mpi() {
  return *ElfFile::open(MQBRIDGE_TEST_MPI_FUNCTIONS);
}

StackFrame frame(std::string function, std::string module = "/opt/app/solver", int line = 0) {
  StackFrame made{.address = {0x1000}};
  if (!function.empty())
    made.function = std::move(function);
  made.module = std::move(module);
  if (line != 0) {
    made.file = "halo.c";
    made.line = line;
  }
  return made;
}

StackFrame mpi(std::string function) {
  return frame(std::move(function), "/usr/lib/libmpi.so.40");
}

/// One rank with one thread, whose stack is made here.
class BlockedCalls : public testing::TestWithParam<Platform> {
protected:
  BlockedCalls() {
    image_.target_path = "/usr/lib/libmpi.so.40";
    image_.file = functions_of_mpi();
    library_.image = &image_;
    captured_.pages = std::shared_ptr<PageStore>(std::move(*PageStore::create(1 << 16)));
    auto& captured = captured_.threads.emplace_back();
    captured.thread.tid = 7;
    captured.stack_pointer = stack;
    captured.captured_to = {stack + PageStore::page_size};
    thread_.stack.thread = 7;
    communicators_.emplace_back();
    communicators_.back().id = {0xc0};
  }

  void add_operation(std::uint64_t address, Collective collective = Collective::none,
                     OpStatus status = OpStatus::pending) {
    Operation operation;
    operation.request = TargetAddress{address};
    operation.buffer = TargetAddress{address + to_buffer};
    operation.collective = collective;
    operation.status = status;
    communicators_.back().queue(OpClass::receive).operations.push_back(std::move(operation));
  }

  void add_send(std::uint64_t address) {
    Operation operation;
    operation.request = TargetAddress{address};
    communicators_.back().queue(OpClass::send).operations.push_back(std::move(operation));
  }

  Operation& last_operation() {
    auto& operations = communicators_.back().queue(OpClass::receive).operations;
    return operations[operations.size() - 1];
  }

  /// The library's functions around a call that waits, and the words that they use.
  void add_waiting_frames(const std::string& call) {
    library_.provider = "openmpi";
    add_frames({mpi("mca_btl_vader_component_progress"), mpi("opal_progress"),
                mpi("mca_pml_ob1_wait"), mpi("P" + call), frame("main", "/opt/app/solver", 9)});
  }
  enum Frame : std::size_t { transport, progress, waiting, call, program };

  /// Innermost first. Each frame has 64 bytes of stack.
  void add_frames(std::vector<StackFrame> frames) {
    for (auto& one : frames) {
      thread_.stack_pointers.emplace_back(TargetAddress{stack + 64 * thread_.stack.frames.size()});
      thread_.stack.frames.push_back(std::move(one));
    }
  }

  /// A word of the target on its stack.
  void put(std::uint64_t offset, std::uint64_t word) {
    const auto width = static_cast<std::size_t>(GetParam().pointer_size);
    for (std::size_t i = 0; i < width; ++i) {
      const auto shift = GetParam().byte_order == ByteOrder::little ? i : width - 1 - i;
      page_[offset + i] = static_cast<std::byte>(word >> (8 * shift));
    }
  }

  std::vector<BlockedCall> calls() {
    const auto bytes = captured_.pages->prepare(stack / PageStore::page_size, 1);
    std::memcpy(bytes.data(), page_.data(), page_.size());
    captured_.pages->publish(stack / PageStore::page_size, PageStore::all_lines,
                             PageStore::all_lines);
    return blocked_calls({{&thread_, 1}, captured_, GetParam(), library_, communicators_});
  }

  Image image_;
  MpiLibrary library_;
  CapturedStacks captured_;
  UnwoundThread thread_;
  std::vector<Communicator> communicators_;
  std::array<std::byte, PageStore::page_size> page_{};
};

TEST_P(BlockedCalls, TheOutermostCallAndItsCaller) {
  add_frames({mpi("opal_progress"), mpi("PMPI_Recv"), mpi("PMPI_Barrier"),
              frame("exchange", "/opt/app/solver", 77), frame("main", "/opt/app/solver", 41)});
  const auto found = calls();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].thread, 7);
  EXPECT_THAT(found[0].call, Optional(std::string("MPI_Barrier")));
  EXPECT_THAT(found[0].file, Optional(std::string("halo.c")));
  EXPECT_THAT(found[0].line, Optional(77));
  EXPECT_THAT(found[0].function, Optional(std::string("exchange")));
}

TEST_P(BlockedCalls, TheCallerIsOutsideOfTheBindings) {
  add_frames({mpi("PMPI_Recv"), frame("mpi_recv_", "/usr/lib/libmpi_mpifh.so.40"),
              frame("MPI::Comm::Recv", "/opt/app/solver", 300),
              frame("step", "/opt/app/solver", 12)});
  const auto found = calls();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].call, Optional(std::string("MPI_Recv")));
  EXPECT_THAT(found[0].line, Optional(12));
}

TEST_P(BlockedCalls, AWrapperOfATool) {
  add_frames({mpi("PMPI_Recv"), frame("MPI_Recv", "/opt/libprofile.so", 5),
              frame("step", "/opt/app/solver", 12)});
  const auto found = calls();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].line, Optional(12));
}

TEST_P(BlockedCalls, ACallThatEndsWithAJumpIsOnNoStack) {
  library_.provider = "openmpi";
  add_frames({mpi("opal_progress"), mpi("ompi_mpi_finalize"), frame("main", "/opt/app/solver", 9)});
  const auto found = calls();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].call, Optional(std::string("MPI_Finalize")));
  EXPECT_THAT(found[0].line, Optional(9));
}

TEST_P(BlockedCalls, TheOnlyRequestOnTheStack) {
  add_operation(request);
  add_operation(other_request);
  add_frames({mpi("opal_progress"), mpi("PMPI_Wait"), frame("main", "/opt/app/solver", 9)});
  put(64, request);
  put(128, other_request); // of the caller: it is on neither frame below
  const auto found = calls();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].request, Optional(TargetAddress{request}));
  EXPECT_EQ(found[0].request_unique, std::nullopt); // or for one that no queue shows
  EXPECT_THAT(found[0].communicator, Optional(TargetAddress{0xc0}));
}

TEST_P(BlockedCalls, AFrameThatNeverEndsIsLookedAtAsFarAsItWasCaptured) {
  add_operation(request);
  add_frames({mpi("PMPI_Wait"), frame("main", "/opt/app/solver", 9)});
  put(8, request);
  thread_.stack_pointers[1] = TargetAddress{GetParam().last_address()};
  EXPECT_THAT(calls()[0].request, Optional(TargetAddress{request}));
}

TEST_P(BlockedCalls, TwoRequestsAreNone) {
  add_operation(request);
  add_operation(other_request);
  add_frames({mpi("opal_progress"), mpi("PMPI_Wait"), frame("main", "/opt/app/solver", 9)});
  put(8, request);
  put(64, other_request);
  const auto found = calls();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].request, std::nullopt);
  EXPECT_THAT(found[0].request_unique, Optional(false));
}

TEST_P(BlockedCalls, WhatTheCallKeepsInARegisterGoesBeforeWordsOnTheStack) {
  add_operation(request);
  add_operation(other_request);
  for (const auto frame_of_it : {waiting, call}) {
    thread_ = UnwoundThread();
    add_waiting_frames("MPI_Recv");
    thread_.kept = {{frame_of_it, request}};
    put(8, request);
    put(64, other_request);
    const auto found = calls();
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_THAT(found[0].request, Optional(TargetAddress{request}));
    EXPECT_THAT(found[0].request_unique, Optional(true));
    captured_.pages->clear();
  }
}

TEST_P(BlockedCalls, WhatProgressKeepsIsOfAnyOperation) {
  add_operation(request);
  add_operation(other_request);
  add_waiting_frames("MPI_Recv");
  thread_.kept = {{transport, other_request}, {progress, other_request}, {waiting, request}};
  EXPECT_THAT(calls()[0].request, Optional(TargetAddress{request}));
}

TEST_P(BlockedCalls, WhatAnMpiKeepsIsNoEvidenceWhereItsProgressIsNotKnown) {
  add_operation(request);
  add_waiting_frames("MPI_Recv");
  library_.provider = "other";
  thread_.kept = {{waiting, request}};
  EXPECT_EQ(calls()[0].request_unique, std::nullopt);
}

TEST_P(BlockedCalls, WhatTheProgramKeepsIsNoEvidence) {
  add_operation(request);
  add_waiting_frames("MPI_Recv");
  thread_.kept = {{program, request}};
  EXPECT_EQ(calls()[0].request_unique, std::nullopt);
}

TEST_P(BlockedCalls, TwoRequestsInRegistersAreNone) {
  add_operation(request);
  add_operation(other_request);
  add_waiting_frames("MPI_Wait");
  thread_.kept = {{waiting, request}, {call, other_request}};
  put(8, request); // the only one on the stack
  const auto found = calls();
  EXPECT_EQ(found[0].request, std::nullopt);
  EXPECT_THAT(found[0].request_unique, Optional(false));
}

TEST_P(BlockedCalls, ABufferOfAnotherRequestContradicts) {
  add_operation(request);
  add_operation(other_request);
  add_waiting_frames("MPI_Recv");
  thread_.kept = {{waiting, request}, {waiting, request + to_buffer}};
  EXPECT_THAT(calls()[0].request, Optional(TargetAddress{request}));
  captured_.pages->clear();
  thread_.kept = {{waiting, request}, {waiting, other_request + to_buffer}};
  const auto found = calls();
  EXPECT_EQ(found[0].request, std::nullopt);
  EXPECT_THAT(found[0].request_unique, Optional(false));
}

TEST_P(BlockedCalls, ABufferAloneNamesNoRequest) {
  add_operation(request);
  add_waiting_frames("MPI_Recv");
  thread_.kept = {{waiting, request + to_buffer}};
  EXPECT_EQ(calls()[0].request_unique, std::nullopt);
}

TEST_P(BlockedCalls, ARequestThatLiesOnTheCallsOwnStack) {
  add_operation(stack + 64 * waiting + 16);
  last_operation().kind = OpKind::probe;
  add_operation(stack + 64 * program + 16); // the program's
  last_operation().kind = OpKind::probe;
  add_operation(stack + 64 * transport + 16);
  last_operation().kind = OpKind::probe;
  add_waiting_frames("MPI_Probe");
  EXPECT_THAT(calls()[0].request, Optional(TargetAddress{stack + 64 * waiting + 16}));
}

TEST_P(BlockedCalls, AnExchangeOutsideOfItsSendWaitsForItsReceive) {
  add_operation(request);
  add_send(other_request); // of the program
  add_waiting_frames("MPI_Sendrecv");
  put(64, other_request);
  put(64 * call + 16, request);
  const auto found = calls();
  EXPECT_THAT(found[0].request, Optional(TargetAddress{request}));
  EXPECT_THAT(found[0].request_unique, Optional(true));
}

TEST_P(BlockedCalls, AnExchangeInItsSendWaitsForItAndForAReceiveThatIsNotComplete) {
  constexpr std::uint64_t at = 64 * call + 16; // its variable with the request of the receive
  add_send(other_request);
  add_operation(request);
  add_operation(0x999); // of the program
  for (const auto& [status, alone] : {std::pair(OpStatus::pending, std::optional(false)),
                                      std::pair(OpStatus::complete, std::optional(true))}) {
    auto& operations = communicators_.back().queue(OpClass::receive).operations;
    operations[0].status = status;
    thread_ = UnwoundThread();
    library_.provider = "openmpi";
    add_frames({mpi("mca_btl_vader_component_progress"), mpi("opal_progress"),
                mpi("mca_pml_ob1_send"), mpi("PMPI_Sendrecv"),
                frame("main", "/opt/app/solver", 9)});
    thread_.kept = {{waiting, other_request}, {call, stack + at}};
    put(at, request);
    put(64, 0x999);
    auto found = calls();
    EXPECT_THAT(found[0].request, Optional(TargetAddress{other_request}));
    EXPECT_EQ(found[0].request_unique, alone);
    captured_.pages->clear();
    thread_.kept.pop_back(); // old words may stand in its frame
    found = calls();
    EXPECT_THAT(found[0].request, Optional(TargetAddress{other_request}));
    EXPECT_EQ(found[0].request_unique, std::nullopt);
    captured_.pages->clear();
  }
}

/// It may be the one that sends, and the receive another one of the program's.
TEST_P(BlockedCalls, AnExchangeInAFunctionWithoutANameIsNotKnown) {
  add_operation(request);
  library_.provider = "openmpi";
  auto nameless = mpi("mca_pml_ob1_send");
  nameless.function.reset();
  add_frames(
      {mpi("opal_progress"), nameless, mpi("PMPI_Sendrecv"), frame("main", "/opt/app/solver", 9)});
  put(64, request);
  EXPECT_EQ(calls()[0].request_unique, std::nullopt);
}

TEST_P(BlockedCalls, OfAnExchangeOfWhichNothingIsKnownWordsProveNothing) {
  add_operation(request);
  add_waiting_frames("MPI_Sendrecv");
  library_.provider = "other";
  put(64, request);
  EXPECT_EQ(calls()[0].request_unique, std::nullopt);
}

TEST_P(BlockedCalls, WhereBlockingSendsAreNotListedNoListedOneIsWaitedFor) {
  add_send(request);
  for (const auto& [provider, found] :
       {std::pair("mpich", std::optional<bool>()), std::pair("openmpi", std::optional(true))}) {
    thread_ = UnwoundThread();
    add_waiting_frames("MPI_Ssend");
    library_.provider = provider;
    put(8, request);
    EXPECT_EQ(calls()[0].request_unique, found);
    captured_.pages->clear();
  }
}

TEST_P(BlockedCalls, AnOperationThatTheCallCannotWaitForIsLeftOver) {
  add_operation(request);
  last_operation().kind = OpKind::mprobe;
  add_operation(other_request);
  add_waiting_frames("MPI_Recv");
  put(8, request);
  put(64, other_request);
  EXPECT_THAT(calls()[0].request, Optional(TargetAddress{other_request}));
}

TEST_P(BlockedCalls, ACallForSeveralRequestsIsNotForTheOneInARegister) {
  add_operation(request);
  add_operation(other_request);
  add_waiting_frames("MPI_Waitany");
  thread_.kept = {{waiting, request}};
  put(8, request);
  put(64, other_request);
  EXPECT_THAT(calls()[0].request_unique, Optional(false));
}

TEST_P(BlockedCalls, ARequestMayBeLeftOverWhereOneThatNobodySeesMayBeWaitedFor) {
  add_operation(request);
  add_operation(0x999, Collective::nonblocking);
  add_frames({mpi("PMPI_Wait"), frame("main", "/opt/app/solver", 9)});
  put(8, request);
  const auto found = calls();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].request, std::nullopt);
  EXPECT_THAT(found[0].request_unique, Optional(false));
}

TEST_P(BlockedCalls, ARequestThatTheCallKeepsIsNoNonblockingCollective) {
  add_operation(request);
  add_operation(0x999, Collective::nonblocking);
  for (const char* waits : {"MPI_Recv", "MPI_Wait"}) {
    thread_ = UnwoundThread();
    add_waiting_frames(waits);
    thread_.kept = {{waiting, request}};
    const auto found = calls();
    EXPECT_THAT(found[0].request, Optional(TargetAddress{request}));
    EXPECT_THAT(found[0].request_unique, Optional(true));
    captured_.pages->clear();
  }
}

TEST_P(BlockedCalls, ARequestIsLeftOverInACollective) {
  add_operation(request);
  add_operation(0x999, Collective::barrier);
  add_frames({mpi("PMPI_Barrier"), frame("main", "/opt/app/solver", 9)});
  put(8, request);
  const auto found = calls();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].request, std::nullopt);
  EXPECT_EQ(found[0].request_unique, std::nullopt);
  EXPECT_THAT(found[0].communicator, Optional(TargetAddress{0xc0}));
}

TEST_P(BlockedCalls, CompleteRequestsAreNotWaitedFor) {
  add_operation(request, Collective::none, OpStatus::complete);
  add_frames({mpi("PMPI_Wait"), frame("main", "/opt/app/solver", 9)});
  put(8, request);
  EXPECT_EQ(calls()[0].request_unique, std::nullopt);
}

TEST_P(BlockedCalls, OutsideItIsTheProgramsInnermostFunction) {
  add_frames({frame("clock_nanosleep", "/lib/libc.so.6"), frame("sleep", "/lib/libc.so.6"),
              frame("compute", "/opt/app/solver", 41), frame("main", "/opt/app/solver", 9),
              frame("__libc_start_main", "/lib/libc.so.6")});
  captured_.threads.front().system_call = 230;
  const auto found = calls();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].call, std::nullopt);
  EXPECT_THAT(found[0].function, Optional(std::string("compute")));
  EXPECT_THAT(found[0].line, Optional(41));
  EXPECT_EQ(found[0].system_call, system_call_name(GetParam(), 230));
}

TEST_P(BlockedCalls, NothingIsSaidOfAStackThatGoesOnUnseen) {
  add_frames({frame("callback", "/opt/app/solver", 41)});
  for (const auto end : {StackEnd::cut, StackEnd::no_cfi, StackEnd::unreadable, StackEnd::limit}) {
    thread_.stack.end = end;
    EXPECT_THAT(calls(), IsEmpty());
    captured_.pages->clear();
  }
}

TEST_P(BlockedCalls, NothingIsSaidInsideOfTheMpiWithoutACall) {
  add_frames({mpi("ompi_request_default_wait"), frame("main", "/opt/app/solver", 9)});
  EXPECT_THAT(calls(), IsEmpty());
}

TEST_P(BlockedCalls, NothingIsSaidWhereTheMpiIsInAProgramWithoutSymbols) {
  image_.target_path = "/opt/app/solver";
  add_frames({frame(""), frame(""), frame("__libc_start_main", "/lib/libc.so.6")});
  EXPECT_THAT(calls(), IsEmpty());
}

TEST_P(BlockedCalls, ALibraryOfTheProgramMayBeNamedLikeOneOfTheMpi) {
  add_frames({mpi("PMPI_Wait"), frame("step", "/opt/app/libmpisolver.so", 9),
              frame("main", "/opt/app/solver", 12)});
  const auto found = calls();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].line, Optional(9));
  EXPECT_FALSE(is_mpi_frame(frame("step", "/opt/app/libmpisolver.so")));
  for (const auto* own : {"libmpi.so.40", "libmpi_usempif08.so.40", "libmpich.so.12", "libmpi.so",
                          "libmpich-4.0.so", "libopen-pal.so.40", "libmpi_gnu_91.so.12"})
    EXPECT_TRUE(is_mpi_frame(frame("", std::string("/usr/lib/") + own))) << own;
}

TEST_P(BlockedCalls, ACallThatEndsWithAJumpIsKnownInAStaticProgram) {
  library_.provider = "openmpi";
  image_.target_path = "/opt/app/solver";
  add_frames({frame("ompi_mpi_finalize"), frame("main", "/opt/app/solver", 9)});
  const auto found = calls();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].call, Optional(std::string("MPI_Finalize")));
}

TEST_P(BlockedCalls, HelpersHaveNone) {
  add_frames({mpi("PMPI_Wait"), frame("main", "/opt/app/solver", 9)});
  thread_.stack.helper = true;
  EXPECT_THAT(calls(), IsEmpty());
}

TEST_P(BlockedCalls, Mpi4pyIsNamed) {
  const std::string module = "/usr/lib/python3/dist-packages/mpi4py/MPI.cpython-311.so";
  add_frames({mpi("PMPI_Recv"), frame("__pyx_pw_6mpi4py_3MPI_4Comm_31Recv", module),
              frame("_PyEval_EvalFrameDefault", "/usr/bin/python3.11")});
  const auto found = calls();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].function, Optional(std::string("mpi4py.MPI.Comm.Recv")));
  EXPECT_EQ(mpi4py_function(frame("", module)), "mpi4py");
  EXPECT_EQ(mpi4py_function(frame("__pyx_pw_6mpi4py_999999999999999999999", module)), "mpi4py");
}

TEST_P(BlockedCalls, TheLineOfPythonStandsForWhatOnlyRunsIt) {
  const std::string module = "/usr/lib/python3/dist-packages/mpi4py/MPI.cpython-311.so";
  auto python = frame("MPI_Send", "", 41); // a name that a function of Python may have
  python.module.reset();
  python.file = "solver.py";
  python.language = FrameLanguage::python;
  const auto evaluator = frame("_PyEval_EvalFrameDefault", "/usr/bin/python3.11", 7);
  add_frames({mpi("PMPI_Recv"), frame("", module),
              frame("cfunction_call", "/usr/bin/python3.11", 5), python, evaluator,
              frame("main", "/usr/bin/python3.11", 3)});
  const auto found = calls();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].call, Optional(std::string("MPI_Recv")));
  EXPECT_THAT(found[0].function, Optional(std::string("MPI_Send")));
  EXPECT_THAT(found[0].file, Optional(std::string("solver.py")));
  EXPECT_THAT(found[0].line, Optional(41));
}

TEST_P(BlockedCalls, OutsideOfTheMpiPythonHasALineToo) {
  auto python = frame("compute", "", 9);
  python.module.reset();
  python.language = FrameLanguage::python;
  add_frames({frame("pysleep", "/usr/bin/python3.11", 2159), python,
              frame("_PyEval_EvalFrameDefault", "/usr/bin/python3.11", 7),
              frame("main", "/usr/bin/python3.11", 3)});
  const auto found = calls();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].call, testing::Eq(std::nullopt));
  EXPECT_THAT(found[0].function, Optional(std::string("compute")));
  EXPECT_THAT(found[0].line, Optional(9));
}

INSTANTIATE_TEST_SUITE_P(, BlockedCalls, testing::ValuesIn(test_platforms()),
                         [](const auto& of) { return platform_name(of.param); });

TEST(MpiFunction, OfAllSpellings) {
  const auto library = functions_of_mpi();
  for (const auto* spelling :
       {"MPI_Recv", "PMPI_Recv", "mpi_recv_", "MPI_RECV", "mpi_recv", "mpi_recv__", "pmpi_recv_",
        "mpi_recv_f08_", "mpi_recv_f08ts_", "MPI_Recv.part.0", "PMPI_Recv.cold"}) {
    EXPECT_THAT(mpi_function(spelling, true, *library), Optional(std::string("MPI_Recv")))
        << spelling;
    EXPECT_TRUE(spells(spelling, "MPI_Recv")) << spelling;
  }
  EXPECT_THAT(mpi_function("mpi_comm_create_group_", false, *library),
              Optional(std::string("MPI_Comm_create_group")));
  EXPECT_THAT(mpi_function("MPI_Recv_c", false, *library), Optional(std::string("MPI_Recv_c")));
}

TEST(MpiFunction, NoneThatTheLibraryDoesNotHave) {
  const auto library = functions_of_mpi();
  for (const auto* other : {"MPI_of_the_program", "MPI_data", "MPI_", "PMPI_", "mpi_", "", "P",
                            "MPIR_Recv", "MPI_Send", "recv", "solve_MPI_Recv"})
    EXPECT_EQ(mpi_function(other, true, *library), std::nullopt) << other;
  EXPECT_EQ(mpi_function(std::string(100'000, 'M'), true, *library), std::nullopt);
}

TEST(MpiFunction, OfAProgramMayBeCalledLikeOneOfFortran) {
  const auto library = functions_of_mpi();
  for (const auto* own : {"mpi_recv", "MPI_RECV", "pmpi_recv", "Mpi_recv"})
    EXPECT_EQ(mpi_function(own, false, *library), std::nullopt) << own;
  for (const auto* wrapper : {"MPI_Recv", "PMPI_Recv", "mpi_recv_", "mpi_recv_f08_"})
    EXPECT_THAT(mpi_function(wrapper, false, *library), Optional(std::string("MPI_Recv")))
        << wrapper;
}

BlockedCall recorded_call(std::int64_t thread) {
  BlockedCall call;
  call.thread = thread;
  call.call = "MPI_Bcast";
  call.communicator = TargetAddress{7};
  call.sequence = 3;
  call.group = 0;
  call.site = std::make_shared<CallSite>(CallSite{TargetAddress{0x1000}, "binding_", "b.c", 1});
  return call;
}

UnwoundThread thread_of(std::int64_t number) {
  UnwoundThread thread;
  thread.stack.thread = number;
  return thread;
}

TEST(JoinedCalls, TheRecorderKnowsTheCallAndTheStackItsCaller) {
  BlockedCall of_stack;
  of_stack.thread = 8;
  of_stack.call = "MPI_Bcast";
  of_stack.function = "solve";
  of_stack.file = "solve.f90";
  of_stack.line = 12;
  of_stack.request = TargetAddress{0x77}; // by chance
  BlockedCall outside;
  outside.thread = 9;
  outside.function = "compute";
  outside.system_call = "poll";
  const std::vector threads = {thread_of(8), thread_of(9), thread_of(10)};
  const auto calls = joined_calls(
      {of_stack, outside}, {recorded_call(8), recorded_call(10), recorded_call(11)}, threads);
  ASSERT_THAT(calls, SizeIs(3)) << "nobody has thread 11";
  EXPECT_EQ(calls[0].function, "solve");
  EXPECT_EQ(calls[0].file, "solve.f90");
  EXPECT_EQ(calls[0].line, 12);
  EXPECT_EQ(calls[0].communicator, TargetAddress{7});
  EXPECT_EQ(calls[0].sequence, 3);
  EXPECT_EQ(calls[0].group, 0U);
  EXPECT_EQ(calls[0].request, std::nullopt);
  EXPECT_EQ(calls[1].system_call, "poll") << "only the stack knows of it";
  EXPECT_EQ(calls[2].thread, 10);
  EXPECT_EQ(calls[2].function, "binding_");
  EXPECT_EQ(calls[2].file, "b.c");
  EXPECT_EQ(calls[2].line, 1);
}

TEST(JoinedCalls, WhatAnMpiCallsInsideIsNotTheProgramsCall) {
  BlockedCall of_stack;
  of_stack.thread = 8;
  const std::vector threads = {thread_of(8)};
  for (const std::string_view call : {"MPI_File_open", "MPI_Bcast", "MPI_Bcast_c"}) {
    of_stack.call = call;
    const auto calls = joined_calls({of_stack}, {recorded_call(8)}, threads);
    ASSERT_THAT(calls, SizeIs(1));
    const bool inside = call == "MPI_File_open";
    EXPECT_EQ(calls[0].call, inside ? call : "MPI_Bcast");
    EXPECT_EQ(calls[0].sequence.has_value(), !inside);
  }
}

TEST(JoinedCalls, WithoutStacksTheRecorderAloneKnowsThreads) {
  const auto calls = joined_calls({}, {recorded_call(8)}, {});
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(calls[0].function, "binding_");
  EXPECT_EQ(calls[0].site, nullptr) << "it has its names";
}

ThreadStack began_in(StackFrame first, StackEnd end = StackEnd::outermost) {
  return {.thread = 8,
          .end = end,
          .frames = {frame("epoll_wait", "/lib/libc.so.6"), std::move(first),
                     frame("start_thread", "/lib/libc.so.6"), frame("clone3", "/lib/libc.so.6")}};
}

TEST(HelperThreads, AreKnownByWhereTheyBegan) {
  EXPECT_TRUE(is_helper(began_in(frame("", "/usr/lib/libpmix.so.2"))));
  EXPECT_TRUE(is_helper(began_in(frame("", "/usr/lib/openmpi/mca_btl_tcp.so"))));
  EXPECT_TRUE(is_helper(began_in(frame("", "/usr/lib/libopen-pal.so.40"))));
  EXPECT_TRUE(is_helper(began_in(frame("ucs_async_thread_func"))));
  EXPECT_FALSE(is_helper(began_in(frame("worker"))));
  EXPECT_FALSE(is_helper(began_in(frame("listen_thread"))));
  EXPECT_FALSE(is_helper(began_in(frame("", "/usr/lib/libgomp.so.1"))));
}

TEST(HelperThreads, AreNotGuessedFromAStackThatGoesOnUnseen) {
  EXPECT_FALSE(is_helper(began_in(frame("", "/usr/lib/libpmix.so.2"), StackEnd::cut)));
  EXPECT_FALSE(is_helper(ThreadStack()));
}

} // namespace
} // namespace mqbridge
