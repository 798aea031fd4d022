// What is read again from Open MPI's requests, on four platforms; what is known of MPICH's DLL.

#include "host/mpi/repairs.h"
#include "host/process/structures.h"
#include "tests/mpi/openmpi_types.h"
#include "tests/mqs/test_target.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr std::uint64_t request_at = 0x10008; ///< a receive
constexpr std::uint64_t send_at = 0x18008;
constexpr std::uint64_t datatype_at = 0x20000;
constexpr std::uint64_t pending = 0;
constexpr std::uint64_t completed = 1;
constexpr std::uint64_t active = 2;
constexpr std::uint64_t inactive = 1;
// mca_pml_base_request_type_t and mca_pml_base_send_mode_t of Open MPI
constexpr std::uint64_t send_type = 1;
constexpr std::uint64_t receive_type = 2;
constexpr std::uint64_t improbe_type = 5;
constexpr std::uint64_t mprobe_type = 6;
constexpr std::uint64_t buffered_mode = 2;
constexpr std::uint64_t standard_mode = 4;

/// An Open MPI process with a receive and a send of the same content, and one datatype.
class Requests : public testing::TestWithParam<Platform> {
protected:
  Requests() {
    add_openmpi_types(*types, GetParam());
    images.add_type_source(types);
    process(pending, active, 10, 4);
  }

  /// Everything a repair reads; `waiting` is req_complete.
  void process(std::uint64_t waiting, std::uint64_t state, std::uint64_t count,
               std::uint64_t element_size) {
    put_request("ompi_request_t", "req_complete", waiting, GetParam().pointer_size);
    put_request("ompi_request_t", "req_state", state, 4);
    put_request("mca_pml_base_request_t", "req_datatype", datatype_at, GetParam().pointer_size);
    put_request("mca_pml_base_request_t", "req_count", count, GetParam().size_t_size);
    put_request("mca_pml_base_request_t", "req_type", send_type, 4);
    write(send_at);
    put_request("mca_pml_base_request_t", "req_type", receive_type, 4);
    write(request_at);
    const auto size_at =
        offset("ompi_datatype_t", "super") + offset("opal_datatype_t", "size") + datatype_at;
    put({size_at}, element_size, GetParam().size_t_size);
  }

  void put_sequence(std::uint64_t sequence) {
    put_request("mca_pml_base_request_t", "req_sequence", sequence, 8);
    write(request_at);
  }

  /// The request, there.
  void write(std::uint64_t address) { memory.put({address}, request_); }

  /// The request becomes what MPI_Mprobe or MPI_Improbe made, or another one.
  void made_by(std::uint64_t type) {
    put_request("mca_pml_base_request_t", "req_type", type, 4);
    write(request_at);
  }

  /// What came, as the request's status has it.
  void status_of_message(std::int32_t source, std::int32_t tag, std::uint64_t bytes) {
    const auto status = offset("ompi_request_t", "req_status");
    put_at(status + offset("ompi_status_public_t", "MPI_SOURCE"),
           static_cast<std::uint32_t>(source), 4);
    put_at(status + offset("ompi_status_public_t", "MPI_TAG"), static_cast<std::uint32_t>(tag), 4);
    put_at(status + offset("ompi_status_public_t", "_ucount"), bytes, GetParam().size_t_size);
    write(request_at);
  }

  /// The send: how it was called, and whether the transport is done with it.
  void send_mode(std::uint64_t mode, bool transferred) {
    put_request("mca_pml_base_request_t", "req_type", send_type, 4);
    put_request("mca_pml_base_request_t", "req_pml_complete", transferred ? 1 : 0, 4);
    put_request("mca_pml_base_send_request_t", "req_send_mode", mode, 4);
    write(send_at);
  }

  /// What Open MPI's DLL says of the request: it reads the first byte of req_complete.
  OpStatus said_by_one_byte() {
    return request_[offset("ompi_request_t", "req_complete")] != 0 ? OpStatus::complete
                                                                   : OpStatus::pending;
  }

