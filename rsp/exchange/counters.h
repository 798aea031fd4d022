#pragma once

#include <cstdint>

namespace mqbridge::rsp {

/// What one connection has cost so far. A round trip is a transition from nothing outstanding to
/// something outstanding; TCP connect and detach count (docs/reference/dump.schema.json,
/// statistics).
struct Counters {
  std::uint64_t round_trips = 0;
  std::uint64_t requests = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;

  Counters operator+(const Counters& other) const {
    return {round_trips + other.round_trips, requests + other.requests,
            bytes_sent + other.bytes_sent, bytes_received + other.bytes_received};
  }
  Counters operator-(const Counters& other) const {
    return {round_trips - other.round_trips, requests - other.requests,
            bytes_sent - other.bytes_sent, bytes_received - other.bytes_received};
  }
};

} // namespace mqbridge::rsp
