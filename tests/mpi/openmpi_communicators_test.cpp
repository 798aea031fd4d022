// Who is in a communicator of Open MPI, on four platforms: what is read again from its objects.

#include "host/mpi/openmpi/openmpi_communicators.h"
#include "tests/mqs/test_target.h"

#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

using Ranks = std::vector<std::int64_t>;

constexpr std::uint64_t own_job = 0x12340001;
constexpr std::uint64_t other_job = 0x12340002;
constexpr std::uint64_t first_process = 0x800000; ///< 256 bytes each
constexpr std::uint64_t first_communicator = 0x100000;
constexpr std::uint64_t first_group = 0x200000;
constexpr std::uint64_t slots_at = 0x300000;
constexpr std::uint64_t windows_at = 0x310000;
constexpr std::uint64_t window_at = 0x320000;
constexpr std::uint64_t named = 0x2; ///< OMPI_COMM_NAMEISSET

/// An Open MPI process, and what its DLL says. Not the real layouts: they must be taken from the
/// types.
class OpenMpiCommunicators : public testing::TestWithParam<Platform> {
protected:
  OpenMpiCommunicators() {
    types->add("opal_list_item_t", {{"super", 0, 16}, {"next", 0, pointer()}, {"free", 0, 4}});
    types->add("opal_pointer_array_t", {{"super", 0, 16}, {"size", 0, 4}, {"addr", 0, pointer()}});
    types->add("ompi_communicator_t", {{"super", 0, 24},
                                       {"c_name", 0, 64},
                                       {"c_contextid", 0, 4},
                                       {"c_flags", 0, 4},
                                       {"c_local_group", 0, pointer()},
                                       {"c_remote_group", 0, pointer()},
                                       {"c_local_comm", 0, pointer()}});
    types->add("ompi_group_t",
               {{"super", 0, 16}, {"grp_proc_count", 0, 4}, {"grp_proc_pointers", 0, pointer()}});
    images.add_type_source(types);
    array("ompi_mpi_communicators", slots_at, 64);
    array("ompi_mpi_windows", windows_at, 0);
    for (std::uint64_t rank = 0; rank < 3; ++rank)
      process(rank, own_job, rank);
    world = communicator(0, {process_at(0), sentinel(own_job, 1), process_at(2)});
  }

  static std::uint64_t pointer() { return static_cast<std::uint64_t>(GetParam().pointer_size); }
  static std::uint64_t process_at(std::uint64_t number) { return first_process + 256 * number; }
  /// ompi/proc/proc.h: a name in odd bits.
  static std::uint64_t sentinel(std::uint64_t job, std::uint64_t rank) {
    if (GetParam().pointer_size == 4)
      return rank << 1 | 1;
    return rank << 32 | job >> 16 << 16 | (job & 0x7fff) << 1 | 1;
  }

  void put(std::uint64_t address, std::uint64_t value, std::uint64_t size) {
    memory.put_integer({address}, value, size, GetParam().byte_order == ByteOrder::big);
  }
  void set(std::uint64_t object, const char* type, const char* field, std::uint64_t value) {
    const TypeField* found = (*types->find(type))->find_field(field);
    put(object + found->offset, value, found->size);
  }
  void array(const char* symbol, std::uint64_t slots, std::uint64_t count) {
    const auto root = images.find_symbol(symbol)->address.value;
    set(root, "opal_pointer_array_t", "addr", slots);
    set(root, "opal_pointer_array_t", "size", count);
  }
  void process(std::uint64_t number, std::uint64_t job, std::uint64_t rank) {
    const std::uint64_t name = process_at(number) + (*types->find("opal_list_item_t"))->size;
    put(name, job, 4);
    put(name + 4, rank, 4);
  }
  std::uint64_t group(const std::vector<std::uint64_t>& members) {
    const std::uint64_t at = first_group + 0x1000 * groups_++;
    set(at, "ompi_group_t", "grp_proc_count", members.size());
    set(at, "ompi_group_t", "grp_proc_pointers", at + 0x100);
    for (std::size_t i = 0; i < members.size(); ++i)
      put(at + 0x100 + i * pointer(), members[i], pointer());
    return at;
  }
  static std::uint64_t object(std::uint64_t context) {
    return first_communicator + context * 0x200;
  }