  /// One operation in one communicator, as the walk would give it.
  Operation& operation(OpClass op_class, std::int64_t raw_status) {
    Communicator communicator;
    communicator.size = 2;
    communicator.local_rank = 0;
    communicator.group = {0, 1};
    Operation made;
    made.raw.status = static_cast<std::int32_t>(raw_status);
    made.raw.desired_length = 8;
    made.status = static_cast<OpStatus>(raw_status);
    made.peer = {false, 1, 1};
    made.actual = ActualMessage{1, 1, 3, 8};
    made.length = {40, LengthUnit::bytes};
    made.kind = op_class == OpClass::send ? OpKind::send : OpKind::receive;
    made.text = {op_class == OpClass::send ? fmt::format("Send: 0x{:x}", send_at)
                                           : fmt::format("Receive: 0x{:x}", request_at)};
    communicator.queue(op_class).total = 1;
    communicator.queue(op_class).operations.push_back(std::move(made));
    communicators.push_back(std::move(communicator));
    return communicators.back().queue(op_class).operations.back();
  }

  void repaired() {
    const auto done = repair(communicators, mpi, {images, memory, GetParam()});
    ASSERT_TRUE(done) << done.error().message;
  }

  std::shared_ptr<FakeTypes> types = std::make_shared<FakeTypes>();
  ImageSet images{std::vector<Image>()};
  FakeMemory memory;
  MpiLibrary mpi{"openmpi", "Open MPI", {}, nullptr, {}};
  std::vector<Communicator> communicators;

private:
  std::uint64_t offset(const char* type, const char* field) {
    return (*types->find(type))->find_field(field)->offset;
  }
  void put(TargetAddress address, std::uint64_t value, int size) {
    memory.put_integer(address, value, static_cast<std::size_t>(size),
                       GetParam().byte_order == ByteOrder::big);
  }
  void put_request(const char* type, const char* field, std::uint64_t value, int size) {
    put_at(offset(type, field), value, size);
  }
  void put_at(std::uint64_t at, std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) {
      const int shift = 8 * (GetParam().byte_order == ByteOrder::big ? size - 1 - i : i);
      request_[at + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(value >> shift);
    }
  }
  std::vector<std::uint8_t> request_ = std::vector<std::uint8_t>(200, 0xee);
};

INSTANTIATE_TEST_SUITE_P(, Requests, testing::ValuesIn(test_platforms()),
                         [](const auto& of) { return platform_name(of.param); });

