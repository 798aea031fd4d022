#pragma once

#include "rsp/transport/transport.h"
#include "tests/support/stub_wire.h"

#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::test {

/// A stub that says what a fuzzer wrote, whatever it is asked: one chunk for each time that
/// somebody waits for it, and then it closes. Fails if a packet comes that may change the target.
///
/// Chunks end with 0xff; 0xfe makes the byte behind it an ordinary one. A chunk's first byte says
/// what it is: `+` a packet that is acknowledged first, `%` a notification, `.` raw bytes, `~`
/// silence; anything else: all of it is a packet's payload. A `,` before that: the next chunk comes
/// along with this one.
class PlayedStub final : public rsp::Transport {
public:
  /// `may_run`: packets that let the target run are expected.
  PlayedStub(std::string_view script, bool may_run) : script_(script), may_run_(may_run) {}

  void send(const rsp::Outgoing& bytes) override;
  rsp::Received receive(Clock::time_point deadline) override;
  void wake() override {}

private:
  std::string next_chunk();

  std::string_view script_;
  bool may_run_;
  WireReader reader_;
  std::string piece_;
};

} // namespace mqbridge::test
