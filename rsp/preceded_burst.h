#pragma once

#include "rsp/burst.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mqbridge::rsp {

/// A burst with other requests before it, whose replies go elsewhere.
class PrecededBurst final : public Burst {
public:
  /// `take_first` gets the number of a request of `first`, and its reply. An Error from it ends the
  /// burst. `rest` is not owned.
  using TakeFirst = std::function<Result<void>(std::size_t index, std::string_view reply)>;
  PrecededBurst(std::vector<std::string> first, TakeFirst take_first, Burst& rest)
      : first_(std::move(first)), take_first_(std::move(take_first)), rest_(&rest) {}

  bool next(std::string& payload) override {
    if (sent_ == first_.size())
      return rest_->next(payload);
    payload = first_[sent_++];
    return true;
  }
  Result<void> take(std::string_view reply) override {
    return answered_ == first_.size() ? rest_->take(reply) : take_first_(answered_++, reply);
  }

private:
  std::vector<std::string> first_;
  TakeFirst take_first_;
  Burst* rest_;
  std::size_t sent_ = 0;
  std::size_t answered_ = 0;
};

} // namespace mqbridge::rsp
