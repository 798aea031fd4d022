#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mqbridge {

using WaitNode = std::uint32_t;

/// What a reduction takes for able to run.
struct Assumptions {
  bool unknown_runs = true;  ///< what nobody can see
  bool guessed_runs = false; ///< where an edge was guessed, or a counter is missing: the other case
  bool unproven_runs = false; ///< where something more may be waited for that is in no list
  bool doubtful_runs = true;  ///< what has the benefit of the doubt
};

/// A wait-for graph: a node can go on once all of those that it waits for can, or any of them.
/// Nodes are processes, threads, requests and groups of them alike. Not thread-safe.
class WaitGraph {
public:
  enum class Mode : std::uint8_t { all, any };

  static constexpr WaitNode satisfied = 0; ///< can go on
  static constexpr WaitNode never = 1;     ///< nothing will make it go on
  static constexpr WaitNode unknown = 2;
  static constexpr WaitNode guessed = 3;
  static constexpr WaitNode unproven = 4;
  /// What moved between two looks and stands still in the second one, and threads that run beside
  /// those in MPI: they go on, and that proves little.
  static constexpr WaitNode doubtful = 5;
  static constexpr WaitNode last_constant = doubtful;

  WaitGraph();

  /// Waits for nothing yet: `all` can go on, `any` never will.
  WaitNode add(Mode mode);
  void set_mode(WaitNode node, Mode mode) { modes_[node] = mode; }
  /// `node` waits for `other`. Twice is as good as once.
  void wait_for(WaitNode node, WaitNode other);
  std::size_t size() const { return modes_.size(); }

  /// No edge comes any more.
  void close();

  /// By node: whether it can go on. The least fixpoint: what waits in a circle cannot.
  /// `also`: nodes that those who wait for them find running, whatever they do themselves.
  std::vector<bool> running(const Assumptions& assumptions,
                            const std::vector<WaitNode>& also = {}) const;

  /// By node: whether it is one of these, or waits for one, in any number of steps.
  std::vector<bool> waiting_for(const std::vector<WaitNode>& nodes) const;

  /// Strongly connected components of what cannot go on.
  struct Components {
    std::vector<std::uint32_t> of; ///< by node; `none` of what can go on
    std::vector<bool> sink;        ///< by component: waits for no other one
    static constexpr std::uint32_t none = ~std::uint32_t{0};
  };
  /// `alone`: nodes that wait for nobody who could help.
  Components components(const std::vector<bool>& running, const std::vector<bool>& alone) const;

  /// Those that a node waits for, in the order in which they were told. The graph is closed.
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
  std::vector<WaitNode> waiting_; ///< the other way round
  std::vector<std::size_t> waiting_starts_;
};

} // namespace mqbridge
