#pragma once

#include "rsp/exchange/burst.h"
#include "rsp/exchange/step_marker.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mqbridge::rsp {

/// A burst with other requests in front of it, whose replies go to a function.
class PrecededBurst final : public Burst {
public:
  /// `take_first` gets the replies to `first` when all have come and `check`, if any, has passed:
  /// then they are known to belong to these requests. An Error from it ends the burst, and so does
  /// a check that fails. `rest` is not owned.
  using TakeFirst = std::function<Result<void>(std::vector<std::string> replies)>;
  PrecededBurst(std::vector<std::string> first, std::optional<StepCheck> check,
                TakeFirst take_first, Burst& rest)
      : first_(std::move(first)), check_(check), take_first_(std::move(take_first)), rest_(&rest) {}

  bool next(std::string& payload) override {
    if (sent_ == first_.size())
      return (check_ && check_->next(payload)) || rest_->next(payload);
    payload = first_[sent_++];
    return true;
  }
  Result<void> take(std::string_view reply) override {
    if (taken_)
      return rest_->take(reply);
    if (replies_.size() < first_.size()) {
      replies_.emplace_back(reply);
    } else if (auto paired = check_->take(reply); !paired) {
      return paired;
    }
    if (replies_.size() < first_.size() || (check_ && !check_->passed()))
      return {};
    taken_ = true;
    return take_first_(std::move(replies_));
  }

private:
  std::vector<std::string> first_;
  std::optional<StepCheck> check_;
  TakeFirst take_first_;
  Burst* rest_;
  std::size_t sent_ = 0;
  std::vector<std::string> replies_;
  bool taken_ = false; ///< take_first has the replies to `first_`
};

} // namespace mqbridge::rsp
