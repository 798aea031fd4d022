#pragma once

#include "rsp/result.h"
#include "rsp/transport/endpoint.h"
#include "rsp/unique_fd.h"

#include <stop_token>
#include <string>
#include <string_view>

namespace mqbridge::rsp {

/// Where a debugger is to connect: as Endpoint::parse, and with 0 for a port that is free.
Result<Endpoint> parse_listen(std::string_view text);

/// A place on this host where a debugger connects: a Unix socket that this user alone may open
/// (0600), or a port of the loopback interface. One thread; the socket's file goes with it.
class Listener {
public:
  /// `unix:PATH`, which may be left over from one that is gone, or `127.0.0.1:PORT`, `localhost:`,
  /// `[::1]:`; port 0: one that is free. Errors: listen.address, listen.failed.
  static Result<Listener> open(const Endpoint& endpoint);
  /// A Unix socket on which somebody listens for us already. Its file stays.
  static Result<Listener> of_passed(UniqueFd fd);
  Listener(Listener&& other) noexcept = default;
  Listener& operator=(Listener&&) = delete;
  ~Listener();

  /// What gdb's `target remote` takes: "/run/user/1000/rank3", "127.0.0.1:41822".
  const std::string& address() const { return address_; }
  /// The same, for a client of ours.
  Endpoint endpoint() const;

  /// For who waits for clients in another way than accept().
  int descriptor() const { return fd_.get(); }
  /// Waits for a debugger. Errors: interrupted (`stop`), listen.failed.
  Result<UniqueFd> accept(const std::stop_token& stop);

private:
  Listener(UniqueFd fd, std::string address, std::string path)
      : fd_(std::move(fd)), address_(std::move(address)), path_(std::move(path)) {}

  UniqueFd fd_;
  std::string address_;
  std::string path_; ///< of a Unix socket; else empty
};

} // namespace mqbridge::rsp
