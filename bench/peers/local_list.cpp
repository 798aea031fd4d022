#include "bench/peers/local_list.h"

#include "dll/recorder/layout.h"

#include <fmt/format.h>

namespace mqbridge::peers {
namespace {

template <class Node>
Result<Node> read_node(Memory& memory, std::uint64_t address) {
  Node node{};
  auto read = memory.read({address}, std::as_writable_bytes(std::span(&node, 1)));
  if (!read)
    return forward(std::move(read));
  if (*read != sizeof node)
    return fail("list.corrupt", fmt::format("cannot read {} bytes at {:#x}", sizeof node, address));
  return node;
}

Result<void> walk_queue(Memory& memory, const mqr_list& list, AnswerChecksum& answer) {
  for (std::uint64_t at = list.first.word; at != 0;) {
    auto operation = read_node<mqr_operation>(memory, at);
    if (!operation)
      return forward(std::move(operation));
    answer.add(operation->buffer.word, operation->tag, (operation->flags & MQR_ANY_TAG) != 0);
    at = operation->node.next.word;
  }
  return {};
}

} // namespace

Result<void> walk_list(Memory& memory, TargetAddress root_address, AnswerChecksum& answer) {
  auto root = read_node<mqr_root>(memory, root_address.value);
  if (!root)
    return forward(std::move(root));
  if (root->magic != MQR_MAGIC_ROOT)
    return fail("list.corrupt", fmt::format("no recorder at {:#x}", root_address.value));
  for (std::uint64_t at = root->communicators.first.word; at != 0;) {
    auto communicator = read_node<mqr_communicator>(memory, at);
    if (!communicator)
      return forward(std::move(communicator));
    for (std::uint8_t op_class = 0; op_class < MQR_QUEUES; ++op_class) {
      answer.begin_queue(op_class);
      if (auto walked = walk_queue(memory, communicator->queues[op_class], answer); !walked)
        return walked;
    }
    at = communicator->node.next.word;
  }
  return {};
}

} // namespace mqbridge::peers
