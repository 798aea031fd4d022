#include "tests/analysis/collectives.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace mqbridge::sim {
namespace {

struct Tree {
  int parent = -1; ///< none: the root
  std::vector<int> children = {};
};

Part to(int peer, int length, bool synchronous = false) {
  return {.sends = true, .peer = peer, .length = length, .synchronous = synchronous};
}

Part from(int peer, int length) {
  return {.sends = false, .peer = peer, .length = length};
}

// coll_base_topo.c: ompi_coll_base_topo_build_tree with two children.
Tree binary_tree(int rank, int size, int root) {
  const int place = (rank - root + size) % size;
  int level = 0;
  while ((1 << (level + 1)) - 1 <= place)
    ++level;
  const int delta = 1 << level;
  Tree tree;
  for (int child = place + delta; child <= place + 2 * delta && child < size; child += delta)
    tree.children.push_back((child + root) % size);
  const int above = (1 << level) - 1; // nodes on the levels above
  int parent = place;
  if (parent < 2)
    parent = 0;
  else
    while (parent >= above)
      parent -= delta / 2;
  if (place != 0)
    tree.parent = (parent + root) % size;
  return tree;
}

// ompi_coll_base_topo_build_bmtree
Tree binomial_tree(int rank, int size, int root) {
  const int place = (rank - root + size) % size;
  Tree tree;
  int mask = 1;
  while (mask <= place)
    mask <<= 1;
  if (place != 0)
    tree.parent = ((place ^ (mask >> 1)) + root) % size;
  for (; mask < size && (place ^ mask) < size; mask <<= 1)
    tree.children.push_back(((place ^ mask) + root) % size);
  return tree;
}

// ompi_coll_base_topo_build_in_order_bmtree
Tree in_order_tree(int rank, int size, int root) {
  const int place = (rank - root + size) % size;
  Tree tree;
  for (int mask = 1; mask < size; mask <<= 1) {
    const int other = place ^ mask;
    if (other < place) {
      tree.parent = (other + root) % size;
      break;
    }
    if (other < size)
      tree.children.push_back((other + root) % size);
  }
  return tree;
}

// ompi_coll_base_topo_build_kmtree with radix 4
Tree quaternary_tree(int rank, int size, int root) {
  constexpr int radix = 4;
  const int place = (rank - root + size) % size;
  Tree tree;
  int mask = 1;
  for (; mask < size; mask *= radix)
    if (place % (radix * mask) != 0) {
      tree.parent = (place / (radix * mask) * (radix * mask) + root) % size;
      break;
    }
  for (mask /= radix; mask > 0; mask /= radix)
    for (int r = 1; r < radix; ++r)
      if (place + mask * r < size)
        tree.children.push_back((place + mask * r + root) % size);
  return tree;
}

Tree flat_tree(int rank, int size, int root) {
  Tree tree;
  if (rank != root)
    tree.parent = root;
  for (int other = 0; rank == root && other < size; ++other)
    if (other != root)
      tree.children.push_back(other);
  return tree;
}

std::vector<Round> linear_barrier(int rank, int size) {
  if (rank > 0)
    return {{to(0, 0)}, {from(0, 0)}};
  std::vector<Round> rounds = {Round(static_cast<std::size_t>(size - 1), from(any, 0)), {}};
  for (int other = 1; other < size; ++other)
    rounds.back().push_back(to(other, 0));
  return rounds;
}

std::vector<Round> doubling_barrier(int rank, int size) {
  const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(size)));
  std::vector<Round> rounds;
  if (rank >= power)
    return {{from(rank - power, 0), to(rank - power, 0)}};
  if (rank < size - power)
    rounds.push_back({from(rank + power, 0)});
  for (int mask = 1; mask < power; mask <<= 1)
    rounds.push_back({from(rank ^ mask, 0), to(rank ^ mask, 0)});
  if (rank < size - power)
    rounds.push_back({to(rank + power, 0, true)});
  return rounds;
}

std::vector<Round> downwards(const Tree& tree, int length) {
  std::vector<Round> rounds;
  if (tree.parent >= 0)
    rounds.push_back({from(tree.parent, length)});
  if (!tree.children.empty())
    rounds.emplace_back();
  for (const int child : tree.children)
    rounds.back().push_back(to(child, length));
  return rounds;
}

