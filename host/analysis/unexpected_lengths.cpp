#include "host/analysis/unexpected_lengths.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace mqbridge {
namespace {

/// These match pml_ob1_unexpected_msgq_length and unexpected_recvq_length, and the name in the
/// example of the MPI standard.
constexpr std::array<std::string_view, 2> patterns = {"*unexpected*q*_length", "MPI_T_UMQ_LENGTH"};

bool counts_messages(const Variable& variable) {
  // A watermark of the longest queue is another variable.
  const bool is_now = !variable.pvar_class || *variable.pvar_class == VariableClass::level ||
                      *variable.pvar_class == VariableClass::size;
  return variable.kind == VariableKind::performance && is_now &&
         std::ranges::any_of(patterns, [&](std::string_view pattern) {
           return matches_pattern(pattern, variable.name);
         });
}

std::uint64_t as_count(auto element) {
  return element > 0 ? static_cast<std::uint64_t>(element) : 0;
}

/// Numbers of messages by peer, if the MPI counts so, else one number; none: the value is no
/// number.
std::vector<std::uint64_t> counts_in(const VariableValue& value) {
  std::vector<std::uint64_t> counts;
  std::visit(
      [&](const auto& elements) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(elements)>, std::string>)
          for (const auto element : elements)
            counts.push_back(as_count(element));
      },
      value);
  return counts;
}

/// The peers that sent some, the one with most messages first.
std::vector<std::size_t> peers_in(const std::vector<std::uint64_t>& counts) {
  std::vector<std::size_t> peers;
  for (std::size_t i = 0; counts.size() > 1 && i < counts.size(); ++i)
    if (counts[i] > 0)
      peers.push_back(i);
  std::ranges::stable_sort(peers, std::greater(), [&](std::size_t peer) { return counts[peer]; });
  return peers;
}

} // namespace

std::span<const std::string_view> unexpected_length_patterns() {
  return patterns;
}

UnexpectedLengths find_unexpected_lengths(const Dump& dump, std::uint64_t longer_than) {
  UnexpectedLengths found;
  found.longer_than = longer_than;
  for (std::size_t i = 0; i < dump.ranks.size(); ++i) {
    bool counted = false;
    bool missed = false;
    const auto& variables = dump.ranks[i].variables;
    for (const Variable& variable : variables ? variables->variables : std::vector<Variable>())
      for (const VariableReading& reading : variable.readings) {
        if (!counts_messages(variable))
          continue;
        const auto counts =
            reading.value ? counts_in(*reading.value) : std::vector<std::uint64_t>();
        (counts.empty() ? missed : counted) = true;
        std::uint64_t length = 0;
        for (const auto count : counts)
          length += count;
        if (length > longer_than)
          found.queues.push_back({i, variable.name, reading.object, length, peers_in(counts),
                                  reading.earlier, reading.age_s});
      }
    (counted && !missed ? found.counted : found.unknown).push_back(i);
  }
  std::ranges::stable_sort(found.queues, std::greater(), &UnexpectedLength::length);
  return found;
}

} // namespace mqbridge
