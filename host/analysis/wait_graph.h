#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mqbridge {

using WaitNode = std::uint32_t;

/// Which of the constant nodes of WaitGraph a reduction takes for able to run.
struct Assumptions {
  bool unknown_runs = true;   ///< `unknown`: a wait that nobody can see
  bool guessed_runs = false;  ///< `guessed`: an edge was guessed, or a counter is missing
  bool unproven_runs = false; ///< `unproven`: the wait may also be for something that is in no list
  bool doubtful_runs = true;  ///< `doubtful`: has the benefit of the doubt
  bool idle_runs = true;      ///< `idle`: a thread that sleeps wakes up and helps
};

/// A wait-for graph: a node can go on once all of the nodes that it waits for can, or once any of
/// them can. Nodes are processes, threads, requests and groups of them. Not thread-safe.
class WaitGraph {
public:
  enum class Mode : std::uint8_t { all, any };

  static constexpr WaitNode satisfied = 0; ///< can go on
  static constexpr WaitNode never = 1;     ///< nothing will make it go on
  static constexpr WaitNode unknown = 2;
  static constexpr WaitNode guessed = 3;
  static constexpr WaitNode unproven = 4;
  /// Goes on, but that proves little: a process moved between two looks and stands still in the
  /// second one, or a thread runs beside the threads in MPI.
  static constexpr WaitNode doubtful = 5;
  /// A thread that sleeps beside the threads in MPI, or in a loop between its own calls: when it
  /// wakes up it may send, or never.
  static constexpr WaitNode idle = 6;
  static constexpr WaitNode last_constant = idle;

  WaitGraph();

  /// A new node that waits for nothing yet: with `all` it can go on, with `any` it never will.
  WaitNode add(Mode mode);
  /// A new node that can go on once one of these can.
  WaitNode either(WaitNode one, WaitNode other);
  /// The same for once both of them can.
  WaitNode both(WaitNode one, WaitNode other);
  void set_mode(WaitNode node, Mode mode) { modes_[node] = mode; }
  /// `node` waits for `other`. A repeated edge does no harm.
  void wait_for(WaitNode node, WaitNode other);
  std::size_t size() const { return modes_.size(); }

  /// No edge will be added any more.
  void close();

  /// By node: whether it can go on. The least fixpoint: nodes that wait in a circle cannot. `also`:
  /// nodes that count as running for the nodes that wait for them, whatever they do themselves.
  std::vector<bool> running(const Assumptions& assumptions,
                            const std::vector<WaitNode>& also = {}) const;

  /// By node: whether it is one of these, or waits for one, directly or through others.
  std::vector<bool> waiting_for(const std::vector<WaitNode>& nodes) const;

  /// Strongly connected components of the nodes that cannot go on.
  struct Components {
    std::vector<std::uint32_t> of; ///< by node; `none` for nodes that can go on
    std::vector<bool> sink;        ///< by component: it waits for no other component
    static constexpr std::uint32_t none = ~std::uint32_t{0};
  };
  /// `alone`: nodes that wait for nobody who could help.
  Components components(const std::vector<bool>& running, const std::vector<bool>& alone) const;

  /// The nodes that a node waits for, in the order of wait_for(). Only after close().
  struct Children {
    const WaitNode* first;
    const WaitNode* last;
    const WaitNode* begin() const { return first; }
    const WaitNode* end() const { return last; }
  };
  Children children(WaitNode node) const;

private:
  static constexpr std::size_t constants = last_constant + 1;

  std::vector<Mode> modes_;
  std::vector<std::pair<WaitNode, WaitNode>> edges_; ///< until close()
  std::vector<WaitNode> targets_;                    ///< by node, from starts_[node] on
  std::vector<std::size_t> starts_;
  std::vector<WaitNode> waiting_; ///< the edges in the other direction
  std::vector<std::size_t> waiting_starts_;
};

} // namespace mqbridge