std::vector<Round> bcast(const Statement& statement, int rank, int size) {
  constexpr int few = 4;
  constexpr int many = 8;
  const int root = statement.peer;
  if (statement.large)
    return downwards(size < few ? binomial_tree(rank, size, root) : flat_tree(rank, size, root),
                     large_bytes);
  return downwards(size < few    ? binary_tree(rank, size, root)
                   : size < many ? binomial_tree(rank, size, root)
                                 : quaternary_tree(rank, size, root),
                   small_bytes);
}

std::vector<Round> reduce(int root, int rank, int size) {
  constexpr int few = 4;
  std::vector<Round> rounds;
  if (size < few) {
    if (rank != root)
      return {{to(root, small_bytes)}};
    for (int other = size - 1; other >= 0; --other)
      if (other != root)
        rounds.push_back({from(other, small_bytes)});
    return rounds;
  }
  const Tree tree = binary_tree(rank, size, root);
  if (!tree.children.empty())
    rounds.emplace_back();
  for (const int child : tree.children)
    rounds.back().push_back(from(child, small_bytes));
  if (tree.parent >= 0)
    rounds.push_back({to(tree.parent, small_bytes)});
  return rounds;
}

// Recursive doubling.
std::vector<Round> allreduce(int rank, int size) {
  const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(size)));
  const int extra = size - power;
  std::vector<Round> rounds;
  int place = rank - extra;
  if (rank < 2 * extra) {
    if (rank % 2 == 0)
      return {{to(rank + 1, small_bytes)}, {from(rank + 1, small_bytes)}};
    rounds.push_back({from(rank - 1, small_bytes)});
    place = rank / 2;
  }
  for (int distance = 1; distance < power; distance <<= 1) {
    const int other = place ^ distance;
    const int peer = other < extra ? other * 2 + 1 : other + extra;
    rounds.push_back({from(peer, small_bytes), to(peer, small_bytes)});
  }
  if (rank < 2 * extra)
    rounds.push_back({to(rank - 1, small_bytes)});
  return rounds;
}

std::vector<Round> gather(int root, int rank, int size) {
  const Tree tree = in_order_tree(rank, size, root);
  std::vector<Round> rounds;
  for (const int child : tree.children)
    rounds.push_back({from(child, small_bytes * size)});
  if (tree.parent >= 0) // with what its children sent
    rounds.push_back({to(tree.parent, small_bytes)});
  return rounds;
}

std::vector<Round> ibarrier(int rank, int size) {
  std::vector<Round> rounds;
  for (int distance = 1; distance < size; distance <<= 1)
    rounds.push_back({to((rank + distance) % size, 0), from((rank - distance + size) % size, 0)});
  return rounds;
}

std::vector<Round> ibcast(int root, int rank, int size) {
  constexpr int few = 4;
  if (size <= few)
    return downwards(flat_tree(rank, size, root), small_bytes);
  const auto swapped = [root](int one) { return one == 0 ? root : one == root ? 0 : one; };
  Tree tree = binomial_tree(swapped(rank), size, 0);
  for (int& child : tree.children)
    child = swapped(child);
  if (tree.parent >= 0)
    tree.parent = swapped(tree.parent);
  return downwards(tree, small_bytes);
}

} // namespace

std::vector<Round> rounds_of(const Statement& statement, int rank, int size) {
  constexpr int few = 4;
  constexpr int many = 8;
  if (size == 1)
    return {};
  switch (statement.verb) {
  case Verb::barrier:
    return size < few || size >= many ? doubling_barrier(rank, size) : linear_barrier(rank, size);
  case Verb::bcast:
    return bcast(statement, rank, size);
  case Verb::reduce:
    return reduce(statement.peer, rank, size);
  case Verb::allreduce:
    return allreduce(rank, size);
  case Verb::gather:
    return gather(statement.peer, rank, size);
  case Verb::ibarrier:
    return ibarrier(rank, size);
  case Verb::ibcast:
    return ibcast(statement.peer, rank, size);
  default:
    throw std::invalid_argument("no collective");
  }
}

} // namespace mqbridge::sim
