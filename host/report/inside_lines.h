#pragma once

#include "host/dump/values/document.h"

#include <string>
#include <vector>

namespace mqbridge {

/// The MPI's own operations in a communicator for the sake of a collective: they are no rows among
/// the program's own operations.
struct InsideLine {
  std::string what;   ///< "inside allreduce", "messages of barrier arrived"
  std::string detail; ///< "waits for 3, sends to 1", "2 from 1,2"; empty: nothing that is pending

  bool operator==(const InsideLine&) const = default;
  std::string text() const { return detail.empty() ? what : what + ": " + detail; }
};

/// A line for each collective with receives and sends that are not complete.
std::vector<InsideLine> inside_lines(const Communicator& communicator);

/// "inside barrier": the blocking collectives in which the process is. Empty: in none that is
/// known.
std::string inside_words(const RankDump& rank);

/// Lines about messages for it that have arrived and were not received.
std::vector<InsideLine> message_lines(const Communicator& communicator);

/// "messages (modulo 65536): sent 5 to 1; arrived 3 from 1"; empty: not known, or none. If there
/// are many, only the largest numbers.
std::string counters_line(const Communicator& communicator);

} // namespace mqbridge
