#pragma once

#include "bench/delaying_link/line.h"
#include "rsp/result.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace mqbridge::bench {

/// A link of a given length and width between clients and a server on this machine: a relay that
/// listens on a loopback port, and passes bytes on when they would have arrived. Accurate to
/// 0.1 ms where a core is free for it (tests/bench/delaying_link_test.cpp). Each connection has a
/// line of its own, as if each came by its own cable.
///
/// What it cannot do: the connection itself is made at once, where a long link takes a round trip
/// for it. No program can hold back the kernel's SYN+ACK. Who measures from connecting on adds one
/// round trip for each connection.
///
/// Runs in a thread of its own from open() until the destructor, which cuts what is connected.
class DelayingLink {
public:
  /// `server`: HOST:PORT or unix:PATH, connected to when a client comes. `port`: to listen on,
  /// 0: one that is free. Errors: link.server (no such form, or no such host), link.listen.
  static Result<std::unique_ptr<DelayingLink>> open(std::string_view server, const LinkSpec& spec,
                                                    std::uint16_t port = 0);
  ~DelayingLink();

  std::uint16_t port() const;
  std::string endpoint() const; ///< "127.0.0.1:PORT"

  // From any thread.
  std::uint64_t connections() const; ///< so far
  /// How often a client spoke after its server had: each costs who waits for the answer a round
  /// trip, whatever it is that talks.
  std::uint64_t turns() const;
  std::uint64_t to_server() const; ///< bytes delivered so far
  std::uint64_t to_client() const;
  std::chrono::nanoseconds cpu_time() const; ///< of the relay's thread

private:
  struct Impl;
  explicit DelayingLink(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace mqbridge::bench
