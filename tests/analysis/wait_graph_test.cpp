#include "host/analysis/wait_graph.h"

#include <gtest/gtest.h>

namespace mqbridge {
namespace {

using Mode = WaitGraph::Mode;

std::vector<bool> of(const std::vector<bool>& all, const std::vector<WaitNode>& nodes) {
  std::vector<bool> some;
  for (const WaitNode node : nodes)
    some.push_back(all[node]);
  return some;
}

struct Ring {
  WaitGraph graph;
  std::vector<WaitNode> nodes;

  explicit Ring(std::size_t count, Mode mode = Mode::all) {
    for (std::size_t i = 0; i < count; ++i)
      nodes.push_back(graph.add(mode));
    for (std::size_t i = 0; i < count; ++i)
      graph.wait_for(nodes[i], nodes[(i + 1) % count]);
  }
};

TEST(WaitGraph, WaitsInACircleDoNotEnd) {
  Ring ring(3);
  ring.graph.close();
  EXPECT_EQ(of(ring.graph.running({}), ring.nodes), std::vector<bool>(3, false));
}

TEST(WaitGraph, OneThatGoesOnFreesAllBehindIt) {
  Ring ring(3, Mode::any);
  ring.graph.wait_for(ring.nodes[1], WaitGraph::satisfied);
  ring.graph.close();
  EXPECT_EQ(of(ring.graph.running({}), ring.nodes), std::vector<bool>(3, true));
}

TEST(WaitGraph, AllNeedsEachAndAnyNeedsOne) {
  WaitGraph graph;
  const WaitNode all = graph.add(Mode::all);
  const WaitNode any = graph.add(Mode::any);
  for (const WaitNode node : {all, any}) {
    graph.wait_for(node, WaitGraph::satisfied);
    graph.wait_for(node, WaitGraph::never);
  }
  graph.close();
  EXPECT_EQ(of(graph.running({}), {all, any}), (std::vector<bool>{false, true}));
}

TEST(WaitGraph, WhoWaitsForNothingGoesOnAndWhoNeedsOneOfNoneDoesNot) {
  WaitGraph graph;
  const WaitNode all = graph.add(Mode::all);
  const WaitNode any = graph.add(Mode::any);
  graph.close();
  EXPECT_EQ(of(graph.running({}), {all, any}), (std::vector<bool>{true, false}));
}

TEST(WaitGraph, AssumptionsDecideAboutWhatIsNotKnown) {
  WaitGraph graph;
  const WaitNode unknown = graph.add(Mode::all);
  const WaitNode guessed = graph.add(Mode::all);
  const WaitNode unproven = graph.add(Mode::all);
  graph.wait_for(unknown, WaitGraph::unknown);
  graph.wait_for(guessed, WaitGraph::guessed);
  graph.wait_for(unproven, WaitGraph::unproven);
  graph.close();
  const std::vector<WaitNode> nodes{unknown, guessed, unproven};
  EXPECT_EQ(of(graph.running({}), nodes), (std::vector<bool>{true, false, false}));
  EXPECT_EQ(of(graph.running({.unknown_runs = false}), nodes), std::vector<bool>(3, false));
  EXPECT_EQ(of(graph.running({.guessed_runs = true, .unproven_runs = true}), nodes),
            std::vector<bool>(3, true));
}

TEST(WaitGraph, WhoIsFoundRunningFreesOthersAndNotItself) {
  Ring ring(2);
  ring.graph.close();
  EXPECT_EQ(of(ring.graph.running({}, {ring.nodes[0]}), ring.nodes),
            (std::vector<bool>{true, true}));
  WaitGraph graph;
  const WaitNode lost = graph.add(Mode::all);
  const WaitNode behind = graph.add(Mode::all);
  graph.wait_for(lost, WaitGraph::never);
  graph.wait_for(behind, lost);
  graph.close();
  EXPECT_EQ(of(graph.running({}, {lost, behind}), {lost, behind}),
            (std::vector<bool>{false, true}));
}

TEST(WaitGraph, ASinkIsAComponentThatWaitsForNoOther) {
  Ring ring(3);
  const WaitNode behind = ring.graph.add(Mode::all);
  ring.graph.wait_for(behind, ring.nodes[0]);
  ring.graph.close();
  const auto components =
      ring.graph.components(ring.graph.running({}), std::vector<bool>(ring.graph.size(), false));
  EXPECT_EQ(components.of[ring.nodes[0]], components.of[ring.nodes[2]]);
  EXPECT_TRUE(components.sink[components.of[ring.nodes[0]]]);
  EXPECT_FALSE(components.sink[components.of[behind]]);
}

TEST(WaitGraph, WhoIsAloneIsASinkWhateverItWaitsForBesides) {
  Ring ring(2);
  ring.graph.close();
  std::vector<bool> alone(ring.graph.size(), false);
  alone[ring.nodes[1]] = true;
  const auto components = ring.graph.components(ring.graph.running({}), alone);
  EXPECT_FALSE(components.sink[components.of[ring.nodes[0]]]);
  EXPECT_TRUE(components.sink[components.of[ring.nodes[1]]]);
}

TEST(WaitGraph, ALongChainTakesNoStack) {
  constexpr std::size_t length = 1'000'000;
  Ring ring(length);
  ring.graph.close();
  const auto components =
      ring.graph.components(ring.graph.running({}), std::vector<bool>(ring.graph.size(), false));
  EXPECT_EQ(components.sink.size(), 1U);
}

TEST(WaitGraph, KnowsWhoWaitsForANodeInAnyNumberOfSteps) {
  WaitGraph graph;
  const WaitNode first = graph.add(Mode::all);
  const WaitNode second = graph.add(Mode::all);
  const WaitNode other = graph.add(Mode::all);
  graph.wait_for(second, first);
  graph.close();
  EXPECT_EQ(of(graph.waiting_for({first}), {first, second, other}),
            (std::vector<bool>{true, true, false}));
}

} // namespace
} // namespace mqbridge
