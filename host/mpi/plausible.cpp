#include "host/mpi/plausible.h"

#include "host/mqs/wire.h"
#include "rsp/packet/printable.h"

#include <algorithm>
#include <fmt/format.h>

namespace mqbridge {
namespace {

bool holds_this_process(const Communicator& communicator) {
  const auto rank = communicator.local_rank;
  return rank && *rank >= 0 && *rank < communicator.size;
}

/// Only predefined communicators must hold this process: in some MPIs an intercommunicator's size
/// is that of the other group, and the rank may lie beyond it.
bool plausible(const Communicator& communicator, const MpiSupport& support) {
  if (communicator.size < 0 || communicator.size > wire::max_group_size)
    return false;
  const bool predefined = support.is_world(communicator) ||
                          (communicator.named_by_mpi && communicator.name == "MPI_COMM_SELF");
  return !predefined || holds_this_process(communicator);
}

Error implausible(std::string what) {
  return {"walk.implausible", std::move(what),
          "its types may be those of another build (--types FILE), or its memory is damaged"};
}

} // namespace

std::optional<Error> find_implausible(std::span<const Communicator> communicators,
                                      const MpiSupport& support) {
  if (communicators.empty())
    return implausible("the debug DLL found no communicator, where every MPI has MPI_COMM_WORLD");
  const auto bad = std::ranges::find_if_not(
      communicators, [&](const auto& each) { return plausible(each, support); });
  if (bad == communicators.end())
    return std::nullopt;
  return implausible(fmt::format(
      "the debug DLL read a communicator \"{}\" of size {}, in which this process has rank {}: no "
      "MPI has one, so that nothing else that was read can be relied on",
      printable(bad->name), bad->size,
      bad->local_rank ? std::to_string(*bad->local_rank) : "(none)"));
}

std::optional<Error> drop_implausible(std::vector<Communicator>& communicators,
                                      const MpiSupport& support, bool complete) {
  if (communicators.empty() && !complete)
    return std::nullopt;
  auto error = find_implausible(communicators, support);
  if (error)
    communicators.clear();
  return error;
}

std::optional<Error> doubt_without_world(std::span<const Communicator> communicators,
                                         const MpiSupport& support, bool may_lack_world) {
  const auto worlds = std::ranges::count_if(
      communicators, [&](const auto& communicator) { return support.is_world(communicator); });
  if (communicators.empty() || worlds == 1 || !support.facts().world_is_certain)
    return std::nullopt;
  if (worlds == 0 && may_lack_world)
    return std::nullopt;
  return Error{"walk.no_world",
               fmt::format("of the {} communicators that the debug DLL listed {} MPI_COMM_WORLD, "
                           "where each process has one: what it listed may be garbage",
                           communicators.size(), worlds == 0 ? "none is" : "several are"),
               "its memory may be damaged, or was being changed: dump it again"};
}

} // namespace mqbridge
