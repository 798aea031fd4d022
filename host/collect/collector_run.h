#pragma once

#include "host/collect/collect.h"
#include "host/collect/frames.h"
#include "host/collect/job_merge.h"
#include "host/collect/node_stream.h"
#include "host/disk/started_command.h"
#include "rsp/result.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace mqbridge {

/// One command of collectors, from its start to its end, and the output of each of its nodes.
class CollectorRun {
public:
  using Clock = std::chrono::steady_clock;
  using RankCame = std::function<void(const Node& node, const std::string& host, RankDump rank)>;

  /// `bytes_a_node`: the memory that one node's output may take. `lists`: shared by all nodes.
  CollectorRun(const Collector& collector, const CollectOptions& options,
               std::uint64_t bytes_a_node, std::shared_ptr<RankListPool> lists, RankCame rank_came);

  const std::vector<Node>& nodes() const { return collector_.nodes; }

  void start();
  /// To be called instead of running: the user has interrupted the dump.
  void leave_out();
  /// Takes the output that has come, and gives up on nodes that are late.
  void look();
  void ask_to_end();
  /// No more output comes, and the command has ended.
  bool is_over() const { return over_; }

  /// To be polled; nullptr: not running. Either descriptor may be -1.
  const StartedCommand* command() const { return command_ ? &*command_ : nullptr; }

  /// Reports the faults of its nodes. To be called once it is over.
  void tell_faults(NodeFaults& faults) const;

private:
  /// The output of one collector. For srun's collectors, the node is known after the greeting.
  struct Channel {
    int label = 0;
    NodeStream stream;
    Clock::time_point heard;     ///< last, anything at all
    Clock::time_point last_rank; ///< the last one that it has sent
    const Node* node = nullptr;
    std::optional<RankError> given_up = std::nullopt;
  };

  bool read_lines();
  void take_line(std::string_view line);
  Channel* channel_of(std::string_view& line);
  void settle_node(Channel& channel);
  void give_up_late();
  void push_to_end();
  bool nothing_more_is_expected() const;
  const Channel* channel_of(const Node& node) const;
  RankError why_not_complete(const Node& node, const Channel* channel) const;
  std::string words_of(const Node& node, const Channel* channel) const;

  const Collector& collector_;
  const CollectOptions& options_;
  const std::uint64_t bytes_a_node_;
  const std::shared_ptr<RankListPool> lists_;
  const RankCame rank_came_;
  std::optional<StartedCommand> command_;
  std::optional<Error> not_started_;
  Clock::time_point started_{};
  LineSplitter lines_;
  std::map<int, Channel> channels_;        ///< by srun's number of the task; of one node: 0
  std::string strange_;                    ///< lines that no collector has sent
  std::optional<Clock::time_point> asked_; ///< to end
  bool told_ = false;                      ///< it was asked to end by a signal
  bool over_ = false;
};

} // namespace mqbridge
