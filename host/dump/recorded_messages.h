#pragma once

#include "host/dump/document.h"

#include <span>
#include <vector>

namespace mqbridge {

/// What only the recorders of all processes together tell of one look at a job, whose communicators
/// have keys. A recorder knows what its own process has sent, and what it has received. So this
/// finds, from the counts of both ends:
/// - messages that were sent and not received: the unexpected ones of the receiver, unless a
/// receive
///   that it has posted has met them (OpSource::recorder);
/// - receives and nonblocking sends that are `matched`, since they have met each other; of whose
/// peer
///   nothing is known these are `unknown`;
/// - Communicator::counters. A message counts as arrived once it was sent: MPI will deliver it,
///   whatever the program does.
/// Sends that have returned go, unless nobody has received their messages. An unexpected queue is
/// available only where all that may have been sent is known, and every message that has met a
/// receive. Of a sender that was stopped after the receiver, messages may have been sent since:
/// their status is `unknown`, unless an earlier look shows that they were there before. Never
/// fails; called again it changes nothing, and with more ranks it finds more. `earlier`: of the
/// same processes, in any order.
void settle_recorded_messages(std::vector<RankDump>& ranks, std::span<const RankDump> earlier = {});

} // namespace mqbridge
