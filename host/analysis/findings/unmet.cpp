#include "host/analysis/findings/findings.h"
#include "host/analysis/wait_words.h"
#include "host/document/names.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <span>

namespace mqbridge {
namespace {

/// Calls `take(process, operation)` for each operation that processes of cores wait for.
template <class Take>
void each_awaited(const FindingInput& input, const Take& take) {
  std::size_t looked_at = 0;
  for (const auto& core : input.reduction.cores)
    for (const std::size_t process : core) {
      if (looked_at++ == most_processes)
        return;
      for (const CallWait& call : input.waits.of(process).calls) {
        for (const OperationAt& at : call.operations)
          take(process, at);
        for (const CollectiveUnderWay* collective : call.collectives)
          for (const OperationAt& at : collective->operations)
            take(process, at);
      }
    }
}

/// Whether the persistent operation of `other` would meet the one that the process waits for.
bool would_meet(const JobPicture& picture, std::size_t process, const OperationAt& at,
                std::size_t other, const OperationAt& persistent) {
  const Operation& its = *persistent.operation;
  const Operation& awaited = *at.operation;
  if (its.status != OpStatus::inactive || persistent.seat->key != at.seat->key)
    return false;
  const bool tag = awaited.tag.any || its.tag.any || awaited.tag.value == its.tag.value;
  const auto peer = picture.partner(other, *persistent.seat->communicator, its.peer);
  return tag && (its.peer.any || (peer && peer->process == process));
}

/// The program's messages by sender and tag, and how many there are of each kind.
std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> kinds_of_messages(const Seat& seat) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> kinds;
  const auto& messages = seat.communicator->queue(OpClass::unexpected).operations;
  for (std::size_t i = 0; i < std::min(messages.size(), most_others); ++i)
    if (messages[i].collective == Collective::none && messages[i].peer.local_rank)
      ++kinds[{*messages[i].peer.local_rank, messages[i].tag.value.value_or(-1)}];
  return kinds;
}

/// Messages that a process has and does not receive.
struct Orphans {
  std::size_t process = 0;
  std::size_t count = 0;
  std::string words;
};

/// Tells of many orphans in one line for each job.
void tell_others(const JobPicture& picture, std::span<const Orphans> orphans,
                 std::vector<Reason>& reasons) {
  std::map<std::size_t, std::pair<std::vector<std::size_t>, std::size_t>> by_job;
  for (const Orphans& each : orphans) {
    auto& [processes, count] = by_job[picture.process(each.process).job];
    count += each.count;
    if (processes.empty() || processes.back() != each.process)
      processes.push_back(each.process);
  }
  for (const auto& [job, others] : by_job) {
    const auto& [processes, count] = others;
    std::vector<std::int64_t> ranks;
    for (const std::size_t process : processes)
      ranks.push_back(picture.process(process).rank);
    const bool one = ranks.size() == 1;
    reasons.push_back({make_finding(picture, FindingKind::orphan_unexpected, processes,
                                    fmt::format("{} {} {} {} more message{} that {} not receive",
                                                one ? "rank" : "ranks", range_text(ranks, 6),
                                                one ? "has" : "have", count, count == 1 ? "" : "s",
                                                one ? "it does" : "they do")),
                       ""});
  }
}

} // namespace

void find_never_started(const FindingInput& input, std::vector<Reason>& reasons) {
  const JobPicture& picture = input.picture();
  each_awaited(input, [&](std::size_t process, const OperationAt& at) {
    const auto partner = picture.partner(process, *at.seat->communicator, at.operation->peer);
    if (!partner || !partner->process)
      return;
    const std::size_t other = *partner->process;
    const OpClass needed = at.op_class == OpClass::send ? OpClass::receive : OpClass::send;
    const Seat* seat = picture.seat(other, at.seat->key);
    if (seat == nullptr)
      return;
    const auto& operations = seat->communicator->queue(needed).operations;
    for (std::size_t i = 0; i < std::min(operations.size(), most_others); ++i) {
      const OperationAt persistent{seat, needed, &operations[i]};
      if (!would_meet(picture, process, at, other, persistent))
        continue;
      const auto words = fmt::format(
          "{}: persistent {} {} was not started; {} waits {} {}", name_of_process(picture, other),
          needed == OpClass::send ? "send" : "receive", operation_words(picture, other, persistent),
          name_of_process(picture, process), needed == OpClass::send ? "for a message" : "to send",
          operation_words(picture, process, at));
      reasons.push_back({make_finding(picture, FindingKind::never_started, {other}, words), words});
      return;
    }
  });
}

