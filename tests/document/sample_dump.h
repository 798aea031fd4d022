#pragma once

#include "host/document/sink.h"
#include "host/dump/values/document.h"

#include <string>

namespace mqbridge::test {

/// Three ranks: one with a bit of everything, one with a thousand alike receives on a big-endian
/// host, one that could not be attached.
Dump sample_dump();

/// `count` ranks, alike by rank modulo 2, each with one receive from the rank before.
Dump ring_dump(int count);

RankDump complete_rank(int rank);
Communicator world(std::int64_t local_rank, std::int64_t size);
Operation pending(std::int64_t peer, std::int64_t tag, std::int64_t length);
Queue available(const std::vector<Operation>& operations);
Queue unavailable(QueueReason reason);

/// What a report writes, as one string.
template <class Write>
std::string written(Write write) {
  std::string text;
  write(Sink([&](std::string_view piece) { text += piece; }));
  return text;
}

} // namespace mqbridge::test