  /// As the DLL says it: this process is rank 0, and every member that it does not know is.
  std::size_t communicator(std::uint64_t context, const std::vector<std::uint64_t>& members,
                           const std::vector<std::uint64_t>& remote = {}) {
    const std::uint64_t at = object(context);
    const std::uint64_t local = group(members);
    put(slots_at + context * pointer(), at, pointer());
    set(at, "ompi_communicator_t", "c_contextid", context);
    set(at, "ompi_communicator_t", "c_flags", 0);
    set(at, "ompi_communicator_t", "c_local_group", local);
    set(at, "ompi_communicator_t", "c_remote_group", remote.empty() ? local : group(remote));
    set(at, "ompi_communicator_t", "c_local_comm", 0);
    Communicator said;
    said.id = {context};
    said.name = context == 0 ? "MPI_COMM_WORLD" : "some";
    said.local_rank = 0;
    said.size = static_cast<std::int64_t>(members.size());
    said.group = Ranks(members.size(), 0);
    communicators.push_back(std::move(said));
    return communicators.size() - 1;
  }
  /// A send to this rank, which the DLL takes for rank 0 of the world.
  Operation& send(std::size_t to, std::int64_t local) {
    Operation made;
    made.peer = {false, local, 0};
    made.actual = ActualMessage{local, 0, 3, 8};
    communicators[to].queue(OpClass::send).operations.push_back(std::move(made));
    return communicators[to].queue(OpClass::send).operations.back();
  }
  void correct() {
    const auto done = openmpi::correct_communicators(communicators, {images, memory, GetParam()});
    ASSERT_TRUE(done) << done.error().message;
  }

  std::shared_ptr<FakeTypes> types = std::make_shared<FakeTypes>();
  ImageSet images = images_of(std::string(MQBRIDGE_TEST_DLLS) + "/LIKE_OPENMPI.so", "libmpi.so.40");
  FakeMemory memory;
  std::vector<Communicator> communicators;
  std::size_t world = 0;

private:
  std::uint64_t groups_ = 0;
};

INSTANTIATE_TEST_SUITE_P(, OpenMpiCommunicators, testing::ValuesIn(test_platforms()),
                         [](const auto& of) { return platform_name(of.param); });

/// The world still has the name of what was only talked to in another communicator.
TEST_P(OpenMpiCommunicators, AProcessIsKnownByItsNameWhereItsAddressDoesNotTell) {
  const auto row = communicator(5, {process_at(0), process_at(1), sentinel(own_job, 2)});
  const Operation& sent = send(row, 1);
  correct();
  EXPECT_EQ(communicators[world].group, (Ranks{0, 1, 2}));
  EXPECT_EQ(communicators[row].group, (Ranks{0, 1, 2}));
  EXPECT_EQ(communicators[row].kind, CommunicatorKind::intra);
  EXPECT_EQ(communicators[row].context, 5U);
  EXPECT_EQ(sent.peer.global_rank, 1);
  EXPECT_EQ(sent.actual->global_rank, 1);
  EXPECT_THAT(sent.repairs, Contains(Repair::global_rank));
}

TEST_P(OpenMpiCommunicators, WhereAllAddressesTellNothingMoreIsRead) {
  communicator(5, {process_at(2), process_at(0)});
  memory.put({process_at(0)}, {}); // its name cannot be read
  correct();
  EXPECT_EQ(communicators[1].group, (Ranks{2, 0}));
}

TEST_P(OpenMpiCommunicators, MembersOfAnotherJobAreJobAndRank) {
  process(7, other_job, 0);
  process(8, other_job, 1);
  const auto merged =
      communicator(5, {process_at(0), sentinel(own_job, 1), process_at(7), process_at(8)});
  const Operation& sent = send(merged, 3);
  correct();
  EXPECT_FALSE(communicators[merged].group);
  const auto own = std::to_string(own_job);
  const auto other = std::to_string(other_job);
  EXPECT_THAT(communicators[merged].members,
              ElementsAre(Member{own, 0}, Member{own, 1}, Member{other, 0}, Member{other, 1}));
  EXPECT_FALSE(sent.peer.global_rank) << "no rank of this job's world";
  EXPECT_FALSE(sent.actual->global_rank);
}

TEST_P(OpenMpiCommunicators, TheSidesOfAnIntercommunicator) {
  process(7, other_job, 0);
  const auto between = communicator(5, {process_at(0)}, {process_at(2), sentinel(own_job, 1)});
  const auto copy = communicator(6, {process_at(0)});
  const auto to_other = communicator(7, {process_at(0), process_at(2)}, {process_at(7)});
  set(object(5), "ompi_communicator_t", "c_local_comm", object(6));
  const Operation& sent = send(between, 1);
  const Operation& away = send(to_other, 0);
  correct();
  EXPECT_EQ(communicators[between].kind, CommunicatorKind::inter);
  EXPECT_EQ(communicators[between].group, Ranks{0});
  EXPECT_EQ(communicators[between].remote.ranks, (Ranks{2, 1}));
  EXPECT_TRUE(communicators[copy].internal);
  EXPECT_FALSE(communicators[between].internal || communicators[to_other].internal);
  EXPECT_EQ(sent.peer.global_rank, 1);
  EXPECT_EQ(communicators[to_other].group, (Ranks{0, 2}));
  EXPECT_FALSE(communicators[to_other].remote.ranks);
  EXPECT_THAT(communicators[to_other].remote.members,
              ElementsAre(Member{std::to_string(other_job), 0}));
  EXPECT_FALSE(away.peer.global_rank);
}

