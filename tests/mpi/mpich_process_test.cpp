// MPICH's own debug DLL in the sandbox, over a live MPICH process in whose memory something reads
// as it never should. What the DLL does about it is its own affair; the walk ends, and says whose
// fault it was. What a dump shows of such processes is tested by e2e/full/mpich_test.cpp.

#include "host/memory/reader.h"
#include "host/mpi/mpi_library.h"
#include "host/mpi/mpi_support.h"
#include "host/mpi/mpich/mpich_layout.h"
#include "host/types/types_file.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mpich.h"
#include "tests/mpi/damaged_memory.h"
#include "tests/mqs/process_memory.h"
#include "tests/support/faults_tried.h"
#include "tests/support/requirements.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <optional>

namespace mqbridge {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::Eq;
using testing::Not;

constexpr auto dll = "libtvmpich.so";
constexpr std::size_t pointer = 8;

std::vector<std::byte> filled(std::uint64_t size, int byte) {
  return std::vector<std::byte>(size, static_cast<std::byte>(byte));
}

std::vector<std::byte> bytes_of(std::uint64_t value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  return {bytes.begin(), bytes.end()};
}

class MpichProcess : public testing::Test {
protected:
  void start() {
    process.emplace([](const auto& directory) {
      return e2e::mpich_singleton("oracle_poster", directory, {"mix"});
    });
    process->await_ready();
    auto loaded = images_of_process(process->pid());
    ASSERT_TRUE(loaded) << loaded.error().message;
    images = std::make_unique<ImageSet>(std::move(*loaded));
    auto types = open_types_file(e2e::mpich_library());
    ASSERT_TRUE(types) << types.error().message;
    images->add_type_source(*types);
    memory = std::make_unique<ProcessMemory>(process->pid());
    platform.architecture = "x86_64";
    auto identified = identify_mpi({*images, *memory, platform});
    ASSERT_TRUE(identified && *identified);
    mpi = std::move(**identified);
    auto found = mpich::find_layout({*images, *memory, platform});
    ASSERT_TRUE(found) << found.error().message;
    layout = *found;
  }

  /// With the repairs, as a dump does it: they read the same memory.
  WalkResult walk(Memory& through, std::chrono::milliseconds limit = std::chrono::seconds(5)) {
    WalkRequest request{MQBRIDGE_WORKER, mpi.dll_name, {*images, through, platform}, "singleton"};
    request.op_classes = {op_classes.begin(), op_classes.end()};
    request.cpu_limit = limit;
    request.max_operations = 1'000;
    request.ignore_welcome = support_of(mpi.provider).facts().dll.refuses_in_success;
    auto result = walk_queues(request);
    EXPECT_TRUE(
        support_of(mpi.provider).repair(result.communicators, {*images, through, platform}));
    return result;
  }

  TargetAddress symbol(std::string_view name) const {
    const auto found = images->find_symbol(name);
    EXPECT_TRUE(found) << name;
    return found ? found->address : TargetAddress{};
  }

  std::uint64_t pointer_at(TargetAddress address) const {
    return read_unsigned(*memory, platform, address, pointer).value();
  }

  /// Its address, by its place in the process's list.
  TargetAddress communicator(std::string_view name) {
    for (const auto& each : walk(*memory).communicators)
      if (each.name == name)
        return each.id;
    ADD_FAILURE() << "no communicator " << name;
    return {};
  }

  /// The first of the process's list of `op_class`.
  TargetAddress first_of(OpClass op_class) const {
    const auto& list = layout.lists[static_cast<std::size_t>(op_class)];
    const TargetAddress head = symbol(list.head);
    return {pointer_at(list.head_is_indirect ? TargetAddress{pointer_at(head)} : head)};
  }

