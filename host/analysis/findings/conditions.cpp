#include "host/analysis/findings/findings.h"
#include "host/analysis/wait_words.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace mqbridge {
namespace {

/// "compute at solver.c:88": where a process outside of MPI is.
std::string place_outside(const ProcessWaits& waits) {
  for (const ThreadView& thread : waits.threads) {
    if (thread.state == ThreadState::in_call || thread.call == nullptr)
      continue;
    if (auto words = whereabouts(*thread.call); !words.empty())
      return words;
  }
  return "";
}

bool runs_outside(const JobWaits& all, std::size_t process) {
  const ProcessWaits& waits = all.of(process);
  return waits.calls.empty() && all.picture().process(process).now->process_state != "T" &&
         std::ranges::any_of(waits.threads, [](const ThreadView& thread) {
           return thread.state == ThreadState::running && thread.call != nullptr &&
                  !thread.call->call;
         });
}

/// "ranks 0-2"; where there are several jobs, with their names: "rank 1 of job a, rank 0 of job b".
std::string words_of_ranks(const JobPicture& picture, const std::vector<std::size_t>& processes) {
  std::map<std::size_t, std::vector<std::int64_t>> by_job;
  for (const std::size_t process : processes)
    by_job[picture.process(process).job].push_back(picture.process(process).rank);
  std::string words;
  for (auto& [job, ranks] : by_job) {
    std::ranges::sort(ranks);
    words += fmt::format("{}{}{}", words.empty() ? "" : ", ", ranks_words(ranks),
                         job_words(picture, job));
  }
  return words;
}

/// Processes by where they are.
using ByPlace = std::map<std::string, std::vector<std::size_t>>;

/// The first places. The processes at all others are told together.
std::vector<std::pair<std::string, std::vector<std::size_t>>> few_of(const ByPlace& places) {
  constexpr std::size_t most_places = 8;
  std::vector<std::pair<std::string, std::vector<std::size_t>>> few;
  std::vector<std::size_t> others;
  for (const auto& [place, processes] : places)
    if (few.size() < most_places)
      few.emplace_back(place, processes);
    else
      others.insert(others.end(), processes.begin(), processes.end());
  if (others.empty())
    return few;
  std::ranges::sort(others);
  const std::size_t more = places.size() - most_places;
  few.emplace_back(fmt::format("in {} more place{}", more, more == 1 ? "" : "s"),
                   std::move(others));
  return few;
}

/// Joins equal findings of many processes, by job. Those of one process come one after the other.
class Alike {
public:
  Alike(const JobPicture& picture, FindingKind kind) : picture_(picture), kind_(kind) {}

  void add(std::size_t process, std::string words) {
    auto& group = groups_[{picture_.process(process).job, std::move(words)}];
    if (group.empty() || group.back() != process)
      group.push_back(process);
  }

