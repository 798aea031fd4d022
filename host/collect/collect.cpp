#include "host/collect/collect.h"

#include "host/collect/collector_run.h"
#include "host/collect/job_merge.h"

#include <algorithm>
#include <list>
#include <memory>
#include <poll.h>
#include <utility>

namespace mqbridge {
namespace {

/// Some of the commands at once, until all are over.
class Collection {
public:
  Collection(const std::vector<Collector>& collectors, const CollectOptions& options,
             const CollectObserver& observer, std::stop_token stop)
      : collectors_(collectors), options_(options), observer_(observer), stop_(std::move(stop)) {
    std::size_t nodes = 0;
    for (const auto& collector : collectors)
      nodes += collector.nodes.size();
    bytes_a_node_ = options.most_bytes / std::max<std::size_t>(nodes, 1);
  }

  Dump run() {
    while (next_ < collectors_.size() || !running_.empty()) {
      start_some();
      wait();
      if (observer_.waiting)
        observer_.waiting();
      for (auto& one : running_) {
        if (stop_.stop_requested())
          one.ask_to_end();
        if (!one.is_over())
          one.look();
      }
      finish_some();
    }
    auto dump = merge_.finish();
    for (auto& error : faults_.errors())
      dump.errors.push_back(std::move(error));
    dump.filters = options_.filters;
    return dump;
  }

private:
  void start_some() {
    while (next_ < collectors_.size() && running_.size() < options_.at_once) {
      const auto rank_came = [this](const Node& node, const std::string& host, RankDump rank) {
        const auto& shown = merge_.add(node, host, std::move(rank));
        if (observer_.rank_done)
          observer_.rank_done(shown);
      };
      auto& one =
          running_.emplace_back(collectors_[next_++], options_, bytes_a_node_, lists_, rank_came);
      if (stop_.stop_requested())
        one.leave_out();
      else
        one.start();
    }
  }

  /// Until somebody has said something, or it is time to look who is late.
  void wait() const {
    constexpr int tick_ms = 50;
    std::vector<pollfd> descriptors;
    for (const auto& one : running_)
      if (const auto* const command = one.command(); command != nullptr && !one.is_over())
        for (const int descriptor : {command->output(), command->error()})
          descriptors.push_back({descriptor, POLLIN, 0});
    ::poll(descriptors.data(), descriptors.size(), tick_ms);
  }

  void finish_some() {
    for (const auto& one : running_)
      if (one.is_over()) {
        one.tell_faults(faults_);
        if (observer_.nodes_done)
          observer_.nodes_done(one.nodes());
      }
    std::erase_if(running_, [](const CollectorRun& one) { return one.is_over(); });
  }

  const std::vector<Collector>& collectors_;
  const CollectOptions& options_;
  const CollectObserver& observer_;
  const std::stop_token stop_;
  std::uint64_t bytes_a_node_ = 0;
  const std::shared_ptr<RankListPool> lists_ = std::make_shared<RankListPool>();
  std::size_t next_ = 0;
  std::list<CollectorRun> running_;
  JobMerge merge_;
  NodeFaults faults_;
};

} // namespace

Dump collect(const std::vector<Collector>& collectors, const CollectOptions& options,
             const CollectObserver& observer, std::stop_token stop) {
  return Collection(collectors, options, observer, std::move(stop)).run();
}

} // namespace mqbridge
