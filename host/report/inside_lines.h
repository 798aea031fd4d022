#pragma once

#include "host/dump/document.h"

#include <string>
#include <vector>

namespace mqbridge {

/// What the MPI does in a communicator for the sake of a collective: never a row among the
/// program's own operations.
struct InsideLine {
  std::string what;   ///< "inside allreduce", "messages of barrier arrived"
  std::string detail; ///< "waits for 3, sends to 1", "2 from 1,2"; empty: nothing that is pending

  bool operator==(const InsideLine&) const = default;
  std::string text() const { return detail.empty() ? what : what + ": " + detail; }
};

/// Of its receives and sends that are not complete, a line for each collective.
std::vector<InsideLine> inside_lines(const Communicator& communicator);

/// "inside barrier": the blocking collectives in which the process is. Empty: in none that is
/// known.
std::string inside_words(const RankDump& rank);

/// Of the messages that have arrived for it and that it has not received.
std::vector<InsideLine> message_lines(const Communicator& communicator);

/// "messages (modulo 65536): sent 5 to 1; arrived 3 from 1"; empty: not known, or none. The largest
/// numbers, where there are many.
std::string counters_line(const Communicator& communicator);

} // namespace mqbridge