  void tell(std::vector<Reason>& reasons) const {
    for (const auto& [key, processes] : groups_)
      reasons.push_back(
          {make_finding(picture_, kind_, processes,
                        fmt::format("{}: {}", words_of_ranks(picture_, processes), key.second)),
           ""});
  }

private:
  const JobPicture& picture_;
  FindingKind kind_;
  std::map<std::pair<std::size_t, std::string>, std::vector<std::size_t>> groups_;
};

void find_stuck_transports(const FindingInput& input, std::vector<Reason>& reasons) {
  const JobPicture& picture = input.picture();
  std::set<std::pair<std::size_t, std::size_t>> told;
  for (const auto& [sender, receiver] : input.waits.requests().stuck()) {
    if (!told.emplace(sender, receiver).second)
      continue;
    const auto words =
        sender == receiver
            ? fmt::format("messages to {} were in flight in both looks",
                          name_of_process(picture, receiver))
            : fmt::format("the same messages from {} to {} were in flight in both looks",
                          name_of_process(picture, sender), name_of_process(picture, receiver));
    reasons.push_back({make_finding(picture, FindingKind::stuck_transport, {receiver}, words), ""});
  }
}

void find_backlogs(const FindingInput& input, std::vector<Reason>& reasons) {
  constexpr std::size_t many = 256;
  const JobPicture& picture = input.picture();
  for (std::size_t process = 0; process < picture.processes().size(); ++process)
    for (const Seat& seat : picture.process(process).seats) {
      const auto& messages = seat.communicator->queue(OpClass::unexpected).operations;
      if (messages.size() < many)
        continue;
      std::map<std::int64_t, std::size_t> by_sender;
      // One of unknown status may have been sent after the receiver's stop.
      for (const Operation& message : messages)
        if (message.collective == Collective::none && message.peer.local_rank &&
            message.status != OpStatus::unknown)
          ++by_sender[*message.peer.local_rank];
      for (const auto& [rank, count] : by_sender) {
        const auto sender = picture.member(process, *seat.communicator, rank);
        if (count >= many)
          reasons.push_back(
              {make_finding(picture, FindingKind::backlog, {process},
                            fmt::format("{} has {} messages from {} on {} that it has not received",
                                        name_of_process(picture, process), count,
                                        sender ? name_of_process(picture, *sender) : "a member",
                                        communicator_words(*seat.communicator))),
               ""});
      }
    }
}

/// Finds partners that the document does not have.
void find_missing_partners(const FindingInput& input, std::vector<Reason>& reasons) {
  const JobPicture& picture = input.picture();
  Alike missing(picture, FindingKind::missing_partner);
  for (std::size_t process = 0; process < picture.processes().size(); ++process) {
    if (!input.reduction.undecided[process])
      continue;
    for (const CallWait& call : input.waits.of(process).calls)
      for (const OperationAt& at : call.operations) {
        const auto peer = picture.partner(process, *at.seat->communicator, at.operation->peer);
        const bool unread =
            peer && peer->process && picture.process(*peer->process).presence == Presence::unread;
        if (peer && (!peer->process || unread))
          missing.add(process,
                      fmt::format("waits for {}, which {}", name_of_process(picture, *peer),
                                  unread ? "could not be read" : "was not dumped"));
      }
  }
  missing.tell(reasons);
}

/// Whether the receiver has posted a receive that this message meets, or has met.
bool has_receive_for(const JobPicture& picture, std::size_t sender, const OperationAt& send,
                     std::size_t receiver) {
  constexpr std::size_t most_looked_at = 10'000;
  const Seat* seat = picture.seat(receiver, send.seat->key);
  if (seat == nullptr)
    return false;
  const auto& receives = seat->communicator->queue(OpClass::receive).operations;
  for (std::size_t i = 0; i < std::min(receives.size(), most_looked_at); ++i) {
    const Operation& receive = receives[i];
    const auto peer = picture.partner(receiver, *seat->communicator, receive.peer);
    const bool source = receive.peer.any || (peer && peer->process == sender);
    const bool tag = receive.tag.any || receive.tag.value == send.operation->tag.value;
    if (source && tag && is_open(receive))
      return true;
  }
  return false;
}

/// Finds sends to processes that compute. The send has met its receive, or its message is on its
/// way.
void find_progress_needed(const FindingInput& input, std::vector<Reason>& reasons) {
  const JobPicture& picture = input.picture();
  Alike needed(picture, FindingKind::needs_progress);
  for (std::size_t process = 0; process < picture.processes().size(); ++process)
    for (const CallWait& call : input.waits.of(process).calls)
      for (const OperationAt& at : call.operations) {
        const auto peer = picture.partner(process, *at.seat->communicator, at.operation->peer);
        if (!peer || !peer->process || !runs_outside(input.waits, *peer->process))
          continue;
        const bool under_way = at.op_class == OpClass::receive
                                   ? at.operation->status == OpStatus::matched
                                   : at.operation->status == OpStatus::pending &&
                                         has_receive_for(picture, process, at, *peer->process);
        if (!under_way)
          continue;
        needed.add(*peer->process,
                   fmt::format("in {}, and {} {} of {} goes on once it calls MPI",
                               place_outside(input.waits.of(*peer->process)),
                               at.op_class == OpClass::send ? "a send" : "a receive",
                               operation_words(picture, process, at),
                               name_of_process(picture, process)));
      }
  needed.tell(reasons);
}

bool is_in_init(const ProcessWaits& waits) {
  return std::ranges::any_of(waits.calls, [](const CallWait& wait) {
    return wait.call != nullptr &&
           (wait.call->call == "MPI_Init" || wait.call->call == "MPI_Init_thread");
  });
}

/// Finds processes that have not called MPI_Init, where others of their job are in it.
void find_those_before_init(const FindingInput& input, std::vector<Reason>& reasons) {
  const JobPicture& picture = input.picture();
  std::map<std::size_t, std::vector<std::size_t>> inside; // by job
  std::map<std::size_t, ByPlace> before;
  for (std::size_t process = 0; process < picture.processes().size(); ++process) {
    const Process& each = picture.process(process);
    const ProcessWaits& waits = input.waits.of(process);
    if (is_in_init(waits))
      inside[each.job].push_back(process);
    else if (each.now->mpi && each.now->mpi->state == MpiState::not_initialized &&
             runs_outside(input.waits, process))
      before[each.job][place_outside(waits)].push_back(process);
  }
  for (const auto& [job, places] : before) {
    const auto& others = inside[job];
    if (others.empty())
      continue;
    const auto others_words =
        fmt::format("{} {}", words_of_ranks(picture, others), others.size() == 1 ? "is" : "are");
    for (const auto& [place, processes] : few_of(places)) {
      const auto words = fmt::format(
          "{} {} not in MPI_Init{}{}; {}", words_of_ranks(picture, processes),
          processes.size() == 1 ? "is" : "are", place.empty() ? "" : ": ", place, others_words);
      reasons.push_back({make_finding(picture, FindingKind::straggler, processes, words), words});
    }
  }
}

std::string unknown_words(const FindingInput& input, std::size_t process) {
  const ProcessWaits& waits = input.waits.of(process);
  if (!input.reduction.aside[process])
    return fmt::format("not visible: {}", waits.unknown);
  return fmt::format("outside of MPI: {}; what it waits for is not visible, and no rank in MPI is "
                     "seen to wait for it",
                     place_outside(waits));
}

} // namespace

