#pragma once

#include <map>
#include <optional>
#include <span>
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
  /// The same of several that belong together: they leave in this order, with nothing in between,
  /// and their answers are taken together. The same request may stand there more than once.
  void ask_all(std::vector<std::string> payloads);
  /// `payload` must reach the stub; nobody needs its answer (vFile:setfs, vFile:close).
  void post(std::string payload);

  /// What has to leave now, in order, and is from here on under way. What stands in `asked_anyhow`
  /// is left out.
  std::vector<std::string> take_due(const std::vector<std::string>& asked_anyhow);
  bool has_due() const;

  /// The answer to a request that was under way. Kept only if it was ask()ed.
  void answered(const std::string& payload, std::string reply);
  /// An answer that came another way.
  void keep(std::string payload, std::string reply);
  /// The answer, once; nullopt: there is none (yet).
  std::optional<std::string> take(std::string_view payload);
  bool has(std::string_view payload) const { return answers_.contains(payload); }
  /// The answers to what ask_all() was given, once they are all there, once.
  std::optional<std::vector<std::string>> take_all(std::span<const std::string> payloads);
  bool idle() const { return due_.empty() && answers_.empty() && series_.empty(); }

  /// Answers and questions go; what was posted stays: it must reach the stub all the same.
  void forget();

private:
  struct Due {
    std::string payload;
    bool wanted;
  };
  /// Of ask_all(): as many answers as have come.
  struct Series {
    std::vector<std::string> payloads;
    std::vector<std::string> answers = {};
    bool left = false;
  };
  bool join_series(const std::string& payload, std::string& reply);

  std::vector<Due> due_;
  std::vector<Series> series_;         ///< those that have not left leave behind due_
  std::vector<std::string> under_way_; ///< of these an answer is wanted
  std::map<std::string, std::string, std::less<>> answers_;
};

} // namespace mqbridge::rsp
