#include "host/analysis/connected_processes.h"

#include <map>
#include <set>
#include <utility>

namespace mqbridge {

std::vector<Partner> connected_processes(const JobPicture& picture, std::size_t job) {
  std::set<std::size_t> connected{job};
  std::set<std::pair<std::size_t, std::int64_t>> strangers; // of jobs that the document lacks
  for (std::size_t before = 0; before != connected.size();) {
    before = connected.size();
    for (std::size_t index = 0; index < picture.processes().size(); ++index) {
      const Process& process = picture.process(index);
      if (!connected.contains(process.job))
        continue;
      for (const Seat& seat : process.seats) {
        const Communicator& communicator = *seat.communicator;
        const bool mixed = !communicator.members.empty() || !communicator.remote.members.empty();
        const auto size = mixed ? JobPicture::members(communicator).value_or(0) : 0;
        for (std::int64_t rank = 0; rank < size; ++rank)
          if (const auto member = picture.member(index, communicator, rank)) {
            if (member->job < picture.jobs().size())
              connected.insert(member->job);
            else
              strangers.emplace(member->job, member->rank);
          }
      }
    }
  }
  std::vector<Partner> all;
  std::map<std::size_t, std::int64_t> found;
  for (std::size_t index = 0; index < picture.processes().size(); ++index) {
    const Process& process = picture.process(index);
    if (!connected.contains(process.job))
      continue;
    all.push_back({index, process.job, process.rank});
    ++found[process.job];
  }
  for (const std::size_t each : connected)
    if (picture.sizes()[each] != found[each])
      all.push_back({std::nullopt, each, -1});
  for (const auto& [other, rank] : strangers)
    all.push_back({std::nullopt, other, rank});
  return all;
}

} // namespace mqbridge