/// Finds processes that compute, if all processes in MPI wait for them and they are the minority.
void find_stragglers(const FindingInput& input, std::vector<Reason>& reasons) {
  find_those_before_init(input, reasons);
  const JobPicture& picture = input.picture();
  std::vector<std::size_t> outside;
  std::vector<WaitNode> nodes;
  for (std::size_t process = 0; process < picture.processes().size(); ++process)
    if (runs_outside(input.waits, process)) {
      outside.push_back(process);
      nodes.push_back(input.waits.nodes()[process]);
    }
  std::vector<std::size_t> waiting;
  const auto reaching = input.waits.graph().waiting_for(nodes);
  for (std::size_t process = 0; process < picture.processes().size(); ++process) {
    if (input.waits.of(process).calls.empty())
      continue;
    if (!reaching[input.waits.nodes()[process]])
      return;
    waiting.push_back(process);
  }
  if (outside.empty() || waiting.size() < outside.size())
    return;
  std::map<std::size_t, ByPlace> by_job;
  for (const std::size_t process : outside)
    by_job[picture.process(process).job][place_outside(input.waits.of(process))].push_back(process);
  const auto waiting_words =
      fmt::format("{} wait{}", words_of_ranks(picture, waiting), waiting.size() == 1 ? "s" : "");
  for (const auto& [job, places] : by_job)
    for (const auto& [place, processes] : few_of(places)) {
      const auto words =
          fmt::format("{} {}outside of MPI{}{}, and {}", words_of_ranks(picture, processes),
                      processes.size() == 1 ? "runs " : "run ", place.empty() ? "" : ": ", place,
                      waiting_words);
      reasons.push_back({make_finding(picture, FindingKind::straggler, processes, words), words});
    }
}

void find_conditions(const FindingInput& input, std::vector<Reason>& reasons) {
  const JobPicture& picture = input.picture();
  find_progress_needed(input, reasons);
  find_missing_partners(input, reasons);
  find_stuck_transports(input, reasons);
  Alike suspended(picture, FindingKind::suspended);
  Alike polling(picture, FindingKind::polling);
  Alike unknown(picture, FindingKind::unknown_wait);
  Alike exited(picture, FindingKind::rank_exited);
  for (std::size_t process = 0; process < picture.processes().size(); ++process) {
    const RankDump& rank = *picture.process(process).now;
    // For a deadlock the lost partners have been named already.
    if (picture.process(process).presence == Presence::exited && !input.reduction.any_dead())
      exited.add(process, "has exited");
    if (rank.process_state == "T")
      suspended.add(process, "suspended by a signal: kill -CONT lets it run on");
    else if (picture.process(process).is_held)
      suspended.add(process, "held by a debugger: it runs on when that lets it go");
    for (const CallWait& call : input.waits.of(process).calls)
      if (call.asleep != nullptr)
        polling.add(process, fmt::format("in a loop that sleeps{}, and calls MPI in between",
                                         at_place(place_words(*call.asleep))));
      else if (call.call != nullptr && kind_of_call(*call.call->call) == CallKind::poll)
        polling.add(process, "in a loop around " + whereabouts(*call.call));
    if (picture.process(process).presence == Presence::here &&
        !input.waits.of(process).unknown.empty())
      unknown.add(process, unknown_words(input, process));
  }
  suspended.tell(reasons);
  polling.tell(reasons);
  unknown.tell(reasons);
  exited.tell(reasons);
  find_backlogs(input, reasons);
}

} // namespace mqbridge
