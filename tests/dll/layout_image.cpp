#include "tests/dll/layout_image.h"

#include "dll/recorder/layout.h"
#include "tests/dll/walks.h"
#include "tests/mqs/test_target.h"

#include <algorithm>
#include <cstddef>

namespace mqbridge {
namespace {

constexpr std::size_t page_size = 4096;
/// Above 2 GiB: an address that is sign-extended somewhere is another.
constexpr std::uint64_t load_bias = 0xf0000000;

std::uint64_t bits(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}

} // namespace

// Widths and offsets are those of the layout; sizeof a slot is 8 everywhere.
#define FIELD(address, structure, member, value)                                                   \
  set((address) + offsetof(structure, member), value, sizeof(structure::member))

LayoutImage::LayoutImage(const Platform& platform,
                         const std::vector<LaidCommunicator>& laid_communicators)
    : platform_(platform),
      images_(images_of(MQBRIDGE_LAYOUT_SYMBOLS, MQBRIDGE_LAYOUT_SYMBOLS, {load_bias})) {
  root = images_.find_symbol(MQR_ROOT_SYMBOL)->address.value;
  base_ = root / page_size * page_size;
  bytes_.resize(root - base_ + sizeof(mqr_root));
  lay_root(static_cast<std::uint32_t>(laid_communicators.size()));
  std::uint64_t link = root + offsetof(mqr_root, communicators);
  for (const auto& communicator : laid_communicators) {
    const std::uint64_t at = lay(communicator);
    set(link, at, 8);
    link = at + offsetof(mqr_node, next);
    communicators.push_back(at);
  }
}

void LayoutImage::lay_root(std::uint32_t count) {
  FIELD(root, mqr_root, magic, MQR_MAGIC_ROOT);
  FIELD(root, mqr_root, version_major, MQR_VERSION_MAJOR);
  FIELD(root, mqr_root, version_minor, MQR_VERSION_MINOR);
  FIELD(root, mqr_root, root_size, sizeof(mqr_root));
  FIELD(root, mqr_root, communicator_size, sizeof(mqr_communicator));
  FIELD(root, mqr_root, operation_size, sizeof(mqr_operation));
  FIELD(root, mqr_root, address_size, static_cast<std::uint64_t>(platform_.pointer_size));
  FIELD(root, mqr_root, generation, 6);
  FIELD(root, mqr_root, state, MQR_INITIALIZED);
  FIELD(root, mqr_root, communicators.count, count);
}

std::uint64_t LayoutImage::place(std::size_t size) {
  constexpr std::size_t gap = 72; // some nodes lie across two pages
  const std::uint64_t address = base_ + bytes_.size() + gap;
  bytes_.resize(bytes_.size() + gap + (size + 7) / 8 * 8);
  return address;
}

void LayoutImage::set(std::uint64_t address, std::uint64_t value, std::size_t size) {
  const auto at = bytes_.begin() + static_cast<std::ptrdiff_t>(address - base_);
  for (std::size_t i = 0; i < size; ++i)
    at[static_cast<std::ptrdiff_t>(platform_.byte_order == ByteOrder::big ? size - 1 - i : i)] =
        static_cast<std::uint8_t>(value >> (8 * i));
}

void LayoutImage::text(std::uint64_t address, const std::string& text) {
  std::copy(text.begin(), text.end(),
            bytes_.begin() + static_cast<std::ptrdiff_t>(address - base_));
}

std::uint64_t LayoutImage::lay(const LaidCommunicator& communicator) {
  const std::uint64_t at = place(sizeof(mqr_communicator));
  FIELD(at, mqr_communicator, node.magic, MQR_MAGIC_COMMUNICATOR);
  FIELD(at, mqr_communicator, node.kind, communicator.kind);
  FIELD(at, mqr_communicator, id, communicator.id);
  const std::uint64_t name = place(MQR_NAME_SIZE);
  text(name, communicator.name);
  FIELD(at, mqr_communicator, name, name);
  FIELD(at, mqr_communicator, group, lay(communicator.group));
  FIELD(at, mqr_communicator, remote_group, lay(communicator.remote_group));
  FIELD(at, mqr_communicator, remote_size, communicator.remote_group.size());
  rings.push_back(lay(communicator.returned));
  FIELD(at, mqr_communicator, returned, communicator.returned.size());
  FIELD(at, mqr_communicator, returned_sends, rings.back());
  FIELD(at, mqr_communicator, local_rank, bits(communicator.local_rank));
  FIELD(at, mqr_communicator, size, communicator.group.size());
  const std::uint64_t queues = at + offsetof(mqr_communicator, queues);
  std::uint64_t links[MQR_QUEUES] = {queues, queues + sizeof(mqr_list),
                                     queues + 2 * sizeof(mqr_list)};
  std::uint32_t counts[MQR_QUEUES] = {};
  auto& laid = operations.emplace_back();
  for (const auto& operation : communicator.operations) {
    laid.push_back(lay(operation));
    set(links[operation.queue], laid.back(), 8);
    links[operation.queue] = laid.back() + offsetof(mqr_node, next);
    set(queues + operation.queue * sizeof(mqr_list) + offsetof(mqr_list, count),
        ++counts[operation.queue], 4);
  }
  return at;
}

std::uint64_t LayoutImage::lay(const std::vector<std::int32_t>& group) {
  const std::uint64_t at = place(4 * group.size());
  for (std::size_t i = 0; i < group.size(); ++i)
    set(at + 4 * i, bits(group[i]), 4);
  return group.empty() ? 0 : at;
}

std::uint64_t LayoutImage::lay(const std::vector<LaidReturned>& sends) {
  if (sends.empty())
    return 0;
  const std::uint64_t ring = place(MQR_RETURNED * sizeof(mqr_returned));
  for (std::size_t i = 0; i < MQR_RETURNED; ++i)
    FIELD(ring + i * sizeof(mqr_returned), mqr_returned, peer, bits(MQR_NO_PEER));
  for (std::size_t i = 0; i < sends.size(); ++i) {
    const std::uint64_t at = ring + i % MQR_RETURNED * sizeof(mqr_returned);
    FIELD(at, mqr_returned, peer, bits(sends[i].peer));
    FIELD(at, mqr_returned, tag, bits(sends[i].tag));
    FIELD(at, mqr_returned, length, sends[i].length);
    FIELD(at, mqr_returned, number, sends[i].number);
    FIELD(at, mqr_returned, function, sends[i].function);
  }
  return ring;
}

std::uint64_t LayoutImage::lay(const LaidOperation& operation) {
  const std::uint64_t at = place(sizeof(mqr_operation));
  FIELD(at, mqr_operation, node.magic, MQR_MAGIC_OPERATION);
  FIELD(at, mqr_operation, node.kind, operation.queue);
  FIELD(at, mqr_operation, status, operation.status);
  FIELD(at, mqr_operation, flags, operation.flags);
  FIELD(at, mqr_operation, peer, bits(operation.peer));
  FIELD(at, mqr_operation, peer_world, bits(operation.peer_world));
  FIELD(at, mqr_operation, tag, bits(operation.tag));
  FIELD(at, mqr_operation, actual_peer, bits(operation.actual_peer));
  FIELD(at, mqr_operation, actual_peer_world, bits(operation.actual_peer_world));
  FIELD(at, mqr_operation, actual_tag, bits(operation.actual_tag));
  FIELD(at, mqr_operation, length, operation.length);
  FIELD(at, mqr_operation, actual_length, operation.actual_length);
  FIELD(at, mqr_operation, buffer, operation.buffer);
  FIELD(at, mqr_operation, count, operation.count);
  text(at + offsetof(mqr_operation, call), operation.call);
  text(at + offsetof(mqr_operation, datatype), operation.datatype);
  return at;
}

#undef FIELD

void LayoutImage::look(const std::function<void(const AddressSpace&)>& read) {
  FakeMemory memory;
  memory.put({base_}, bytes_);
  read({images_, memory, platform_});
}

MpiState LayoutImage::read_state() {
  MpiState state{};
  look([&](const AddressSpace& space) { state = recorder::read_state(space).value(); });
  return state;
}

WalkResult LayoutImage::walk(const Platform& as) {
  FakeMemory memory;
  memory.put({base_}, bytes_);
  return walk_recorder({images_, memory, as});
}

} // namespace mqbridge
