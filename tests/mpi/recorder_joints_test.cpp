// Where a process met others of other jobs, as the host reads it of a recorder, on four platforms.

#include "dll/recorder/functions.h"
#include "dll/recorder/layout.h"
#include "host/mpi/mpi_support.h"
#include "tests/dll/layout_image.h"
#include "tests/mqs/test_target.h"

#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

#define PUT(image, address, structure, member, value)                                              \
  (image).set((address) + offsetof(structure, member), static_cast<std::uint64_t>(value),          \
              sizeof(structure::member))

constexpr std::uint64_t joint_id = 0x8123456789abcdef;
constexpr std::uint64_t joint_path = 0xfedcba9876543210;

/// A process with an intercommunicator to another job.
class RecordedJoints : public testing::TestWithParam<Platform> {
protected:
  RecordedJoints() : image_(GetParam(), {inter()}) {
    const auto at = image_.communicators[0];
    PUT(image_, at, mqr_communicator, joint, joint_id);
    PUT(image_, at, mqr_communicator, path, joint_path);
    PUT(image_, at, mqr_communicator, remote_size, 2);
    const auto remote = image_.place(8);
    image_.set(remote, 0xffffffff, 4);
    image_.set(remote + 4, 6, 4);
    PUT(image_, at, mqr_communicator, remote_group, remote);
    joint_ = image_.place(sizeof(mqr_joint));
    PUT(image_, joint_, mqr_joint, node.magic, MQR_MAGIC_JOINT);
    PUT(image_, joint_, mqr_joint, id, joint_id);
    PUT(image_, joint_, mqr_joint, base, 3);
    PUT(image_, joint_, mqr_joint, path, 4);
    PUT(image_, joint_, mqr_joint, began, 1'795'434'971'083'263'999);
    PUT(image_, joint_, mqr_joint, ended, 1'795'434'971'490'765'000);
    PUT(image_, joint_, mqr_joint, sequence, 0xffffffff);
    PUT(image_, joint_, mqr_joint, function, MQR_Comm_accept);
    PUT(image_, joint_, mqr_joint, size, 2);
    PUT(image_, joint_, mqr_joint, remote_size, 2);
    image_.text(joint_ + offsetof(mqr_joint, mark), "port \x1b");
    PUT(image_, image_.root, mqr_root, joints.first, joint_);
    PUT(image_, image_.root, mqr_root, joints.count, 1);
  }

  static LaidCommunicator inter() {
    LaidCommunicator made;
    made.id = 0x90000001;
    made.name = "inter";
    made.group = {1, 4};
    made.kind = MQR_INTER;
    return made;
  }

  UnshownOutcome read() {
    auto result = image_.walk();
    communicators_ = std::move(result.communicators);
    UnshownOutcome outcome;
    image_.look([&](const AddressSpace& space) {
      auto added = support_of("recorder").add_unshown(communicators_, {}, space);
      ASSERT_TRUE(added);
      outcome = std::move(*added);
    });
    return outcome;
  }

  LayoutImage image_;
  std::uint64_t joint_ = 0;
  std::vector<Communicator> communicators_;
};

INSTANTIATE_TEST_SUITE_P(, RecordedJoints, testing::ValuesIn(test_platforms()),
                         [](const auto& of) { return platform_name(of.param); });

TEST_P(RecordedJoints, AreReadWithTheCommunicatorsThatComeFromThem) {
  const auto outcome = read();
  EXPECT_FALSE(outcome.damage);
  const Joint expected{
      joint_id,          3, 4, 1'795'434'971'083'263, 1'795'434'971'490'765, 0xffffffff,
      "MPI_Comm_accept", 2, 2, "port \\x1b"};
  EXPECT_THAT(outcome.joints, ElementsAre(expected));
  ASSERT_THAT(communicators_, SizeIs(1));
  EXPECT_EQ(communicators_[0].joined, (Joined{joint_id, joint_path, {1, 4}, {-1, 6}}));
  EXPECT_FALSE(communicators_[0].remote.ranks) << "one of them is of another job";
}

TEST_P(RecordedJoints, OfWhichThereAreNoneAreOfAnOlderRecorder) {
  PUT(image_, image_.root, mqr_root, root_size, offsetof(mqr_root, joints));
  PUT(image_, image_.root, mqr_root, communicator_size, offsetof(mqr_communicator, joint));
  const auto outcome = read();
  EXPECT_FALSE(outcome.damage);
  EXPECT_THAT(outcome.joints, IsEmpty());
  EXPECT_FALSE(communicators_.at(0).joined);
}

TEST_P(RecordedJoints, ThatAreDamagedComeToAnEndThatIsSaid) {
  PUT(image_, joint_, mqr_joint, node.next, joint_);
  const auto circle = read();
  ASSERT_THAT(circle.joints, SizeIs(2));
  EXPECT_EQ(circle.joints[1], Joint()) << "there may be more";
  ASSERT_TRUE(circle.damage);
  EXPECT_THAT(circle.damage->message, HasSubstr("meetings with other jobs"));
  PUT(image_, joint_, mqr_joint, node.magic, MQR_MAGIC_THREAD);
  const auto other = read();
  EXPECT_THAT(other.joints, ElementsAre(Joint()));
  EXPECT_TRUE(other.damage);
}

TEST_P(RecordedJoints, OfAFullListAreNotAllOfThem) {
  auto last = joint_;
  for (int i = 1; i < MQR_MAX_JOINTS; ++i) {
    const auto more = image_.place(sizeof(mqr_joint));
    PUT(image_, more, mqr_joint, node.magic, MQR_MAGIC_JOINT);
    PUT(image_, last, mqr_joint, node.next, more);
    last = more;
  }
  PUT(image_, image_.root, mqr_root, joints.count, MQR_MAX_JOINTS);
  const auto full = read();
  EXPECT_FALSE(full.damage);
  ASSERT_THAT(full.joints, SizeIs(std::size_t{MQR_MAX_JOINTS} + 1));
  EXPECT_EQ(full.joints.back(), Joint());
}

} // namespace
} // namespace mqbridge
