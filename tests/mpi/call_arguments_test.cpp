// Which arguments a call has, and what they stand for. The expected values are those of mpi.h and
// of the standard.

#include "host/mpi/call_arguments.h"
#include "host/mpi/mpi_support.h"
#include "host/mqs/queues.h"

#include <gmock/gmock.h>

namespace mqbridge {
namespace {

constexpr std::uint64_t world = 0x44000000; // MPICH's
constexpr std::uint64_t int_type = 0x4c000405;

std::vector<CallArgument> values(std::initializer_list<std::int64_t> all) {
  std::vector<CallArgument> made;
  for (const std::int64_t value : all)
    made.push_back({static_cast<std::uint64_t>(value), {}});
  return made;
}

std::vector<CallArgument> targets(std::initializer_list<std::int64_t> all) {
  std::vector<CallArgument> made;
  for (const std::int64_t value : all)
    made.push_back({0x7fff0000, static_cast<std::uint32_t>(value)});
  return made;
}

ArgumentsOfCall passed(const std::string& callee, std::vector<CallArgument> arguments) {
  return {.callee = callee, .passed = std::move(arguments)};
}

CallArguments read(const ArgumentsOfCall& told, std::string_view call,
                   std::string_view function = "", std::string_view mpi = "mpich") {
  return arguments_of(told, call, function, support_of(mpi).facts().arguments)
      .value_or(CallArguments());
}

TEST(CallArguments, OfAReceiveAreItsSourceTagAndCommunicator) {
  const auto found =
      read(passed("MPI_Recv", values({0, 10, int_type, 3, 17, world, 1})), "MPI_Recv");
  EXPECT_EQ(found.peer, 3);
  EXPECT_EQ(found.tag, 17);
  EXPECT_EQ(found.communicator, "MPI_COMM_WORLD");
  EXPECT_EQ(found.bytes, 40);
  EXPECT_FALSE(found.any_source);
  EXPECT_EQ(argument_words("MPI_Recv", found), " from 3 tag 17");
}

TEST(CallArguments, OfWhichTheRegisterHasMoreAreNumbersOf32Bits) {
  const auto found =
      read(passed("MPI_Recv", values({0, 1, int_type, 0x5500000003, -1, 0x7700000000 + world})),
           "MPI_Recv");
  EXPECT_EQ(found.peer, 3);
  EXPECT_EQ(found.communicator, "MPI_COMM_WORLD");
}

TEST(CallArguments, HaveTheWildcardsOfTheirMpi) {
  const auto mpich = read(passed("MPI_Recv", values({0, 1, int_type, -2, -1, world})), "MPI_Recv");
  EXPECT_TRUE(mpich.any_source);
  EXPECT_TRUE(mpich.any_tag);
  EXPECT_EQ(mpich.peer, std::nullopt);
  EXPECT_EQ(argument_words("MPI_Recv", mpich), " from anybody tag any");
  const auto openmpi =
      read(passed("MPI_Recv", values({0, 1, 0, -2, -1, 0x55550000})), "MPI_Recv", "", "openmpi");
  EXPECT_FALSE(openmpi.any_source);
  EXPECT_EQ(openmpi.peer, proc_null);
  EXPECT_EQ(openmpi.communicator, "0x55550000");
  const auto other =
      read(passed("MPI_Recv", values({0, 1, 0, -2, -1, world})), "MPI_Recv", "", "other");
  EXPECT_FALSE(other.any_source);
  EXPECT_EQ(other.peer, std::nullopt) << "it may be either";
  EXPECT_EQ(other.communicator, "0x44000000");
  EXPECT_EQ(other.bytes, std::nullopt);
}

TEST(CallArguments, OfAnExchangeAreThoseOfBothParts) {
  const auto found =
      read(passed("MPI_Sendrecv", values({0, 1, int_type, 2, 20, 0, 1, int_type, 4, 40, world, 1})),
           "MPI_Sendrecv");
  EXPECT_EQ(found.send_to, 2);
  EXPECT_EQ(found.send_tag, 20);
  EXPECT_EQ(found.peer, 4);
  EXPECT_EQ(found.tag, 40);
  EXPECT_EQ(argument_words("MPI_Sendrecv", found), " to 2 tag 20 and from 4 tag 40");
}

TEST(CallArguments, OfACollectiveAreItsRootAndCommunicator) {
  const auto bcast = read(passed("MPI_Bcast", values({0, 3, 0x4c00080b, 1, world})), "MPI_Bcast");
  EXPECT_EQ(bcast.root, 1);
  EXPECT_EQ(bcast.bytes, 24);
  EXPECT_EQ(bcast.communicator, "MPI_COMM_WORLD");
  const auto barrier = read(passed("MPI_Barrier", values({0x84000001})), "MPI_Barrier");
  EXPECT_EQ(barrier.communicator, "0x84000001");
  EXPECT_EQ(barrier.bytes, 0);
}

TEST(CallArguments, OfFortranAreWhatTheirAddressesPointTo) {
  for (const char* name : {"mpi_recv_", "MPI_RECV", "mpi_recv_f08_", "mpi_recv__"}) {
    const auto found =
        read(passed(name, targets({0, 1, int_type, 3, 17, world, 1, 0})), "MPI_Recv");
    EXPECT_EQ(found.peer, 3) << name;
    EXPECT_EQ(found.communicator, "MPI_COMM_WORLD") << name;
  }
}

TEST(CallArguments, OfAnotherFunctionAreNot) {
  EXPECT_EQ(read(passed("exchange", values({0, 1, int_type, 3, 17, world})), "MPI_Recv"),
            CallArguments());
  EXPECT_EQ(read({.passed = values({0, 1, int_type, 3, 17, world})}, "MPI_Recv"), CallArguments());
}

TEST(CallArguments, ThatTheCallerDoesNotTellTheFunctionItselfMayTell) {
  ArgumentsOfCall told = passed("MPI_Recv", values({0, 1, int_type}));
  told.received = values({0, 1, int_type, 3, 17, world});
  EXPECT_EQ(read(told, "MPI_Recv", "PMPI_Recv").peer, 3);
  EXPECT_EQ(read(told, "MPI_Recv", "internal_Recv").peer, std::nullopt);
}

TEST(CallArguments, ThatAreNotKnownAreNoNumbers) {
  const auto found = read({.callee = "MPI_Send", .passed = {{}, {}, {}, {}, {17, {}}}}, "MPI_Send");
  EXPECT_EQ(found.peer, std::nullopt);
  EXPECT_EQ(found.tag, 17);
  EXPECT_EQ(found.communicator, std::nullopt);
  EXPECT_EQ(found.bytes, std::nullopt);
  EXPECT_EQ(argument_words("MPI_Send", found), " to ? tag 17");
  EXPECT_FALSE(arguments_of(passed("MPI_Wait", values({1, 2})), "MPI_Wait", "", {}));
}

} // namespace
} // namespace mqbridge
