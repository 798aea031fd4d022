// What mqbridge itself reads of an MPI in a target's memory: its state and transport, how much
// there is, the repairs of what the debug DLL said, and what that does not show. Both the memory
// and the DLL's words are the fuzzer's. Input: a byte for the MPI and one for the platform, the
// communicators, then the memory, in which every address leads somewhere.

#include "host/mpi/mpi_support.h"
#include "host/mpi/plausible.h"
#include "host/mpi/repairs.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/mpi/fake_mpich.h"
#include "tests/mpi/openmpi_types.h"
#include "tests/mqs/test_target.h"

#include <fmt/format.h>
#include <memory>

namespace mqbridge {
namespace {

using test::FuzzInput;
using test::require;

constexpr std::size_t most_communicators = 8;
constexpr std::size_t most_operations = 8; ///< of one queue
/// What repairs of so little may read: groups are the largest part.
constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;

/// The same bytes over and over, so that any pointer leads to some of them; each sixteenth page is
/// a hole.
class PooledMemory final : public Memory {
public:
  explicit PooledMemory(std::string_view pool) : pool_(pool) {}

  Result<void> read_ranges(std::span<MemoryRange> ranges) override {
    for (auto& range : ranges) {
      range.read = 0;
      bytes_ += range.into.size();
      while (range.read < range.into.size() && is_mapped(range.address.value + range.read)) {
        const auto at = (range.address.value + range.read) % pool_.size();
        range.into[range.read++] = static_cast<std::byte>(pool_[at]);
      }
    }
    require(bytes_ <= most_bytes);
    return {};
  }

private:
  bool is_mapped(std::uint64_t address) const {
    return !pool_.empty() && address >= 4096 && (address >> 12) % 16 != 15;
  }

  std::string_view pool_;
  std::uint64_t bytes_ = 0;
};

/// What the running process is made of, apart from its memory.
struct Process {
  const char* provider;
  ImageSet* images;
};

std::shared_ptr<FakeTypes> openmpi_types(const Platform& platform) {
  const auto pointer = static_cast<std::uint64_t>(platform.pointer_size);
  const auto size = static_cast<std::uint64_t>(platform.size_t_size);
  auto types = std::make_shared<FakeTypes>();
  add_openmpi_types(*types, platform);
  types->add("opal_free_list_t", {{"fl_num_allocated", 0, size}, {"fl_frag_size", 0, size}});
  types->add("opal_list_item_t", {{"opal_list_next", 0, pointer}});
  return types;
}

/// Made once for each platform: opening files is what takes the time.
class Processes {
public:
  explicit Processes(const Platform& platform)
      : openmpi_(images_of(MQBRIDGE_OPENMPI_SYMBOLS, "libmpi.so.40")),
        recorder_(images_of(MQBRIDGE_TEST_DLLS "/LIKE_RECORDED_OPENMPI.so", "solver")),
        mpich_4_0_(platform, MpichVersion::v4_0), mpich_4_1_(platform, MpichVersion::v4_1) {
    openmpi_.add_type_source(openmpi_types(platform));
  }

