#include "host/stacks/stack_tree.h"

#include <algorithm>

namespace mqbridge {
namespace {

void add_once(std::vector<std::size_t>& processes, std::size_t process) {
  if (processes.empty() || processes.back() != process)
    processes.push_back(process);
}

} // namespace

void StackTree::add(std::size_t process, std::span<const TreeCall> calls) {
  std::size_t at = root;
  for (const TreeCall& call : calls) {
    at = child(at, call);
    add_once(nodes_[at].processes, process);
    ++nodes_[at].threads;
  }
  if (at != root)
    add_once(nodes_[at].ending, process);
}

std::size_t StackTree::child(std::size_t parent, const TreeCall& call) {
  const auto [known, added] = by_call_.try_emplace({parent, call}, nodes_.size());
  if (added) {
    nodes_.emplace_back();
    nodes_.back().call = call;
    nodes_.back().parent = parent;
    nodes_[parent].children.push_back(known->second);
  }
  return known->second;
}

std::vector<std::size_t> StackTree::kinds() const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (!nodes_[i].ending.empty())
      found.push_back(i);
  std::stable_sort(found.begin(), found.end(), [this](std::size_t a, std::size_t b) {
    return nodes_[a].ending.size() > nodes_[b].ending.size();
  });
  return found;
}

std::vector<bool> StackTree::ways_to(std::span<const std::size_t> nodes) const {
  std::vector<bool> on_the_way(nodes_.size(), false);
  for (std::size_t at : nodes)
    for (; at != root && !on_the_way[at]; at = nodes_[at].parent)
      on_the_way[at] = true;
  return on_the_way;
}

std::vector<std::size_t> largest_and_loneliest(const std::vector<std::size_t>& kinds,
                                               std::size_t most) {
  if (kinds.size() <= most)
    return kinds;
  const auto loneliest = static_cast<std::ptrdiff_t>(most / 2);
  const auto largest = static_cast<std::ptrdiff_t>(most) - loneliest;
  std::vector<std::size_t> chosen(kinds.begin(), kinds.begin() + largest);
  chosen.insert(chosen.end(), kinds.end() - loneliest, kinds.end());
  return chosen;
}

} // namespace mqbridge