TEST_P(OpenMpiCommunicators, AGroupThatIsNotQuiteRightIsNotKnown) {
  process(7, own_job, 1); // the same process again
  process(8, own_job, 3); // beyond the world
  const auto twice = communicator(5, {process_at(0), sentinel(own_job, 1), process_at(7)});
  const auto beyond = communicator(6, {process_at(0), process_at(8)});
  const auto unread = communicator(7, {process_at(0), process_at(20)});
  const auto null = communicator(8, {process_at(0), 0});
  const auto changing = communicator(9, {process_at(0)});
  set(object(9), "ompi_communicator_t", "c_contextid", 10);
  correct();
  for (const auto each : {twice, beyond, unread, null}) {
    EXPECT_FALSE(communicators[each].group) << each;
    EXPECT_THAT(communicators[each].members, IsEmpty()) << each;
  }
  EXPECT_EQ(communicators[changing].kind, CommunicatorKind::unknown) << "as the DLL said";
}

/// Where this process's own name is not, no other is looked for.
TEST_P(OpenMpiCommunicators, NamesThatAreElsewhereAreNotBelieved) {
  process(0, own_job, 77);
  const auto row = communicator(5, {process_at(0), process_at(1)});
  correct();
  EXPECT_FALSE(communicators[row].group);
  EXPECT_EQ(communicators[world].group, (Ranks{0, 1, 2}));
}

TEST_P(OpenMpiCommunicators, AGarbageSizeCostsLittle) {
  const auto garbage = communicator(5, {process_at(0)}, {process_at(1)});
  set(first_group + 0x1000 * 2, "ompi_group_t", "grp_proc_count", 10'000'000);
  correct();
  EXPECT_FALSE(communicators[garbage].remote.ranks);
  EXPECT_LT(memory.bytes_asked, std::uint64_t{1} << 20);
}

/// Many communicators of one group have a copy each.
TEST_P(OpenMpiCommunicators, AllGroupsTogetherAreBounded) {
  for (std::uint64_t context = 5; context < 8; ++context) {
    communicator(context, {process_at(0), process_at(2)});
    for (const char* field : {"c_local_group", "c_remote_group"})
      set(object(context), "ompi_communicator_t", field, first_group + 0x1000);
  }
  const auto done = openmpi::correct_communicators(communicators, {images, memory, GetParam()}, 8);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(communicators[world].group, (Ranks{0, 1, 2}));
  EXPECT_EQ(communicators[1].group, (Ranks{0, 2}));
  EXPECT_EQ(communicators[2].group, (Ranks{0, 2}));
  EXPECT_FALSE(communicators[3].group) << "one member more than there may be";
  EXPECT_EQ(communicators[3].kind, CommunicatorKind::intra);
}

TEST_P(OpenMpiCommunicators, WhoseANameIs) {
  communicator(5, {process_at(0)});
  communicator(6, {process_at(0)});
  communicators[2].name = "MPI_COMM_WORLD";
  set(object(0), "ompi_communicator_t", "c_flags", named);
  set(object(6), "ompi_communicator_t", "c_flags", named);
  correct();
  EXPECT_TRUE(communicators[0].named_by_mpi);
  EXPECT_TRUE(communicators[1].named_by_mpi) << "a default, such as the name of a duplicate";
  EXPECT_FALSE(communicators[2].named_by_mpi);
}

TEST_P(OpenMpiCommunicators, ThatOfAWindowIsInternal) {
  communicator(5, {process_at(0)});
  communicator(6, {process_at(0)});
  array("ompi_mpi_windows", windows_at, 2);
  put(windows_at, 0, pointer());
  put(windows_at + pointer(), window_at, pointer());
  const std::string name = "rdma window 5";
  std::vector<std::uint8_t> bytes(name.begin(), name.end());
  bytes.resize(64);
  memory.put({window_at + (*types->find("ompi_communicator_t"))->find_field("c_name")->offset},
             bytes);
  correct();
  EXPECT_TRUE(communicators[1].internal);
  EXPECT_FALSE(communicators[0].internal || communicators[2].internal);
}

TEST_P(OpenMpiCommunicators, ALostConnectionIsTheError) {
  memory.fail_with({"connect.lost", "gone", ""});
  const auto done = openmpi::correct_communicators(communicators, {images, memory, GetParam()});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "connect.lost");
}

} // namespace
} // namespace mqbridge
