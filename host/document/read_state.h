#pragma once

#include "host/document/place.h"
#include "host/document/rank_list_pool.h"
#include "host/mqs/queues.h"
#include "host/mqs/shared_text.h"
#include "rsp/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace mqbridge {

/// What the parts of one reading share. The first complaint counts: what is read after it is of no
/// use, and says nothing more.
class ReadState {
public:
  ReadState(std::uint64_t most_bytes, std::shared_ptr<RankListPool> lists)
      : rank_lists(std::move(lists)), bytes_left_(most_bytes) {}

  TextPool texts;
  SitePool sites;
  const std::shared_ptr<RankListPool> rank_lists; ///< never null

  /// "ranks[3].pid: an integer was expected". Code document.field.
  void complain(const Place& place, std::string_view expected);
  void complain(Error error);
  bool failed() const { return error_.has_value(); }
  /// There is one. What is read next may fail again.
  Error take_error() { return *std::exchange(error_, std::nullopt); }

  /// Of what the document makes this program keep. False, with a complaint (document.limit), where
  /// it is more than may be.
  bool spend(std::uint64_t bytes);
  std::uint64_t bytes_left() const { return bytes_left_; }
  void give_back(std::uint64_t bytes) { bytes_left_ += bytes; }

private:
  std::uint64_t bytes_left_;
  std::optional<Error> error_;
};

} // namespace mqbridge
