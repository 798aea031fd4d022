#pragma once

#include <compare>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace mqbridge {

/// The ranks of a group, or none: a std::optional of a std::vector whose copies share their
/// contents. In a job of 64,000 ranks each rank has the list of all, which takes half a MB. May be
/// read on any thread while nobody calls grow().
class RankList {
public:
  using Ranks = std::vector<std::int64_t>;

  RankList() = default;
  RankList(std::nullopt_t) {}
  RankList(Ranks ranks) : ranks_(std::make_shared<Ranks>(std::move(ranks))) {}
  RankList(std::initializer_list<std::int64_t> ranks) : RankList(Ranks(ranks)) {}
  RankList(std::optional<Ranks> ranks) {
    if (ranks)
      *this = RankList(std::move(*ranks));
  }

  bool has_value() const { return ranks_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  /// There must be a list.
  const Ranks& operator*() const { return *ranks_; }
  const Ranks* operator->() const { return ranks_.get(); }
  Ranks value_or(Ranks otherwise) const { return ranks_ ? *ranks_ : std::move(otherwise); }
  void reset() { ranks_.reset(); }

  /// The list to be filled in. It is empty if there was none, and copies do not see the changes.
  Ranks& grow() {
    if (!ranks_ || ranks_.use_count() > 1)
      ranks_ = std::make_shared<Ranks>(value_or({}));
    return *ranks_;
  }

  friend bool operator==(const RankList& one, const RankList& other) {
    return one <=> other == std::strong_ordering::equal;
  }
  friend std::strong_ordering operator<=>(const RankList& one, const RankList& other) {
    if (one.ranks_ == other.ranks_)
      return std::strong_ordering::equal;
    if (!one.ranks_ || !other.ranks_)
      return one.has_value() <=> other.has_value();
    return *one.ranks_ <=> *other.ranks_;
  }

private:
  std::shared_ptr<Ranks> ranks_;
};

} // namespace mqbridge
