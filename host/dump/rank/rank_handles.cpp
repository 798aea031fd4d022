#include "host/dump/rank/rank_handles.h"

#include "host/dump/rank/rank_walk.h"
#include "host/mpi/dll_locations.h"
#include "host/mpi/mpi_support.h"
#include "host/mqs/ask_handles.h"

#include <utility>
#include <vector>

namespace mqbridge {
namespace {

bool has_any(const ProcessHandles& handles) {
  return !handles.communicators.empty() || !handles.requests.empty() ||
         !handles.errhandlers.empty() || !handles.statuses.empty();
}

} // namespace

Result<DllChoice> choose_dll_for_handles(const DllPolicy& policy, const AddressSpace& space,
                                         const MpiLibrary& mpi) {
  const bool is_known = support_of(mpi.provider).facts().dll.handles_are_read;
  std::vector<DllLocation> locations;
  if (!policy.given && !is_known) {
    auto read = read_dll_locations(space);
    if (!read)
      return forward(std::move(read));
    locations = std::move(*read);
  }
  std::vector<TargetsDll> named;
  for (const auto& location : locations)
    named.push_back(dll_of(mpi, location));
  return choose_handle_dll(policy, named, is_known);
}

Result<void> ask_rank_handles(const RankWalk& walk, RankDump& dump, Warnings& warnings) {
  auto result = ask_handles({worker_request(walk, dump), *walk.options.handles});
  take_outcome(walk, result, dump, warnings);
  if (!result.failure || has_any(result.handles))
    dump.handles = std::move(result.handles);
  if (auto doubtful = walk.process.doubtful_memory())
    warnings.push_back(std::move(*doubtful));
  if (result.failure)
    return Failure(std::move(*result.failure));
  return {};
}

} // namespace mqbridge
