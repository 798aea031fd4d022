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
/// It does not delay the making of a connection, which takes a round trip on a long link: no
/// program can hold back the kernel's SYN+ACK. A measurement that includes the connecting must add
/// one round trip for each connection.
///
/// Runs in a thread of its own from open() until the destructor, which cuts all connections.
class DelayingLink {
public:
  /// `server`: HOST:PORT or unix:PATH; the link connects to it when a client comes. `port`: where
  /// the link listens; 0: any free port. Errors: link.server (another form, or an unknown host),
  /// link.listen.
  static Result<std::unique_ptr<DelayingLink>> open(std::string_view server, const LinkSpec& spec,
                                                    std::uint16_t port = 0);
  ~DelayingLink();

  std::uint16_t port() const;
  std::string endpoint() const; ///< "127.0.0.1:PORT"

  // From any thread.
  std::uint64_t connections() const; ///< so far
  /// How often a client has sent something after its server had. Each time costs a client that
  /// waits for the answer one round trip, whatever its protocol.
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
