#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// Which browsers may come in by a port of the loopback interface, which every user of this host
/// can reach. A link that is good for one visit and some minutes leads in; from then on a cookie
/// does. A browser sends a cookie to every port of a host, and so to other users, but only for its
/// path: the pages stand below one that nobody else knows. Port, path and cookies are kept in a
/// file of this user, so that a page that is open goes on when the service is started again.
/// Thread-safe.
class Visitors {
public:
  using Clock = std::chrono::steady_clock;

  /// `memory`: the file. What it says, if it is there and makes sense, is taken.
  explicit Visitors(std::filesystem::path memory);

  /// The port to be taken, if it is free; 0: any.
  std::uint16_t port() const { return port_; }
  /// The service listens there: "127.0.0.1:41822".
  void set_address(const std::string& address);
  /// Empty: nowhere.
  const std::string& address() const { return address_; }
  /// What every path of a browser begins with: "/3f9c...".
  const std::string& path() const { return path_; }
  /// A new link.
  std::string invite(Clock::time_point now = Clock::now());
  /// A cookie, as Set-Cookie has it; nullopt: there is no such key, or it was used, or is too
  /// old.
  std::optional<std::string> enter(std::string_view key, Clock::time_point now = Clock::now());
  /// Whether one of the cookies of a request is ours.
  bool knows(std::string_view cookies) const;

private:
  void remember() const;

  const std::filesystem::path memory_;
  std::uint16_t port_ = 0;
  std::string address_;
  std::string path_;
  mutable std::mutex mutex_;                                   ///< guards the members below
  std::map<std::string, Clock::time_point, std::less<>> keys_; ///< until when each is good
  std::vector<std::string> cookies_;                           ///< the oldest first
};

} // namespace mqbridge
