#include "host/mpi/stray_messages.h"

#include <cstddef>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <vector>

namespace mqbridge {

bool StrayMessages::take(const Stray& stray) {
  constexpr std::size_t most_kinds = 10'000;
  if (kinds_.size() == most_kinds)
    return false;
  ++kinds_[stray];
  return true;
}

std::optional<Error> StrayMessages::warning() const {
  if (kinds_.empty())
    return std::nullopt;
  constexpr std::size_t most_said = 16;
  std::uint64_t count = 0;
  std::size_t left_out = 0;
  std::vector<std::string> words;
  for (const auto& [stray, times] : kinds_) {
    count += times;
    if (words.size() < most_said)
      words.push_back(fmt::format("{} from {} tag {} on context {:#x}", times, stray.source,
                                  stray.tag, stray.context));
    else
      ++left_out;
  }
  if (left_out > 0)
    words.push_back(fmt::format("and {} more kinds", left_out));
  return Error{
      "queue.no_communicator",
      fmt::format("{} message{} came for communicators that this process does not have, not "
                  "yet or not any more, and stand{} in no queue: {}",
                  count, count == 1 ? "" : "s", count == 1 ? "s" : "", fmt::join(words, ", ")),
      "if it makes the communicator just now, dump it again; else look for an MPI_Comm_free "
      "before the last receive"};
}

} // namespace mqbridge