  std::optional<e2e::SingleProcess> process;
  std::unique_ptr<ImageSet> images;
  std::unique_ptr<ProcessMemory> memory;
  Platform platform;
  MpiLibrary mpi;
  mpich::Layout layout;
};

std::vector<std::string> names_of(const WalkResult& result) {
  std::vector<std::string> names;
  for (const auto& communicator : result.communicators)
    names.push_back(communicator.name);
  return names;
}

#define MPICH_PROCESS()                                                                            \
  MQBRIDGE_SKIP_IF_LACKING(e2e::lacking_mpich());                                                  \
  start();                                                                                         \
  ASSERT_FALSE(HasFatalFailure())

/// Without it the others could not fail.
TEST_F(MpichProcess, UndamagedItIsWalked) {
  MPICH_PROCESS();
  const auto result = walk(*memory);
  EXPECT_FALSE(result.failure) << result.failure->message;
  EXPECT_THAT(names_of(result), Contains("MPI_COMM_WORLD"));
  EXPECT_GT(result.communicators.at(0).queue(OpClass::receive).operations.size() +
                result.communicators.at(1).queue(OpClass::receive).operations.size(),
            0U);
  EXPECT_EQ(process->finish(), "");
}

TEST_F(MpichProcess, AnyFieldOfItsRootsMayBeGarbage) {
  MPICH_PROCESS();
  std::size_t tried = 0;
  for (const char* root : {"MPIR_All_communicators", "MPIR_Sendq_head",
                           "MPID_Recvq_posted_head_ptr", "MPID_Recvq_unexpected_head_ptr"}) {
    const auto found = images->find_symbol(root);
    ASSERT_TRUE(found) << root;
    for (std::uint64_t offset = 0; offset < found->size; offset += pointer)
      for (const int byte : {0x00, 0x01, 0x7f, 0xff}) {
        DamagedMemory damaged(*memory, found->address + offset, filled(pointer, byte));
        expect_ended(walk(damaged), dll, fmt::format("{} + {}: {:#x}", root, offset, byte));
        ++tried;
      }
  }
  test::faults_tried(tried);
  EXPECT_GE(tried, 20U);
  EXPECT_EQ(process->finish(), "");
}

TEST_F(MpichProcess, AnyWordOfACommunicatorMayBeGarbage) {
  MPICH_PROCESS();
  const TargetAddress world = communicator("MPI_COMM_WORLD");
  const auto size = images->find_type("MPIR_Comm").value()->size;
  ASSERT_GT(size, 100U);
  std::size_t tried = 0;
  for (std::uint64_t offset = 0; offset < size; offset += pointer)
    for (const auto& garbage : {bytes_of(0), bytes_of(~std::uint64_t{0}), bytes_of(world.value)}) {
      DamagedMemory damaged(*memory, world + offset, garbage);
      expect_ended(walk(damaged, std::chrono::milliseconds(400)), dll,
                   fmt::format("world + {}", offset));
      ++tried;
    }
  test::faults_tried(tried);
  EXPECT_EQ(process->finish(), "");
}

TEST_F(MpichProcess, AListThatGoesInACircleEnds) {
  MPICH_PROCESS();
  for (const OpClass op_class : op_classes) {
    const auto& list = layout.lists[static_cast<std::size_t>(op_class)];
    const TargetAddress first = first_of(op_class);
    ASSERT_NE(first.value, 0U) << static_cast<int>(op_class);
    DamagedMemory cyclic(*memory, first + list.next.offset, bytes_of(first.value));
    const auto result = walk(cyclic, std::chrono::milliseconds(500));
    expect_ended(result, dll, "cycle");
    // Of the communicator that the element belongs to it never ends; the others have no end,
    // either.
    std::size_t cut = 0;
    for (const auto& communicator : result.communicators)
      cut += communicator.queue(op_class).truncated_by != TruncatedBy::nothing;
    EXPECT_GE(cut, 1U) << static_cast<int>(op_class);
    test::faults_tried(1);
  }
  EXPECT_EQ(process->finish(), "");
}

TEST_F(MpichProcess, ACircleOfCommunicatorsEnds) {
  MPICH_PROCESS();
  const TargetAddress world = communicator("MPI_COMM_WORLD");
  const auto* next = images->find_type("MPIR_Comm").value()->find_field("comm_next");
  ASSERT_NE(next, nullptr);
  DamagedMemory cyclic(*memory, world + next->offset, bytes_of(world.value));
  const auto result = walk(cyclic, std::chrono::milliseconds(500));
  ASSERT_TRUE(result.failure);
  expect_ended(result, dll, "cycle");
  EXPECT_THAT(result.failure->code, AnyOf(Eq("dll.timeout"), Eq("dll.limit")));
  test::faults_tried(1);
  EXPECT_EQ(process->finish(), "");
}

/// The list still leads to it: it was given back, used for something else, or cannot be read.
TEST_F(MpichProcess, AFreedCommunicatorCostsAtMostTheWalk) {
  MPICH_PROCESS();
  const auto* next = images->find_type("MPIR_Comm").value()->find_field("comm_next");
  const auto size = images->find_type("MPIR_Comm").value()->size;
  const TargetAddress first{
      pointer_at(symbol("MPIR_All_communicators") +
                 images->find_type("MPIR_Comm_list").value()->find_field("head")->offset)};
  const TargetAddress second{pointer_at(first + next->offset)};
  ASSERT_NE(second.value, 0U);
  for (const int byte : {0x00, 0x6b, 0xdd, 0xff}) {
    DamagedMemory freed(*memory, second, filled(size, byte));
    expect_ended(walk(freed, std::chrono::seconds(1)), dll, fmt::format("filled: {:#x}", byte));
  }
  for (const std::uint64_t leads_to : {std::uint64_t{0xdead0000}, first_of(OpClass::receive).value,
                                       symbol("MPIR_All_communicators").value}) {
    DamagedMemory freed(*memory, first + next->offset, bytes_of(leads_to));
    expect_ended(walk(freed, std::chrono::seconds(1)), dll, fmt::format("to {:#x}", leads_to));
  }
  test::faults_tried(7);
  EXPECT_THAT(names_of(walk(*memory)), Contains("MPI_COMM_WORLD")) << "the process is as it was";
  EXPECT_EQ(process->finish(), "");
}

TEST_F(MpichProcess, AnyWordOfARequestMayBeGarbage) {
  MPICH_PROCESS();
  const auto size = images->find_type("MPIR_Request").value()->size;
  std::size_t tried = 0;
  for (const OpClass op_class : {OpClass::receive, OpClass::unexpected}) {
    const TargetAddress first = first_of(op_class);
    ASSERT_NE(first.value, 0U);
    for (std::uint64_t offset = 0; offset < size; offset += pointer)
      for (const auto& garbage : {bytes_of(~std::uint64_t{0}), bytes_of(first.value)}) {
        DamagedMemory damaged(*memory, first + offset, garbage);
        expect_ended(walk(damaged, std::chrono::milliseconds(300)), dll,
                     fmt::format("request + {}", offset));
        ++tried;
      }
  }
  test::faults_tried(tried);
  EXPECT_EQ(process->finish(), "");
}

} // namespace
} // namespace mqbridge
