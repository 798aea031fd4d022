#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::rsp {

/// Requests that will be needed soon, and the answers to those that were sent: they leave together
/// with whatever is asked next, so that they cost no round trip of their own. No I/O.
///
/// An answer is good for one use, and for as long as the target stands still and the stub's state
/// is the one it was given in: forget() where that ends.
class AskedAhead {
public:
  /// `payload` will be asked for: its answer is kept until take(). Asked twice, it leaves once.
  void ask(std::string payload);
  /// `payload` must reach the stub; nobody needs its answer (vFile:setfs, vFile:close).
  void post(std::string payload);

  /// What has to leave now, in order, and is from here on under way. What stands in `asked_anyhow`
  /// is left out.
  std::vector<std::string> take_due(const std::vector<std::string>& asked_anyhow);
  bool has_due() const { return !due_.empty(); }

  /// The answer to a request that was under way. Kept only if it was ask()ed.
  void answered(const std::string& payload, std::string reply);
  /// An answer that came another way.
  void keep(std::string payload, std::string reply);
  /// The answer, once; nullopt: there is none (yet).
  std::optional<std::string> take(std::string_view payload);
  bool has(std::string_view payload) const { return answers_.contains(payload); }
  bool idle() const { return due_.empty() && answers_.empty(); }

  /// Answers and questions go; what was posted stays: it must reach the stub all the same.
  void forget();

private:
  struct Due {
    std::string payload;
    bool wanted;
  };
  std::vector<Due> due_;
  std::vector<std::string> under_way_; ///< of these an answer is wanted
  std::map<std::string, std::string, std::less<>> answers_;
};

} // namespace mqbridge::rsp
