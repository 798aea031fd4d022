#pragma once

#include "rsp/exchange/dialogue.h"
#include "rsp/exchange/frame_link.h"
#include "rsp/exchange/pairing.h"
#include "rsp/exchange/step_finder.h"
#include "rsp/result.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::rsp {

/// Bursts for QEMU user. While it waits for an acknowledgement, that stub reads and drops bytes of
/// further requests (gdbstub.c: gdb_handlesig reads up to 256 bytes and answers the requests in
/// them; put_packet reads single bytes until a `+` comes, and sends its reply again for every other
/// byte).
///
/// So each block of requests is padded to the size of that buffer with `+`. The `+` for their
/// replies follow, and all of it leaves in one send. If something on the way cuts the stream
/// differently, it shows (a reply without its `+`, or twice): then the stub is brought back into
/// step, and padding ends for good. Knows parts of the connection and owns none.
class PaddedSender {
public:
  PaddedSender(FrameLink& link, Dialogue& dialogue, Pairing& pairing, StepFinder& steps,
               const ExchangeLimits& limits)
      : link_(link), dialogue_(dialogue), pairing_(pairing), steps_(steps), limits_(limits) {}

  /// For QEMU user only. The answer to `marker` shows that the stub is in step again.
  void start(StepFinder::Marker marker);
  bool works() const { return marker_.has_value(); }

  /// A packet came that nobody asked for.
  void stray() { out_of_step_ = true; }

  /// Sends `payloads` as far as padding works, and appends their replies. The caller sends the
  /// payloads that are left one at a time. To be called after Dialogue::begin().
  Result<void> send(std::span<const std::string> payloads, std::vector<std::string>& replies);

private:
  Result<bool> send_some(std::span<const std::string> payloads, std::vector<std::string>& replies);
  Result<std::size_t> send_blocks(std::span<const std::string> payloads);
  Result<std::optional<std::string>> receive_paired(std::string_view request);

  FrameLink& link_;
  Dialogue& dialogue_;
  Pairing& pairing_;
  StepFinder& steps_;
  const ExchangeLimits& limits_;
  std::optional<StepFinder::Marker> marker_; ///< nullopt: nothing is padded (any more)
  std::size_t blocks_ = 1; ///< of 256 bytes in one send; grows while all goes well
  bool out_of_step_ = false;
};

} // namespace mqbridge::rsp
