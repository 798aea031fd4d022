#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace mqbridge {

/// Which browsers may come in by a port of the loopback interface, which every user of this host
/// can reach. A link that is good for one visit and some minutes leads in; from then on a cookie
/// does, until the service ends. A browser sends a cookie to every port of a host, and so to other
/// users, but only for its path: the pages stand below one that nobody else knows. Thread-safe.
class Visitors {
public:
  using Clock = std::chrono::steady_clock;

  /// `address`: of the port, "127.0.0.1:41822"; empty: there is none.
  explicit Visitors(std::string address);

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
  const std::string address_;
  const std::string path_;
  mutable std::mutex mutex_;
  std::map<std::string, Clock::time_point, std::less<>> keys_; ///< until when each is good
  std::set<std::string, std::less<>> cookies_;
};

} // namespace mqbridge
