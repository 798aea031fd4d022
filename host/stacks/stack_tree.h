#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace mqbridge {

/// A call in the tree of many processes. It does not depend on where a process has loaded a
/// library: two processes in the same call have the same TreeCall.
struct TreeCall {
  std::string function;  ///< or a text in its place
  std::string file = {}; ///< empty: not known
  std::int64_t line = 0; ///< 0: not known

  auto operator<=>(const TreeCall&) const = default;
};

/// Call stacks of many processes: threads with the same outer calls share their nodes. Memory: one
/// node for each different path from the outermost call.
class StackTree {
public:
  struct Node {
    TreeCall call;
    std::size_t parent = 0;
    std::vector<std::size_t> children;  ///< in the order of their first threads
    std::vector<std::size_t> processes; ///< with a thread in this call; in order, each once
    std::vector<std::size_t>
        ending;              ///< of these, processes with a thread whose innermost call this is
    std::size_t threads = 0; ///< in this call
  };
  /// The node that holds the outermost calls, and is no call itself.
  static constexpr std::size_t root = 0;

  /// The calls of one thread, outermost first. Threads come in the order of their processes.
  void add(std::size_t process, std::span<const TreeCall> calls);

  const Node& node(std::size_t index) const { return nodes_[index]; }
  std::size_t size() const { return nodes_.size(); }

  /// The nodes in which threads end: each is a kind of stack. The kinds that most processes have
  /// come first.
  std::vector<std::size_t> kinds() const;
  /// By index: the nodes on the paths to these nodes, which are included.
  std::vector<bool> ways_to(std::span<const std::size_t> nodes) const;

private:
  std::size_t child(std::size_t parent, const TreeCall& call);

  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::map<std::pair<std::size_t, TreeCall>, std::size_t> by_call_; ///< and by parent
};

/// At most `most` of `kinds`, in order: half of them are the most frequent kinds, the others are
/// the kinds that the fewest processes have.
std::vector<std::size_t> largest_and_loneliest(const std::vector<std::size_t>& kinds,
                                               std::size_t most);

} // namespace mqbridge