namespace {

std::string root_words(const EnteredCollective& collective) {
  return collective.root ? fmt::format(" with root {}", *collective.root) : "";
}

/// Recorders number the collectives of a communicator: the n-th collectives of its members must be
/// the same.
void find_numbered_mismatches(const FindingInput& input, std::vector<Reason>& reasons) {
  constexpr std::size_t most_told = 8;
  const JobPicture& picture = input.picture();
  for (const auto& [one, other] : input.waits.requests().collectives().mismatches()) {
    if (reasons.size() >= most_told)
      return;
    const bool same_call = one.call == other.call;
    const auto words = fmt::format(
        "collective {} on {}: {} is in {}{}, and {} in {}{}", one.sequence + 1,
        communicator_words(*one.seat->communicator), name_of_process(picture, one.process),
        one.call, same_call ? root_words(one) : "", name_of_process(picture, other.process),
        other.call, same_call ? root_words(other) : "");
    reasons.push_back(
        {make_finding(picture, FindingKind::collective_mismatch,
                      {std::min(one.process, other.process), std::max(one.process, other.process)},
                      words),
         words});
  }
}

} // namespace

/// Only messages of the MPI that have come prove a mismatch: ranks in different collectives alone
/// do not. Messages of a nonblocking collective may have been sent long before.
void find_collective_mismatches(const FindingInput& input, std::vector<Reason>& reasons) {
  const JobPicture& picture = input.picture();
  find_numbered_mismatches(input, reasons);
  each_awaited(input, [&](std::size_t process, const OperationAt& at) {
    const Operation& awaited = *at.operation;
    if (!is_of_blocking_call(awaited.collective) || at.op_class != OpClass::receive)
      return;
    const auto& messages = at.seat->communicator->queue(OpClass::unexpected).operations;
    for (std::size_t i = 0; i < std::min(messages.size(), most_others); ++i) {
      const Operation& message = messages[i];
      const bool from_it = awaited.peer.any || message.peer.local_rank == awaited.peer.local_rank;
      if (!from_it || !is_of_blocking_call(message.collective) ||
          message.tag.value == awaited.tag.value)
        continue;
      const auto sender = picture.partner(process, *at.seat->communicator, message.peer);
      const auto words = fmt::format(
          "{} waits inside {} on {} for {}, which has sent it a message of {} there",
          name_of_process(picture, process), name_of(awaited.collective),
          communicator_words(*at.seat->communicator),
          sender ? name_of_process(picture, *sender) : "a member", name_of(message.collective));
      std::vector<std::size_t> processes{process};
      if (sender && sender->process)
        processes.push_back(*sender->process);
      std::ranges::sort(processes);
      reasons.push_back(
          {make_finding(picture, FindingKind::collective_mismatch, processes, words), words});
      return;
    }
  });
}

void find_orphans(const FindingInput& input, std::vector<Reason>& reasons) {
  constexpr std::size_t most_told = 3;
  const JobPicture& picture = input.picture();
  std::vector<Orphans> orphans; // by process
  std::size_t looked_at = 0;
  for (std::size_t process = 0; process < input.reduction.dead.size(); ++process) {
    if (!input.reduction.dead[process] || looked_at++ >= most_processes)
      continue;
    for (const Seat& seat : picture.process(process).seats)
      for (const auto& [kind, count] : kinds_of_messages(seat)) {
        const auto sender = picture.member(process, *seat.communicator, kind.first);
        orphans.push_back(
            {process, count,
             fmt::format("{} has {} message{} from {} tag {} on {} that it does not receive",
                         name_of_process(picture, process), count, count == 1 ? "" : "s",
                         sender ? name_of_process(picture, *sender) : "a member", kind.second,
                         communicator_words(*seat.communicator))});
      }
  }
  for (std::size_t i = 0; i < std::min(orphans.size(), most_told); ++i)
    reasons.push_back({make_finding(picture, FindingKind::orphan_unexpected, {orphans[i].process},
                                    orphans[i].words),
                       ""});
  if (orphans.size() > most_told)
    tell_others(picture, std::span(orphans).subspan(most_told), reasons);
}

} // namespace mqbridge
