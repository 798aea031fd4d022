#pragma once

#include "host/dump/values/ranges.h"
#include "host/mqs/queues.h"
#include "host/mqs/rank_list.h"
#include "host/mqs/shared_text.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mqbridge {

/// Makes equal groups one, which documents hold as runs. One thread at a time.
class RankListPool {
public:
  /// The list with these runs; nullptr: it is not here yet.
  const RankList* find(const std::vector<Run>& runs) const {
    const auto found = lists_.find(runs);
    return found == lists_.end() ? nullptr : &found->second;
  }
  const RankList& add(std::vector<Run> runs, RankList list) {
    return lists_.emplace(std::move(runs), std::move(list)).first->second;
  }

private:
  std::map<std::vector<Run>, RankList> lists_;
};

/// The place of a value in a document, for messages: "ranks[3].platform.pointer_size". Each level
/// refers to the one around it, which outlives it, and so does the text that `key` views.
struct Place {
  const Place* outer = nullptr;                    ///< null: the document itself
  std::string_view key;                            ///< the member of an object
  std::optional<std::size_t> index = std::nullopt; ///< the element of an array

  /// Printable, and of bounded length. Empty: the document itself.
  std::string text() const;
};

/// The state that all parts of one reading share. Only the first complaint counts: parts read after
/// it must not be used, and complain no more.
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
  /// There must be an error. The next reading may fail again.
  Error take_error() { return *std::exchange(error_, std::nullopt); }

  /// Takes bytes from the memory that the document may use. False, with a complaint
  /// (document.limit): there are not so many left.
  bool spend(std::uint64_t bytes);
  /// The same for values that few bytes of the document stand for, such as the ranks of a run:
  /// a short document may not take gigabytes. What add_to_tree counts allows for more.
  bool spend_unfolded(std::uint64_t bytes);
  void add_to_tree(std::uint64_t bytes) { unfolded_left_ += unfolded_a_tree_byte * bytes; }
  std::uint64_t bytes_left() const { return bytes_left_; }
  void give_back(std::uint64_t bytes) { bytes_left_ += bytes; }

private:
  /// A node takes 96 bytes, and stands for two bytes of text at least: a document is unfolded to
  /// about a hundred times its length at most, if it is not small.
  static constexpr std::uint64_t unfolded_a_tree_byte = 2;

  std::uint64_t bytes_left_;
  std::uint64_t unfolded_left_ = std::uint64_t{64} << 20;
  std::optional<Error> error_;
};

} // namespace mqbridge