  Process choose(std::uint64_t number) {
    switch (number % 4) {
    case 0:
      return {"openmpi", &openmpi_};
    case 1:
      return {"mpich", &mpich_4_0_.images};
    case 2:
      return {"mpich", &mpich_4_1_.images};
    default:
      return {"recorder", &recorder_};
    }
  }

private:
  ImageSet openmpi_;
  ImageSet recorder_;
  FakeMpich mpich_4_0_;
  FakeMpich mpich_4_1_;
};

std::int64_t rank_of(FuzzInput& input) {
  return static_cast<std::int8_t>(input.number(1));
}

std::string name_of(FuzzInput& input) {
  constexpr std::array names = {"MPI_COMM_WORLD", "MPI_COMM_SELF", "MPI_ICOMM_WORLD", "row"};
  return names[input.number(1) % names.size()];
}

/// As text.h has it: what a DLL of the field says, and what none does.
TextLines text_of(FuzzInput& input) {
  const auto number = input.number(1);
  const auto address = input.number(2);
  switch (number % 6) {
  case 0:
    return {fmt::format("Receive: 0x{:x}", address), "Data: 4 instances of MPI datatype", "name"};
  case 1:
    return {fmt::format("Send: 0x{:x}", address), "Data transfer completed"};
  case 2:
    return {"MPI_Irecv", fmt::format("{} x MPI_DOUBLE", address)};
  case 3:
    return {std::string(input.take(number / 6))};
  case 4:
    return {fmt::format("Receive: 0x{:x}{:016x}", number, address << 48)};
  default:
    return {};
  }
}

Operation operation_of(FuzzInput& input) {
  Operation made;
  made.raw.status = static_cast<std::int32_t>(input.number(1) % 3);
  made.raw.desired_local_rank = made.raw.actual_local_rank = rank_of(input);
  made.raw.desired_tag = made.raw.actual_tag = rank_of(input);
  made.raw.desired_length = rank_of(input);
  made.status = static_cast<OpStatus>(made.raw.status);
  made.peer = {false, made.raw.desired_local_rank, made.raw.desired_local_rank};
  made.length = {made.raw.desired_length, LengthUnit::bytes};
  if (input.number(1) % 2 == 0)
    made.actual = ActualMessage{made.peer.local_rank, made.peer.global_rank, 0, 0};
  made.text = text_of(input);
  return made;
}

std::vector<Communicator> communicators_of(FuzzInput& input) {
  std::vector<Communicator> made(input.number(1) % (most_communicators + 1));
  for (auto& communicator : made) {
    communicator.id = {input.number(2)};
    communicator.name = name_of(input);
    communicator.size = static_cast<std::int16_t>(input.number(2));
    if (const auto rank = rank_of(input); rank >= -2)
      communicator.local_rank = rank;
    for (auto& queue : communicator.queues) {
      const auto count = input.number(1) % (most_operations + 1);
      queue.state = QueueState::available;
      queue.total = count;
      for (std::size_t i = 0; i < count; ++i)
        queue.operations.push_back(operation_of(input));
    }
  }
  return made;
}

std::size_t operations_of(const std::vector<Communicator>& communicators) {
  std::size_t count = 0;
  for (const auto& communicator : communicators)
    for (const auto& queue : communicator.queues)
      count += queue.operations.size();
  return count;
}

void check(const Communicator& communicator) {
  if (communicator.group)
    require(std::cmp_less_equal(communicator.group->size(), std::uint64_t{1} << 24));
  for (const auto& queue : communicator.queues) {
    require(!queue.total || *queue.total >= queue.operations.size());
    for (const auto& operation : queue.operations) {
      const auto& length = operation.length.value;
      require(operation.repairs.empty() || !length || operation.length.unit != LengthUnit::bytes ||
              operation.length.value == operation.raw.desired_length || *length >= 0);
    }
  }
}

/// What is added is the MPI's own, and no more of a queue than was asked for.
void add_unshown(std::vector<Communicator>& communicators, const Process& process, Memory& memory,
                 const Platform& platform) {
  constexpr std::size_t most = 3;
  const auto before = operations_of(communicators);
  const UnshownRequest request{.op_classes = {op_classes.begin(), op_classes.end()},
                               .max_operations = most};
  const auto outcome =
      support_of(process.provider)
          .add_unshown(communicators, request, {*process.images, memory, platform});
  require(outcome.has_value());
  const auto queues = communicators.size() * op_classes.size();
  require(operations_of(communicators) <= before + queues * most);
  for (const auto& communicator : communicators)
    check(communicator);
}

void repair_all(std::vector<Communicator>& communicators, const Process& process, Memory& memory,
                const Platform& platform) {
  const auto before = operations_of(communicators);
  const auto count = communicators.size();
  const MpiLibrary mpi{process.provider, {}, {}, nullptr, {}};
  require(repair(communicators, mpi, {*process.images, memory, platform}).has_value());
  require(communicators.size() <= count && operations_of(communicators) <= before);
  for (const auto& communicator : communicators)
    check(communicator);
  add_unshown(communicators, process, memory, platform);
  static_cast<void>(find_implausible(communicators, support_of(process.provider)));
}

void look_at(const Process& process, Memory& memory, const Platform& platform) {
  auto& images = *process.images;
  const auto& support = support_of(process.provider);
  const auto find = [&](std::string_view name) { return images.find_type(name); };
  require(support.read_state({images, memory, platform}).has_value());
  const auto transport = support.read_transport({images, memory, platform});
  require(transport.has_value());
  if (transport->name)
    require(transport->name->find_first_of("\n\x1b") == std::string::npos);
  require(support.queue_extent({images, memory, platform}).has_value());
  require(support.check_types(find, {images, memory, platform}).has_value());
}

} // namespace
} // namespace mqbridge

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mqbridge;
  static std::vector<std::unique_ptr<Processes>> processes = [] {
    std::vector<std::unique_ptr<Processes>> made;
    for (const auto& platform : test_platforms())
      made.push_back(std::make_unique<Processes>(platform));
    return made;
  }();
  test::FuzzInput input(data, size);
  const auto number = input.number(1);
  const auto which = input.number(1) % processes.size();
  const auto& platform = test_platforms()[which];
  const auto process = processes[which]->choose(number);
  auto communicators = communicators_of(input);
  PooledMemory memory(input.rest());
  look_at(process, memory, platform);
  repair_all(communicators, process, memory, platform);
  return 0;
}
