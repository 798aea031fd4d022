#pragma once

#include "host/dump/together/recorded_traffic.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mqbridge {

/// The messages that a receive takes: of one source or of any, with one tag or with any.
struct ReceivePattern {
  std::optional<std::size_t> source; ///< place among the traffic of its seat; nullopt: any
  std::optional<std::int64_t> tag;   ///< nullopt: any
};

/// A number of receives for each pattern.
class PatternCounts {
public:
  void add(const ReceivePattern& pattern);
  /// How many of these receives could take a message that this pattern takes.
  std::uint64_t touching(const ReceivePattern& pattern) const;

private:
  std::uint64_t all_ = 0; ///< from any source, with any tag
  std::uint64_t any_tag_ = 0;
  std::uint64_t any_source_ = 0;
  std::uint64_t exact_ = 0;
  std::unordered_map<std::size_t, std::uint64_t> by_source_;       ///< with any tag
  std::unordered_map<std::int64_t, std::uint64_t> by_tag_;         ///< of any source
  std::unordered_map<std::size_t, std::uint64_t> exact_of_source_; ///< with one tag
  std::unordered_map<std::int64_t, std::uint64_t> exact_of_tag_;   ///< of one source
  std::map<std::pair<std::size_t, std::int64_t>, std::uint64_t> exact_pairs_;
};

/// Messages that have met no receive so far.
class MessagePool {
public:
  using Pair = std::pair<std::size_t, std::int64_t>; ///< source and tag

  void add(const Pair& pair, std::uint32_t count);
  /// There must be such a message.
  void take(const Pair& pair);
  std::uint32_t of(const Pair& pair) const;
  std::uint64_t matching(const ReceivePattern& pattern) const;
  /// Source and tag of messages that a pattern takes, at most `most` of them.
  std::vector<Pair> pairs(const ReceivePattern& pattern, std::size_t most) const;

private:
  std::uint64_t all_ = 0;
  std::unordered_map<std::size_t, std::uint64_t> of_source_;
  std::unordered_map<std::int64_t, std::uint64_t> of_tag_;
  std::map<Pair, std::uint32_t> counts_;                  ///< none is 0
  std::set<std::pair<std::int64_t, std::size_t>> by_tag_; ///< tag and source
};

/// Lets the pending receives of one seat meet the messages that it has not received, in the order
/// of MPI: receives as they were posted, messages of one sender as they were sent. Sets the
/// receives' status and their messages. The order of messages of several senders is not known: then
/// a receive from any source is matched without a message.
class ReceiveMatching {
public:
  ReceiveMatching(const RecordedSeats& seats, std::size_t receiver,
                  const std::vector<RecordedTraffic>& traffic);

  void run();

  /// How many of the outstanding messages of a sender with a tag have met no receive.
  struct Unmet {
    std::uint32_t least = 0;
    std::uint32_t most = 0;
  };
  Unmet unmet(std::size_t source, const TagTraffic& tag) const;
  /// Whether all messages to the seat are known, and all of its receives are listed.
  bool sees_all() const { return sees_all_ && lists_all_; }

private:
  /// The messages that an operation takes; nullopt: its sender has sent nothing, or is not there.
  std::optional<ReceivePattern> pattern_of(const Operation& receive) const;
  std::optional<std::size_t> source_of(std::int64_t local_rank) const;
  bool is_hidden(const Operation& receive, const std::optional<ReceivePattern>& pattern) const;
  bool has_gone_on(const std::optional<ReceivePattern>& pattern) const;
  void settle(Operation& receive);
  void settle_without_list(Operation& receive);
  void keep(const Operation& receive);
  std::optional<MessagePool::Pair> met(const Operation& receive, const ReceivePattern& pattern,
                                       bool contested) const;
  std::optional<RecordedSend> oldest(const Operation& receive, const MessagePool::Pair& pair) const;
  MaybeInt length_of(const Operation& receive, const MessagePool::Pair& pair) const;

  const RecordedSeats& seats_;
  const RecordedSeat& seat_;
  const std::vector<RecordedTraffic>& traffic_;
  std::unordered_map<std::size_t, std::size_t> by_sender_; ///< places in the traffic, by seat
  bool sees_all_ = true;
  bool lists_all_ = true; ///< receives
  bool one_thread_ = false;
  MessagePool pool_;
  PatternCounts posted_;
  PatternCounts contested_; ///< receives that have met one of several messages, or perhaps none
};

} // namespace mqbridge