TEST_P(Requests, SayTheirPlaceInTheirChannel) {
  put_sequence(0);
  EXPECT_EQ(operation(OpClass::receive, 0).sequence, std::nullopt) << "the DLL does not say it";
  repaired();
  EXPECT_EQ(communicators[0].queue(OpClass::receive).operations[0].sequence, 0U);
  put_sequence(70'000);
  repaired();
  EXPECT_EQ(communicators[0].queue(OpClass::receive).operations[0].sequence, 70'000U);
  communicators.clear();
  put_sequence(0xeeeeeeeeeeeeeeee); // garbage
  operation(OpClass::send, 0);
  repaired();
  EXPECT_EQ(communicators[0].queue(OpClass::send).operations[0].sequence, std::nullopt);
}

/// A persistent one has the place of its last start.
TEST_P(Requests, WhatIsNotStartedHasNoPlace) {
  process(completed, inactive, 10, 4);
  put_sequence(70'000);
  operation(OpClass::receive, 0);
  repaired();
  EXPECT_EQ(communicators[0].queue(OpClass::receive).operations[0].status, OpStatus::inactive);
  EXPECT_EQ(communicators[0].queue(OpClass::receive).operations[0].sequence, std::nullopt);
}

TEST_P(Requests, StatusIsReadAtPointerWidth) {
  struct Case {
    std::uint64_t req_complete;
    std::int64_t said;
    OpStatus truth;
  };
  const Case cases[] = {
      {pending, 0, OpStatus::pending},
      {pending, 2, OpStatus::pending},
      {completed, 0, OpStatus::complete},
      {completed, 1, OpStatus::complete},
      {completed, 2, OpStatus::complete},
      {0x7ffd1201, 2, OpStatus::pending}, // somebody waits: its lowest byte looks complete
      {0x7ffd1200, 0, OpStatus::pending},
      {0x01000000, 2, OpStatus::pending}, // the highest byte on a 32-bit target
      {pending, 1, OpStatus::matched},    // matched, not complete: the DLL knows better
  };
  for (const auto& [req_complete, said, truth] : cases) {
    communicators.clear();
    process(req_complete, active, 10, 4);
    operation(OpClass::receive, said);
    repaired();
    const auto& result = communicators[0].queue(OpClass::receive).operations[0];
    EXPECT_EQ(result.status, truth) << req_complete << " said " << said;
    EXPECT_EQ(result.request, TargetAddress{request_at});
    EXPECT_EQ(result.repairs.empty(), static_cast<std::int64_t>(truth) == said);
  }
}

TEST_P(Requests, WhereverTheByteLiesThatTheDllReadsTheStatusIsThatOfTheWord) {
  const bool wide = GetParam().pointer_size == 8;
  const bool big = GetParam().byte_order == ByteOrder::big;
  const std::uint64_t top = std::uint64_t{1} << (wide ? 56 : 24);
  int wrong = 0;
  for (const std::uint64_t req_complete :
       {pending, completed, top, top - 1, std::uint64_t{0x7ffd1200}, std::uint64_t{2}}) {
    communicators.clear();
    process(req_complete, active, 10, 4);
    const OpStatus said = said_by_one_byte();
    operation(OpClass::receive, static_cast<std::int64_t>(said));
    repaired();
    const auto truth = req_complete == completed ? OpStatus::complete : OpStatus::pending;
    const auto& result = communicators[0].queue(OpClass::receive).operations[0];
    EXPECT_EQ(result.status, truth) << std::hex << req_complete;
    EXPECT_EQ(!result.repairs.empty(), said != truth) << std::hex << req_complete;
    wrong += said != truth;
  }
  // Big-endian: what is complete seems pending, and waited-for objects complete by their top byte.
  EXPECT_EQ(wrong, big ? (wide ? 2 : 3) : 2);
}

TEST_P(Requests, APendingReceiveHasNoActualMessage) {
  operation(OpClass::receive, 2);
  operation(OpClass::send, 2);
  repaired();
  EXPECT_FALSE(communicators[0].queue(OpClass::receive).operations[0].actual);
  EXPECT_TRUE(communicators[1].queue(OpClass::send).operations[0].actual);
}

TEST_P(Requests, APersistentOneThatIsNotStartedIsInactiveAndHasMetNothing) {
  process(completed, inactive, 10, 4);
  for (const OpClass op_class : {OpClass::send, OpClass::receive}) {
    for (const std::int64_t said : {0, 1, 2}) { // pending: the byte of big-endian targets
      communicators.clear();
      operation(op_class, said);
      repaired();
      const auto& result = communicators[0].queue(op_class).operations[0];
      EXPECT_EQ(result.status, OpStatus::inactive) << said;
      EXPECT_THAT(result.repairs, Contains(Repair::status));
      EXPECT_FALSE(result.actual);
    }
  }
}

TEST_P(Requests, OneThatIsBeingMadeIsPending) {
  process(pending, inactive, 10, 4);
  operation(OpClass::receive, 0);
  repaired();
  EXPECT_EQ(communicators[0].queue(OpClass::receive).operations[0].status, OpStatus::pending);
}

TEST_P(Requests, ABufferedSendSaysWhetherItsCopyHasLeft) {
  struct Case {
    std::uint64_t mode;
    std::uint64_t state;
    bool transferred;
    OpStatus status;
    Delivery delivery;
  };
  for (const auto& [mode, state, transferred, status, delivery] : {
           Case{buffered_mode, active, false, OpStatus::complete, Delivery::undelivered},
           Case{buffered_mode, active, true, OpStatus::complete, Delivery::delivered},
           Case{buffered_mode, inactive, false, OpStatus::inactive, Delivery::undelivered},
           Case{buffered_mode, inactive, true, OpStatus::inactive, Delivery::not_known},
           Case{standard_mode, active, false, OpStatus::complete, Delivery::not_known},
       }) {
    communicators.clear();
    process(completed, state, 10, 4);
    send_mode(mode, transferred);
    operation(OpClass::send, 2);
    repaired();
    const auto& result = communicators[0].queue(OpClass::send).operations[0];
    EXPECT_EQ(result.status, status);
    EXPECT_EQ(result.delivery, delivery) << mode << state << transferred;
  }
}

// The DLL reads their statuses as it reads those of receives, does not know what they are, and
// gives where the transport keeps the message as the program's buffer.
TEST_P(Requests, WhatAProbeMadeIsNoReceive) {
  struct Case {
    std::uint64_t type;
    std::uint64_t req_complete;
    OpKind kind;
    OpStatus status;
  };
  for (const auto& [type, req_complete, kind, status] :
       {Case{mprobe_type, pending, OpKind::mprobe, OpStatus::pending},
        Case{mprobe_type, 0x7ffd1201, OpKind::mprobe, OpStatus::pending},
        Case{mprobe_type, completed, OpKind::message, OpStatus::matched},
        Case{improbe_type, completed, OpKind::message, OpStatus::matched}}) {
    for (const std::int64_t said : {0, 2}) {
      communicators.clear();
      process(req_complete, active, 0, 1);
      made_by(type);
      status_of_message(1, 9, 300);
      Operation& made = operation(OpClass::receive, said);
      made.text = {fmt::format("Unknown type of request 0x{:x}", request_at), "Data: 1 * MPI_"};
      made.buffer = TargetAddress{0x4000};
      if (said == 0)
        made.actual.reset();
      repaired();
      const auto& result = communicators[0].queue(OpClass::receive).operations[0];
      EXPECT_EQ(result.request, TargetAddress{request_at});
      EXPECT_EQ(result.kind, kind);
      EXPECT_EQ(result.status, status);
      EXPECT_FALSE(result.buffer);
      EXPECT_THAT(result.text, IsEmpty());
      ASSERT_EQ(result.actual.has_value(), kind == OpKind::message);
      if (!result.actual) {
        EXPECT_FALSE(result.length.value);
        continue;
      }
      EXPECT_EQ(result.actual->local_rank, 1);
      EXPECT_EQ(result.actual->global_rank, 1);
      EXPECT_EQ(result.actual->tag, 9);
      EXPECT_EQ(result.actual->length, 300);
      EXPECT_EQ(result.length.value, 300);
    }
  }
}

TEST_P(Requests, ARequestOfNoKnownTypeHasNoKindButItsStatus) {
  for (const std::uint64_t type : {0, 7, 1000}) {
    communicators.clear();
    process(0x7ffd1201, active, 10, 4);
    made_by(type);
    operation(OpClass::receive, 2).text = {
        fmt::format("Unknown type of request 0x{:x}", request_at)};
    repaired();
    const auto& result = communicators[0].queue(OpClass::receive).operations[0];
    EXPECT_EQ(result.kind, OpKind::unknown);
    EXPECT_EQ(result.status, OpStatus::pending);
  }
}

TEST_P(Requests, AMatchedReceiveHasTheAnnouncedLengthUntilItIsComplete) {
  for (const std::uint64_t req_complete : {pending, completed}) {
    communicators.clear();
    process(req_complete, active, 10, 4);
    Operation& matched = operation(OpClass::receive, 1);
    matched.actual->length = 0; // not set before the message has come whole
    matched.raw.desired_length = 4096;
    repaired();
    const auto& result = communicators[0].queue(OpClass::receive).operations[0];
    EXPECT_EQ(result.actual->length, req_complete == completed ? 0 : 4096);
  }
}

TEST_P(Requests, TheLengthIsCountTimesSize) {
  process(completed, active, 3, 8);
  operation(OpClass::receive, 1).length.value = 3;
  repaired();
  const auto& result = communicators[0].queue(OpClass::receive).operations[0];
  EXPECT_EQ(result.length.value, 24);
  EXPECT_EQ(result.length.unit, LengthUnit::bytes);
  EXPECT_THAT(result.repairs, Contains(Repair::length));
}

TEST_P(Requests, ALengthBeyondAllBoundsChangesNothing) {
  const std::uint64_t huge = GetParam().size_t_size == 8 ? ~std::uint64_t{0} : 0xffffffff;
  process(pending, active, huge, huge);
  operation(OpClass::receive, 0);
  repaired();
  const auto& length = communicators[0].queue(OpClass::receive).operations[0].length.value;
  if (GetParam().size_t_size == 8) {
    EXPECT_EQ(length, 40);
  } else {
    EXPECT_GE(length.value_or(-1), 0);
  }
}

/// The DLL's word for it is one byte of a pointer.
TEST_P(Requests, OfARequestThatCannotBeReadAgainTheStatusIsUnknown) {
  for (const char* text :
       {"Receive: 0x66660000", "Receive: 0x", "Receive: 0xzz", "no address",
        "Receive: 0x10008 and more", "Receive: 0xffffffffffffffffff", "Receive: 0x0"}) {
    communicators.clear();
    operation(OpClass::receive, 2).text = {text};
    repaired();
    const auto& result = communicators[0].queue(OpClass::receive).operations[0];
    EXPECT_EQ(result.status, OpStatus::unknown) << text;
    EXPECT_FALSE(result.actual) << text;
    EXPECT_THAT(result.repairs, ElementsAre(Repair::status)) << text;
    EXPECT_EQ(result.raw.status, 2) << text;
  }
}

TEST_P(Requests, LinesThatAreKnownToBeWrongAreKeptAsideOnly) {
  for (const char* data : {"Data: 8 instances of MPI datatype", "Data transfer completed"}) {
    communicators.clear();
    Operation& made = operation(OpClass::receive, 0);
    const std::string first = made.text[0];
    made.text = {first, data, "MPI_"};
    repaired();
    const auto& result = communicators[0].queue(OpClass::receive).operations[0];
    EXPECT_THAT(result.text, ElementsAre(first));
    EXPECT_THAT(result.text.all(), ElementsAre(first, data, "MPI_"));
    EXPECT_THAT(result.repairs, testing::Contains(Repair::text));
  }
}

TEST_P(Requests, MissingTypesChangeNothing) {
  ImageSet without{std::vector<Image>()};
  operation(OpClass::receive, 2);
  ASSERT_TRUE(repair(communicators, mpi, {without, memory, GetParam()}));
  EXPECT_EQ(communicators[0].queue(OpClass::receive).operations[0].status, OpStatus::complete);
}

TEST_P(Requests, ManyAreReadInFewRoundTrips) {
  for (int i = 0; i < 1000; ++i)
    operation(OpClass::receive, 2);
  memory.calls = 0;
  repaired();
  EXPECT_EQ(memory.calls, 2);
  for (const auto& communicator : communicators)
    EXPECT_EQ(communicator.queue(OpClass::receive).operations[0].status, OpStatus::pending);
}

TEST_P(Requests, ALostConnectionIsTheError) {
  operation(OpClass::receive, 2);
  memory.fail_with({"connect.lost", "gone", ""});
  const auto done = repair(communicators, mpi, {images, memory, GetParam()});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "connect.lost");
}

TEST_P(Requests, WhatTheDllDidNotFillInIsDropped) {
  auto& unfilled = operation(OpClass::send, 0);
  unfilled.text = {};
  unfilled.raw.desired_local_rank = -1;
  repaired();
  EXPECT_THAT(communicators[0].queue(OpClass::send).operations, IsEmpty());
  EXPECT_EQ(communicators[0].queue(OpClass::send).total, 0U);
}

TEST_P(Requests, ASignExtendedAddressOfA32BitTargetIsUnderstood) {
  const bool narrow = GetParam().pointer_size == 4;
  const std::uint64_t extended = 0xfffffffff7001000;
  process(completed, active, 10, 4);
  write(narrow ? 0xf7001000 : extended);
  operation(OpClass::receive, 0).text = {"Receive: 0xfffffffff7001000"};
  repaired();
  const auto& result = communicators[0].queue(OpClass::receive).operations[0];
  EXPECT_EQ(result.request, TargetAddress{narrow ? 0xf7001000 : extended});
  EXPECT_EQ(result.status, OpStatus::complete) << "read there, not somewhere else";
}

TEST(Repair, DropsTheNullCommunicatorAndNoOther) {
  std::vector<Communicator> communicators(3);
  communicators[0].size = 0; // MPI_COMM_NULL: rank 4294967294
  communicators[1].size = 1;
  communicators[1].local_rank = 0;
  communicators[2].size = 0;
  communicators[2].queue(OpClass::send).operations.emplace_back();
  ImageSet images{std::vector<Image>()};
  FakeMemory memory;
  ASSERT_TRUE(repair(communicators, MpiLibrary(), {images, memory, Platform()}));
  EXPECT_THAT(communicators, SizeIs(2));
  EXPECT_EQ(communicators[0].size, 1);
}

TEST(Repair, MpichGivesElementsAndNoLengthOfUnexpectedMessages) {
  std::vector<Communicator> communicators(1);
  communicators[0].size = 1;
  for (OpClass op_class : op_classes) {
    Operation operation;
    operation.length = {7, LengthUnit::bytes};
    communicators[0].queue(op_class).operations.push_back(operation);
  }
  MpiLibrary mpich;
  mpich.provider = "mpich";
  ImageSet images{std::vector<Image>()};
  FakeMemory memory;
  ASSERT_TRUE(repair(communicators, mpich, {images, memory, Platform()}));
  const auto& receive = communicators[0].queue(OpClass::receive).operations[0].length;
  EXPECT_EQ(receive.value, 7);
  EXPECT_EQ(receive.unit, LengthUnit::elements);
  const auto& unexpected = communicators[0].queue(OpClass::unexpected).operations[0].length;
  EXPECT_FALSE(unexpected.value);
  EXPECT_EQ(unexpected.unit, LengthUnit::unknown);
}

struct Lines {
  std::vector<std::string> text;
  std::optional<std::string> call;
  std::optional<std::int64_t> count;
  std::optional<std::string> datatype;
};

TEST(Repair, TheRecordersLinesSayWhatPostedAnOperationAndOfWhichDatatype) {
  const Lines cases[] = {
      {{"MPI_Isend", "12 x MPI_DOUBLE"}, "MPI_Isend", 12, "MPI_DOUBLE"},
      {{"7 x a type"}, {}, 7, "a type"},
      {{"MPI_Recv"}, "MPI_Recv", {}, {}},
      {{}, {}, {}, {}},
      // No count: that of a damaged process, which the interface cannot hold.
      {{"18446744073709551615 x MPI_INT"}, "18446744073709551615 x MPI_INT", {}, {}},
      {{"-1 x MPI_INT"}, "-1 x MPI_INT", {}, {}},
      {{"12"}, "12", {}, {}},
  };
  MpiLibrary recorder;
  recorder.provider = "recorder";
  ImageSet images{std::vector<Image>()};
  FakeMemory memory;
  TextPool texts;
  const auto said = [](const SharedText& text) {
    return text ? std::optional<std::string_view>(*text) : std::nullopt;
  };
  for (const auto& [text, call, count, datatype] : cases) {
    std::vector<Communicator> communicators(1);
    communicators[0].size = 1;
    communicators[0].queue(OpClass::receive).operations.emplace_back().text =
        TextLines(text, texts);
    ASSERT_TRUE(repair(communicators, recorder, {images, memory, Platform()}));
    const auto& operation = communicators[0].queue(OpClass::receive).operations[0];
    EXPECT_EQ(said(operation.call), call);
    EXPECT_EQ(operation.count, count);
    EXPECT_EQ(said(operation.datatype), datatype);
    EXPECT_THAT(operation.text, ElementsAreArray(text)) << "what the DLL said stays";
  }
}

TEST(Repair, RequestsAreReadInPiecesThatMemoryIsThereFor) {
  EXPECT_EQ(Structures::at_once(700), 16U * 1024);
  EXPECT_EQ(Structures::at_once(Fields::max_structure), 512U);
  EXPECT_GE(Structures::at_once(0), 1U);
  EXPECT_EQ(Structures::at_once(std::size_t{1} << 40), 1U);
}

} // namespace
} // namespace mqbridge
