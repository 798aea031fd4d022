#pragma once

#include "host/analysis/job_picture.h"

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace mqbridge {

/// Partners of a call, or none. Copies share what is in it: half of the ranks of a job may wait for
/// the other half.
class PartnerList {
public:
  PartnerList() = default;
  explicit PartnerList(std::vector<Partner> partners)
      : all_(std::make_shared<const std::vector<Partner>>(std::move(partners))),
        count_(all_->size()) {}

  /// The first so many of them; there are as many.
  PartnerList first(std::size_t count) const {
    PartnerList list = *this;
    list.count_ = count;
    return list;
  }

  explicit operator bool() const { return all_ != nullptr; }
  std::size_t size() const { return count_; }
  auto begin() const { return partners().begin(); }
  auto end() const { return partners().end(); }
  const Partner& operator[](std::size_t index) const { return (*all_)[index]; }

private:
  std::span<const Partner> partners() const {
    return all_ ? std::span(*all_).first(count_) : std::span<const Partner>();
  }

  std::shared_ptr<const std::vector<Partner>> all_;
  std::size_t count_ = 0;
};

} // namespace mqbridge
