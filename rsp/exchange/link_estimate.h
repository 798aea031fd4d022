#pragma once

namespace mqbridge::rsp {

/// How fast a link and the stub behind it have shown themselves to be so far. Seconds, and bytes of
/// memory contents a second (not of what they take on the wire).
struct LinkEstimate {
  double round_trip = 0;       ///< of a short request, the stub's own time included; 0: not known
  double bytes_per_second = 0; ///< of memory, read in bulk; 0: not known
  double per_request = 0;      ///< what one more pipelined request adds beside its bytes

  /// Time that one burst of `requests` for `bytes` of memory takes; what is not known counts as 0.
  double burst(double bytes, double requests = 1) const {
    return round_trip + requests * per_request +
           (bytes_per_second > 0 ? bytes / bytes_per_second : 0);
  }
};

} // namespace mqbridge::rsp
