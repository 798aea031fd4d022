#include "host/analysis/wait_graph.h"

#include <algorithm>
#include <utility>

namespace mqbridge {
namespace {

using Edges = std::vector<std::pair<WaitNode, WaitNode>>;

/// Sorts the edges by `from`: `starts` tells where the edges of each node begin in `ends`, which
/// has all other ends in that order.
template <class From, class To>
void sort_by(const Edges& edges, std::size_t nodes, From from, To to,
             std::vector<std::size_t>& starts, std::vector<WaitNode>& ends) {
  starts.assign(nodes + 1, 0);
  for (const auto& edge : edges)
    ++starts[from(edge) + 1];
  for (std::size_t node = 0; node < nodes; ++node)
    starts[node + 1] += starts[node];
  ends.resize(edges.size());
  auto next = starts;
  for (const auto& edge : edges)
    ends[next[from(edge)]++] = to(edge);
}

/// Tarjan's algorithm, without recursion: a chain of waits may be as long as the job is large.
class ComponentSearch {
public:
  ComponentSearch(const WaitGraph& graph, const std::vector<bool>& running,
                  const std::vector<bool>& alone)
      : graph_(graph), running_(running), alone_(alone), index_(graph.size(), 0),
        low_(graph.size(), 0) {
    found_.of.assign(graph.size(), none);
  }

  WaitGraph::Components run(WaitNode first) {
    for (WaitNode node = first; node < graph_.size(); ++node)
      if (!running_[node] && index_[node] == 0)
        search_from(node);
    return std::move(found_);
  }

private:
  static constexpr auto none = WaitGraph::Components::none;

  struct Visit {
    WaitNode node;
    const WaitNode* next;
    const WaitNode* end;
  };

  void enter(WaitNode node) {
    index_[node] = low_[node] = ++count_;
    open_.push_back(node);
    const auto children = graph_.children(node);
    path_.push_back({node, alone_[node] ? children.end() : children.begin(), children.end()});
  }

  void search_from(WaitNode start) {
    enter(start);
    while (!path_.empty()) {
      Visit& visit = path_.back();
      if (visit.next != visit.end) {
        const WaitNode child = *visit.next++;
        if (running_[child] || child <= WaitGraph::last_constant)
          continue;
        if (index_[child] == 0)
          enter(child);
        else if (found_.of[child] == none)
          low_[visit.node] = std::min(low_[visit.node], index_[child]);
        continue;
      }
      const WaitNode node = visit.node;
      path_.pop_back();
      if (!path_.empty())
        low_[path_.back().node] = std::min(low_[path_.back().node], low_[node]);
      if (low_[node] == index_[node])
        close(node);
    }
  }

  /// All nodes opened since `node` are one component. The ones that it waits for have theirs
  /// already.
  void close(WaitNode node) {
    const auto component = static_cast<std::uint32_t>(found_.sink.size());
    const auto first = std::ranges::find(open_.rbegin(), open_.rend(), node).base() - 1;
    for (auto member = first; member != open_.end(); ++member)
      found_.of[*member] = component;
    bool sink = true;
    for (auto member = first; member != open_.end() && sink; ++member)
      for (const WaitNode child : graph_.children(*member))
        if (!alone_[*member] && child > WaitGraph::last_constant && !running_[child] &&
            found_.of[child] != component)
          sink = false;
    found_.sink.push_back(sink);
    open_.erase(first, open_.end());
  }

  const WaitGraph& graph_;
  const std::vector<bool>& running_;
  const std::vector<bool>& alone_;
  std::vector<std::uint32_t> index_; ///< in the order of the visits, from 1 on; 0: not visited
  std::vector<std::uint32_t> low_;
  std::uint32_t count_ = 0;
  std::vector<WaitNode> open_; ///< of no component yet
  std::vector<Visit> path_;
  WaitGraph::Components found_;
};

} // namespace

WaitGraph::WaitGraph() : modes_(constants, Mode::any) {
  modes_[satisfied] = Mode::all;
}

WaitNode WaitGraph::add(Mode mode) {
  modes_.push_back(mode);
  return static_cast<WaitNode>(modes_.size() - 1);
}

WaitNode WaitGraph::either(WaitNode one, WaitNode other) {
  const WaitNode node = add(Mode::any);
  wait_for(node, one);
  wait_for(node, other);
  return node;
}

WaitNode WaitGraph::both(WaitNode one, WaitNode other) {
  const WaitNode node = add(Mode::all);
  wait_for(node, one);
  wait_for(node, other);
  return node;
}

void WaitGraph::wait_for(WaitNode node, WaitNode other) {
  edges_.emplace_back(node, other);
}

void WaitGraph::close() {
  const auto from = [](const auto& edge) { return edge.first; };
  const auto to = [](const auto& edge) { return edge.second; };
  sort_by(edges_, size(), from, to, starts_, targets_);
  sort_by(edges_, size(), to, from, waiting_starts_, waiting_);
  edges_ = {};
}

WaitGraph::Children WaitGraph::children(WaitNode node) const {
  return {targets_.data() + starts_[node], targets_.data() + starts_[node + 1]};
}

std::vector<bool> WaitGraph::running(const Assumptions& assumptions,
                                     const std::vector<WaitNode>& also) const {
  std::vector<bool> running(size(), false);
  std::vector<std::size_t> missing(size()); // how many more must run before the node does
  std::vector<WaitNode> told; // nodes that run, to be counted by the nodes that wait for them
  const auto run = [&](WaitNode node) {
    if (!running[node]) {
      running[node] = true;
      told.push_back(node);
    }
  };
  for (WaitNode node = 0; node < size(); ++node) {
    const std::size_t children = starts_[node + 1] - starts_[node];
    missing[node] = modes_[node] == Mode::all ? children : 1;
    if (missing[node] == 0)
      run(node);
  }
  for (const auto& [node, runs] :
       {std::pair(unknown, assumptions.unknown_runs), std::pair(guessed, assumptions.guessed_runs),
        std::pair(unproven, assumptions.unproven_runs),
        std::pair(doubtful, assumptions.doubtful_runs), std::pair(idle, assumptions.idle_runs)})
    if (runs)
      run(node);
  std::vector<bool> counted(size(), false); // counted as running for the nodes that wait for it
  const auto count = [&](WaitNode node) {
    if (counted[node])
      return;
    counted[node] = true;
    for (std::size_t i = waiting_starts_[node]; i < waiting_starts_[node + 1]; ++i)
      if (const WaitNode waiting = waiting_[i]; missing[waiting] > 0 && --missing[waiting] == 0)
        run(waiting);
  };
  for (const WaitNode node : also)
    count(node);
  while (!told.empty()) {
    const WaitNode node = told.back();
    told.pop_back();
    count(node);
  }
  return running;
}

std::vector<bool> WaitGraph::waiting_for(const std::vector<WaitNode>& nodes) const {
  std::vector<bool> found(size(), false);
  auto open = nodes;
  while (!open.empty()) {
    const WaitNode node = open.back();
    open.pop_back();
    if (found[node])
      continue;
    found[node] = true;
    for (std::size_t i = waiting_starts_[node]; i < waiting_starts_[node + 1]; ++i)
      open.push_back(waiting_[i]);
  }
  return found;
}

WaitGraph::Components WaitGraph::components(const std::vector<bool>& running,
                                            const std::vector<bool>& alone) const {
  return ComponentSearch(*this, running, alone).run(constants);
}

} // namespace mqbridge
