#include "host/mpi/recorder/recorded_joints.h"

#include "host/mpi/recorder/recorded_threads.h"
#include "rsp/packet/printable.h"

#include <string_view>

namespace mqbridge::recorder {
namespace {

constexpr std::uint64_t ns_a_us = 1000;

Joint decode_joint(const Node& node, const Record& record) {
  Joint joint;
  joint.id = record.u64(offsetof(mqr_joint, id));
  joint.base = record.u64(offsetof(mqr_joint, base));
  joint.path = record.u64(offsetof(mqr_joint, path));
  joint.began = record.u64(offsetof(mqr_joint, began)) / ns_a_us;
  joint.ended = record.u64(offsetof(mqr_joint, ended)) / ns_a_us;
  joint.sequence = record.u32(offsetof(mqr_joint, sequence));
  joint.call = function_name(record.u32(offsetof(mqr_joint, function)));
  joint.size = record.i32(offsetof(mqr_joint, size));
  joint.remote_size = record.i32(offsetof(mqr_joint, remote_size));
  const std::string_view mark(
      reinterpret_cast<const char*>(node.bytes.data()) + offsetof(mqr_joint, mark), MQR_MARK_SIZE);
  joint.mark = printable(mark.substr(0, mark.find('\0')));
  return joint;
}

} // namespace

Result<Joints> read_joints(const AddressSpace& space, const Root& root) {
  auto nodes = read_list(space, root.joints, MQR_MAGIC_JOINT, sizeof(mqr_joint), root.updating,
                         MQR_MAX_JOINTS);
  if (!nodes)
    return forward(std::move(nodes));
  Joints joints{{}, nodes->whole};
  for (const Node& node : nodes->nodes)
    joints.all.push_back(decode_joint(node, node.record(space)));
  // A recorder whose list is full keeps no more joints. An empty one stands for the missing ones.
  if (!joints.whole || joints.all.size() >= MQR_MAX_JOINTS)
    joints.all.emplace_back();
  return joints;
}

} // namespace mqbridge::recorder
