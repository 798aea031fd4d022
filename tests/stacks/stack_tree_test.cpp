#include "host/stacks/stack_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mqbridge::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const TreeCall main_41{"main", "solver.c", 41};
const TreeCall main_50{"main", "solver.c", 50};
const TreeCall solve{"solve", "solver.c", 212};
const TreeCall barrier{"MPI_Barrier"};

TEST(StackTree, ThreadsShareTheirOuterCalls) {
  StackTree tree;
  tree.add(0, std::vector{main_41, solve, barrier});
  tree.add(0, std::vector{main_41, solve});
  tree.add(1, std::vector{main_41, solve, barrier});
  tree.add(2, std::vector{main_50, solve, barrier});
  ASSERT_EQ(tree.size(), 7U) << "the root, and two ways of three calls";
  const auto& root = tree.node(StackTree::root);
  ASSERT_EQ(root.children.size(), 2U);
  const auto& first = tree.node(root.children[0]);
  EXPECT_EQ(first.call, main_41);
  EXPECT_THAT(first.processes, ElementsAre(0, 1));
  EXPECT_EQ(first.threads, 3U);
  EXPECT_THAT(first.ending, IsEmpty());
  const auto& middle = tree.node(first.children.at(0));
  EXPECT_THAT(middle.ending, ElementsAre(0)) << "a thread that others go on from";
  EXPECT_THAT(tree.node(middle.children.at(0)).ending, ElementsAre(0, 1));
  EXPECT_EQ(tree.node(root.children[1]).call, main_50) << "another line is another call";
}

TEST(StackTree, AThreadWithoutCallsIsNoKindOfStack) {
  StackTree tree;
  tree.add(0, {});
  EXPECT_THAT(tree.kinds(), IsEmpty());
}

TEST(StackTree, KindsAreThoseOfMostProcessesFirstAndLeadToTheirWays) {
  StackTree tree;
  tree.add(0, std::vector{main_41, solve});
  tree.add(1, std::vector{main_41, barrier});
  tree.add(2, std::vector{main_41, barrier});
  tree.add(2, std::vector{main_50});
  const auto kinds = tree.kinds();
  ASSERT_EQ(kinds.size(), 3U);
  EXPECT_EQ(tree.node(kinds[0]).call, barrier);
  EXPECT_EQ(tree.node(kinds[1]).call, solve);
  EXPECT_EQ(tree.node(kinds[2]).call, main_50);
  const auto shown = tree.ways_to(std::vector{kinds[1]});
  for (std::size_t i = 1; i < tree.size(); ++i)
    EXPECT_EQ(shown[i], tree.node(i).call == main_41 || tree.node(i).call == solve) << i;
}

TEST(StackTree, OfManyKindsTheLargestAndTheLoneliestAreChosen) {
  const std::vector<std::size_t> kinds = {10, 11, 12, 13, 14, 15, 16};
  EXPECT_THAT(largest_and_loneliest(kinds, 4), ElementsAre(10, 11, 15, 16));
  EXPECT_THAT(largest_and_loneliest(kinds, 3), ElementsAre(10, 11, 16));
  EXPECT_EQ(largest_and_loneliest(kinds, 7), kinds);
}

/// A document may hold any number of frames: nothing here goes down them by recursion.
TEST(StackTree, IsAsDeepAsItsStacks) {
  StackTree tree;
  std::vector<TreeCall> calls(300'000);
  for (std::size_t i = 0; i < calls.size(); ++i)
    calls[i] = {"down", "", static_cast<std::int64_t>(i) + 1};
  tree.add(0, calls);
  EXPECT_EQ(tree.size(), 300'001U);
  EXPECT_EQ(tree.kinds().size(), 1U);
}

} // namespace
} // namespace mqbridge::test
