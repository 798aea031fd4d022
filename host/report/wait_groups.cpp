#include "host/report/wait_groups.h"

#include "host/mqs/whole_queue.h"

#include <fmt/format.h>

namespace mqbridge {
WaitGroups::WaitGroups(const RankDump& rank) {
  for (const Communicator& communicator : rank.communicators)
    for (const OpClass op_class : {OpClass::send, OpClass::receive}) {
      const Queue& queue = communicator.queue(op_class);
      all_here_ = all_here_ && is_whole(queue);
      for (const Operation& operation : queue.operations)
        if (operation.waited)
          ++members_[operation.waited.group];
    }
}

std::string WaitGroups::words(const Waited& waited) const {
  if (!waited)
    return {};
  const bool counted = waited.count != Waited::unknown_count;
  std::string text = "waited";
  if (waited.mode == WaitMode::all)
    text += counted ? fmt::format(": all {}", waited.count + 0) : ": all";
  if (waited.mode == WaitMode::any)
    text += counted ? fmt::format(": any {}", waited.count + 0) : ": any";
  const auto members = members_.find(waited.group);
  if (waited.mode == WaitMode::any && all_here_ && members != members_.end())
    text += fmt::format(" of {}", members->second);
  if (!waited.unseen)
    return text;
  // Of one that must complete nothing tells whether it is among the others.
  return text + (waited.count == 1 ? ", perhaps more unseen" : ", some unseen");
}

} // namespace mqbridge
