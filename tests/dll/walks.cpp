#include "tests/dll/walks.h"

#include "host/elf/elf_file.h"
#include "tests/mqs/test_target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mqbridge {
namespace {

std::string told(const Operation& operation) {
  const auto& raw = operation.raw;
  return fmt::format("    {} peer {} ({}) tag {}{} length {} buffer {:#x}{} | {} ({}) tag {} "
                     "length {} | {}\n",
                     raw.status, raw.desired_local_rank, raw.desired_global_rank, raw.desired_tag,
                     raw.tag_wild != 0 ? "*" : "", raw.desired_length, raw.buffer,
                     raw.system_buffer != 0 ? " system" : "", raw.actual_local_rank,
                     raw.actual_global_rank, raw.actual_tag, raw.actual_length,
                     fmt::join(operation.text, "; "));
}

} // namespace

WalkResult walk_recorder(const AddressSpace& space) {
  const auto worker = sanitized_worker();
  WalkRequest request{worker.program, MQBRIDGE_QUEUES_DLL, space, "solver"};
  request.op_classes = {op_classes.begin(), op_classes.end()};
  request.sandboxed = worker.sandboxed;
  return walk_queues(request);
}

std::string told(const WalkResult& result) {
  std::string text = result.failure ? result.failure->message + "\n" : "";
  for (const auto& communicator : result.communicators) {
    text += fmt::format("{:#x} {} rank {} of {} group {}\n", communicator.id.value,
                        communicator.name, communicator.local_rank.value_or(-1), communicator.size,
                        fmt::join(communicator.group.value_or(std::vector<std::int64_t>{}), ","));
    for (const auto op_class : op_classes) {
      const auto& queue = communicator.queue(op_class);
      text += fmt::format("  queue {} state {} {}\n", static_cast<int>(op_class),
                          static_cast<int>(queue.state), queue.error.value_or(""));
      for (const auto& operation : queue.operations)
        text += told(operation);
    }
  }
  return text;
}

Platform own_platform() {
  return read_elf_platform("/proc/self/exe").value();
}

} // namespace mqbridge
