#pragma once

#include "rsp/exchange/connection.h"
#include "rsp/packet/codec.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

namespace mqbridge::rsp {

/// The stub's end of a socket pair, for tests of single bytes: what ScriptedStub, which speaks
/// whole packets, cannot say. All waiting ends after five seconds, and fails the test.
class WirePeer {
public:
  WirePeer();
  ~WirePeer(); ///< joins what play() started, and closes
  WirePeer(const WirePeer&) = delete;
  WirePeer& operator=(const WirePeer&) = delete;

  /// A connection to this peer. Once.
  std::unique_ptr<Connection> connect(ConnectionOptions options = {});

  /// Runs the stub's part in a thread of its own.
  void play(std::function<void(WirePeer&)> part);
  /// Waits for the part's end.
  void finish();

  void expect(std::string_view bytes); ///< exactly these come next
  void expect_packet(std::string_view payload) { expect(encode(payload)); }
  std::string read_some();
  void
  send(std::string_view bytes); ///< blocks until the client has taken them; stops if it has closed
  void send_packet(std::string_view payload) { send(encode(payload)); }
  bool is_quiet_for(std::chrono::milliseconds time);
  void close();

private:
  int fd_ = -1;
  int client_fd_ = -1;
  std::thread thread_;
};

} // namespace mqbridge::rsp
