#include "host/mpi/recorder/record.h"

#include "host/codes.h"

#include <algorithm>
#include <array>
#include <unordered_set>

namespace mqbridge::recorder {
namespace {

/// False: the bytes cannot be read. Errors: those of Memory, without memory.unreadable.
Result<bool> read_bytes(const AddressSpace& space, std::uint64_t address,
                        std::span<std::byte> into) {
  const auto read = read_exact(space.memory, {address}, into);
  if (!read && read.error().code != codes::memory_unreadable)
    return Failure(read.error());
  return read.has_value();
}

bool is_root(const Record& root, const Platform& platform) {
  return root.u32(offsetof(mqr_root, magic)) == MQR_MAGIC_ROOT &&
         root.u16(offsetof(mqr_root, version_major)) == MQR_VERSION_MAJOR &&
         root.u16(offsetof(mqr_root, root_size)) >= MQR_ROOT_SIZE_1_0 &&
         root.u16(offsetof(mqr_root, communicator_size)) >= MQR_COMMUNICATOR_SIZE_1_0 &&
         root.u16(offsetof(mqr_root, operation_size)) >= MQR_OPERATION_SIZE_1_0 &&
         root.u16(offsetof(mqr_root, address_size)) == platform.pointer_size;
}

Root decode_root(const Record& record) {
  Root root;
  root.state = record.u32(offsetof(mqr_root, state));
  root.updating = record.u32(offsetof(mqr_root, generation)) % 2 != 0;
  root.communicators = list_at(record, offsetof(mqr_root, communicators));
  root.joints = list_at(record, offsetof(mqr_root, joints));
  root.threads = list_at(record, offsetof(mqr_root, threads));
  root.flags = record.u32(offsetof(mqr_root, flags));
  root.thread_level = record.u32(offsetof(mqr_root, thread_level));
  root.library = record.u64(offsetof(mqr_root, library));
  root.variables = record.u64(offsetof(mqr_root, variables));
  root.job = record.u64(offsetof(mqr_root, job));
  root.communicator_size = std::min<std::size_t>(record.u16(offsetof(mqr_root, communicator_size)),
                                                 sizeof(mqr_communicator));
  root.operation_size =
      std::min<std::size_t>(record.u16(offsetof(mqr_root, operation_size)), sizeof(mqr_operation));
  return root;
}

} // namespace

Result<std::optional<Root>> read_root(const AddressSpace& space) {
  const auto symbol = space.images.find_symbol(MQR_ROOT_SYMBOL);
  if (!symbol)
    return std::nullopt;
  std::array<std::byte, sizeof(mqr_root)> bytes{};
  const auto order = space.platform.byte_order;
  const auto first = std::span(bytes).first(MQR_ROOT_SIZE_1_0);
  auto there = read_bytes(space, symbol->address.value, first);
  if (!there)
    return forward(std::move(there));
  if (!*there || !is_root({first, order}, space.platform))
    return std::nullopt;
  const auto size = std::min<std::size_t>(Record(first, order).u16(offsetof(mqr_root, root_size)),
                                          sizeof(mqr_root));
  const auto rest = std::span(bytes).first(size).subspan(MQR_ROOT_SIZE_1_0);
  if (!rest.empty())
    there = read_bytes(space, symbol->address.value + MQR_ROOT_SIZE_1_0, rest);
  if (!there)
    return forward(std::move(there));
  return *there ? std::optional(decode_root({std::span(bytes).first(size), order})) : std::nullopt;
}

Result<Nodes> read_list(const AddressSpace& space, List list, std::uint32_t magic, std::size_t size,
                        bool updating, std::size_t most) {
  Nodes read;
  std::unordered_set<std::uint64_t> seen;
  auto next = list.first;
  while (next != 0) {
    Node node{next, std::vector<std::byte>(size)};
    auto there = read_bytes(space, next, node.bytes);
    if (!there)
      return forward(std::move(there));
    const auto record = node.record(space);
    if (!*there || record.u32(offsetof(mqr_node, magic)) != magic || !seen.insert(next).second ||
        read.nodes.size() == most) {
      read.whole = false;
      return read;
    }
    next = record.u64(offsetof(mqr_node, next));
    read.nodes.push_back(std::move(node));
  }
  const std::uint64_t count = read.nodes.size();
  const std::uint64_t off = updating ? 1 : 0;
  read.whole = count <= list.count + off && count + off >= list.count;
  return read;
}

} // namespace mqbridge::recorder
