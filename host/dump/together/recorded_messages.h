#pragma once

#include "host/dump/values/document.h"

#include <span>
#include <vector>

namespace mqbridge {

/// Works out the facts about one look at a job that only the recorders of all processes together
/// tell. The communicators must have keys. A recorder knows the messages that its own process has
/// sent and received. From the counts of both ends this finds:
/// - Messages that were sent and not received. They are unexpected ones of the receiver, unless a
///   receive that it has posted has met them (OpSource::recorder).
/// - Receives and nonblocking sends that have met each other: they are `matched`. If the peer is
///   not known they are `unknown`.
/// - Communicator::counters. A message counts as arrived once it was sent: MPI will deliver it,
///   whatever the program does.
///
/// Sends that have returned are removed, unless nobody has received their messages. An unexpected
/// queue is available only if all messages that may have been sent are known, and every message
/// that has met a receive. A sender that was stopped after the receiver may have sent messages
/// since: their status is `unknown`, unless an earlier look shows that they were there before.
/// Never fails. Calling it again changes nothing, and with more ranks it finds more. `earlier`:
/// looks at the same processes, in any order.
void settle_recorded_messages(std::vector<RankDump>& ranks, std::span<const RankDump> earlier = {});

} // namespace mqbridge
