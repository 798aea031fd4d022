#include "host/cli/target_list.h"

#include <fmt/format.h>

namespace mqbridge {

Result<void> TargetList::add(TargetSpec target) {
  // No name of a process begins so.
  if (target.rank &&
      !known_.insert("\n" + target.keys.job.value_or("") + fmt::format("\n{}", *target.rank))
           .second)
    return fail("usage", fmt::format("two targets are given as rank {}", *target.rank),
                "give each target a rank of its own, or leave RANK= out");
  if (const auto process = target.process_key(); process && !known_.insert(*process).second)
    return fail("usage", fmt::format("{} is given twice", target.text()), "give each process once");
  targets_.push_back(std::move(target));
  return {};
}

} // namespace mqbridge
