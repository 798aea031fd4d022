#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::rsp {

/// Requests that will be needed soon, and the answers to those that were sent. The requests leave
/// together with the next exchange, so that they cost no round trip of their own. No I/O.
///
/// An answer is good for one use. It is valid as long as the target stands still and the stub is in
/// the state in which it answered: call forget() when that ends.
class AskedAhead {
public:
  /// `payload` will be needed: its answer is kept until take(). A payload that is asked twice
  /// leaves once.
  void ask(std::string payload);
  /// `payload` must reach the stub; nobody needs its answer (vFile:setfs, vFile:close).
  void post(std::string payload);

  /// The requests that have to leave now, in order; they count as under way from here on. Requests
  /// in `asked_anyhow` are left out.
  std::vector<std::string> take_due(const std::vector<std::string>& asked_anyhow);
  bool has_due() const { return !due_.empty(); }

  /// The answer to a request that was under way. Kept only if it was ask()ed.
  void answered(const std::string& payload, std::string reply);
  /// An answer that came by another exchange.
  void keep(std::string payload, std::string reply);
  /// The answer, once; nullopt: there is none (yet).
  std::optional<std::string> take(std::string_view payload);
  bool has(std::string_view payload) const { return answers_.contains(payload); }
  bool idle() const { return due_.empty() && answers_.empty(); }

  /// Drops answers and questions. Posted requests stay: they must reach the stub all the same.
  void forget();

private:
  struct Due {
    std::string payload;
    bool wanted;
  };

  std::vector<Due> due_;
  std::vector<std::string> under_way_; ///< requests whose answer is wanted
  std::map<std::string, std::string, std::less<>> answers_;
};

} // namespace mqbridge::rsp
