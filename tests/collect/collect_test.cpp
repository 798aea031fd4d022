// Commands that say what real collectors say, and commands that lie.

#include "host/collect/collect.h"
#include "host/collect/frames.h"
#include "host/document/json_report.h"
#include "host/document/outcome.h"
#include "tests/document/sample_dump.h"
#include "tests/support/temp_directory.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

namespace mqbridge::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr const char* version = "0.1.0";

/// What the collector of a node sends that has `ranks`.
std::vector<std::string> frames_of(const std::string& host, const std::vector<RankDump>& ranks) {
  std::vector<std::string> frames;
  FrameWriter writer([&](std::string_view frame) { frames.emplace_back(frame); });
  const Sink sink = [&](std::string_view text) { writer.write(text); };
  const JsonOptions options{.tool_version = version};
  Dump dump;
  dump.ranks = ranks;
  writer.hello(host, version);
  write_ndjson_header(dump, options, sink);
  for (const auto& rank : ranks)
    write_ndjson_rank(rank, options, sink);
  write_ndjson_summary(dump, sink);
  return frames;
}

std::string joined(const std::vector<std::string>& frames) {
  std::string text;
  for (const auto& frame : frames)
    text += frame;
  return text;
}

/// Of a ring of ranks those from `first` on, as processes of one node.
std::vector<RankDump> part_of_ring(int size, int first, int count) {
  const auto ring = ring_dump(size);
  std::vector<RankDump> ranks(ring.ranks.begin() + first, ring.ranks.begin() + first + count);
  for (auto& rank : ranks) {
    rank.pid = 1000 + *rank.rank;
    rank.endpoint = fmt::format("local:{}", *rank.pid);
    rank.world_size = size;
    rank.rank_source = RankSource::comm_world;
    rank.communicators[0].context = 0;
  }
  return ranks;
}

Node ssh_node(const std::string& name) {
  return {Launcher::ssh, name, {}};
}

class Collect : public testing::Test {
protected:
  Collect() {
    options_.version = version;
    options_.greeting = 1s;
    options_.silence = 500ms;
    options_.a_rank = 1200ms;
    options_.ending = 100ms;
  }

  /// A command that says `text`, and then does what the shell command says.
  std::vector<std::string> saying(const std::string& text, const std::string& then = "true") {
    const auto file = directory_ / fmt::format("said{}", files_++);
    std::ofstream(file, std::ios::binary) << text;
    return {"/bin/sh", "-c", fmt::format("cat {}; {}", file.string(), then)};
  }

  Collector honest(const std::string& node, const std::vector<RankDump>& ranks) {
    return {saying(joined(frames_of(node, ranks))), {ssh_node(node)}};
  }

  Dump collected(const std::vector<Collector>& collectors) {
    return collect(collectors, options_, {}, stop_.get_token());
  }

  TempDirectory directory_;
  int files_ = 0;
  CollectOptions options_;
  std::stop_source stop_;
};

std::vector<std::string> endpoints(const Dump& dump) {
  std::vector<std::string> all;
  for (const auto& rank : dump.ranks)
    all.push_back(rank.endpoint);
  return all;
}

void expect_a_whole_ring(const Dump& dump, int size) {
  ASSERT_EQ(dump.ranks.size(), static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) {
    const auto& rank = dump.ranks[static_cast<std::size_t>(i)];
    EXPECT_EQ(rank.rank, i);
    ASSERT_EQ(rank.communicators.size(), 1U);
    EXPECT_EQ(rank.communicators[0].key, "C1") << "the same one on all ranks";
    EXPECT_EQ(rank.communicators[0].queue(OpClass::receive).operations.size(), 1U);
  }
  EXPECT_EQ(dump.job_size, size);
}

TEST_F(Collect, RanksOfSeveralNodesAreOneDump) {
  const auto dump =
      collected({honest("n2", part_of_ring(4, 2, 2)), honest("n1", part_of_ring(4, 0, 2))});
  expect_a_whole_ring(dump, 4);
  EXPECT_THAT(dump.errors, IsEmpty());
  EXPECT_THAT(endpoints(dump),
              ElementsAre("ssh:n1:1000", "ssh:n1:1001", "ssh:n2:1002", "ssh:n2:1003"));
  EXPECT_EQ(dump.ranks[3].host, "n2");
  EXPECT_FALSE(dump.skew_ms) << "the nodes' clocks are not one";
  EXPECT_EQ(exit_status_of(outcome_of(dump)), 0);
}

TEST_F(Collect, WhatTheDllDoesNotSayComesFromTheNodes) {
  auto ranks = part_of_ring(2, 0, 2);
  ranks[1].mpi->thread_level = ThreadLevel::multiple;
  Communicator& all = ranks[1].communicators[0];
  all.counters = MessageCounters{65536, 12, {{0, 65'535, 7}}};
  Operation message = pending(0, -16, 64);
  message.source = OpSource::mqbridge;
  message.collective = Collective::barrier;
  message.protocol = Protocol::eager;
  all.queue(OpClass::unexpected) = available({message});
  all.queue(OpClass::receive).operations[0].waited =
      Waited{.group = 3, .count = 1, .mode = WaitMode::any, .unseen = true};
  const auto dump = collected({honest("n1", ranks)});
  expect_a_whole_ring(dump, 2);
  EXPECT_EQ(dump.ranks[1].mpi->thread_level, ThreadLevel::multiple);
  const Communicator& came = dump.ranks[1].communicators[0];
  ASSERT_TRUE(came.counters);
  EXPECT_EQ(came.counters->received, 12);
  EXPECT_EQ(came.counters->peers.at(0).sent, 65'535);
  const Operation& arrived = came.queue(OpClass::unexpected).operations[0];
  EXPECT_EQ(arrived.source, OpSource::mqbridge);
  EXPECT_EQ(arrived.collective, Collective::barrier);
  EXPECT_EQ(arrived.protocol, Protocol::eager);
  const Waited& waited = came.queue(OpClass::receive).operations[0].waited;
  EXPECT_EQ(waited.group, 3U);
  EXPECT_EQ(waited.count, 1U);
  EXPECT_EQ(waited.mode, WaitMode::any);
  EXPECT_TRUE(waited.unseen);
}

/// srun puts the task's number in front of each line, and mixes them.
class CollectBySrun : public Collect {
protected:
  static std::vector<std::string> labelled(int label, const std::vector<std::string>& frames) {
    std::vector<std::string> lines;
    for (const auto& frame : frames)
      lines.push_back(fmt::format("{:2}: {}", label, frame));
    return lines;
  }

  static std::string mixed(const std::vector<std::vector<std::string>>& streams) {
    std::string text;
    for (std::size_t at = 0; at < 1000; ++at)
      for (const auto& stream : streams)
        if (at < stream.size())
          text += stream[at];
    return text;
  }

  std::vector<Node> nodes_ = {{Launcher::srun, "n1", "77"}, {Launcher::srun, "n2", "77"}};
};

TEST_F(CollectBySrun, LinesAreTakenApartByTheirLabels) {
  const auto text = mixed({labelled(1, frames_of("n1", part_of_ring(4, 0, 2))),
                           labelled(0, frames_of("n2", part_of_ring(4, 2, 2)))});
  const auto dump = collected({{saying(text), nodes_}});
  expect_a_whole_ring(dump, 4);
  EXPECT_THAT(dump.errors, IsEmpty());
  EXPECT_THAT(endpoints(dump), ElementsAre("srun:77:n1:1000", "srun:77:n1:1001", "srun:77:n2:1002",
                                           "srun:77:n2:1003"));
}

TEST_F(CollectBySrun, ANodeThatNeverSpeaksIsNamedWithWhatSrunSaidOfIt) {
  const auto text = mixed({labelled(0, frames_of("n1", part_of_ring(4, 0, 2)))});
  const auto dump = collected(
      {{saying(text, "echo 'srun: error: Task launch failed on node n2: no route' >&2; exit 1"),
        nodes_}});
  ASSERT_EQ(dump.ranks.size(), 2U);
  ASSERT_EQ(dump.errors.size(), 1U);
  EXPECT_EQ(dump.errors[0].code, "collector.no_greeting");
  EXPECT_THAT(dump.errors[0].message, HasSubstr("n2: "));
  EXPECT_THAT(dump.errors[0].message, HasSubstr("Task launch failed on node n2: no route"));
}

TEST_F(CollectBySrun, ANodeThatWasNotAskedForAndOneThatIsThereTwiceAreNotBelieved) {
  const auto text = mixed({labelled(0, frames_of("n1", part_of_ring(4, 0, 1))),
                           labelled(1, frames_of("n9", part_of_ring(4, 1, 1))),
                           labelled(7, frames_of("n2", part_of_ring(4, 2, 1)))});
  auto dump = collected({{saying(text), nodes_}});
  EXPECT_THAT(endpoints(dump), ElementsAre("srun:77:n1:1000"));
  ASSERT_EQ(dump.errors.size(), 2U);
  EXPECT_THAT(dump.errors[0].message, HasSubstr("n2: "));
  EXPECT_THAT(dump.errors[1].message, HasSubstr("n9, which was not asked for"));

  dump = collected({{saying(mixed({labelled(0, frames_of("n1", part_of_ring(4, 0, 1))),
                                   labelled(1, frames_of("n1", part_of_ring(4, 1, 1)))})),
                     nodes_}});
  EXPECT_THAT(endpoints(dump), ElementsAre("srun:77:n1:1000"));
  EXPECT_THAT(dump.errors.back().message, HasSubstr("two collectors"));
}

struct Liar {
  const char* name;
  std::function<std::string()> text;
  std::string then;
  std::string code;
  std::string words;
  std::size_t ranks = 0; ///< of its two that count
};

void PrintTo(const Liar& liar, std::ostream* out) {
  *out << liar.name;
}

std::vector<std::string> two_ranks() {
  return frames_of("n2", part_of_ring(4, 2, 2));
}

std::string with_line(std::size_t at, const std::string& line) {
  auto frames = two_ranks();
  frames.insert(frames.begin() + static_cast<std::ptrdiff_t>(at), line + "\n");
  return joined(frames);
}

std::string replaced(std::string_view from, std::string_view to) {
  auto text = joined(two_ranks());
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// The frames without the one that has `part` in it.
std::string without(std::string_view part) {
  auto frames = two_ranks();
  std::erase_if(frames, [&](const auto& frame) { return frame.find(part) != std::string::npos; });
  return joined(frames);
}

/// Up to the first rank's end.
std::string cut_behind_a_rank() {
  const auto frames = two_ranks();
  std::string text;
  std::size_t lines = 0;
  for (const auto& frame : frames) {
    lines += frame.front() == '.' ? 1 : 0;
    text += frame;
    if (lines == 2)
      break;
  }
  return text;
}

class LyingCollector : public Collect, public testing::WithParamInterface<Liar> {};

TEST_P(LyingCollector, IsNamedAndCostsItsOwnRanksAtTheMost) {
  const auto& liar = GetParam();
  const auto begun = std::chrono::steady_clock::now();
  const auto dump = collected(
      {{saying(liar.text(), liar.then), {ssh_node("n2")}}, honest("n1", part_of_ring(4, 0, 2))});
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 8s);
  EXPECT_EQ(std::ranges::count(dump.ranks, std::optional<std::string>("n1"), &RankDump::host), 2);
  EXPECT_EQ(dump.ranks.size(), 2 + liar.ranks);
  ASSERT_FALSE(dump.errors.empty());
  EXPECT_LE(dump.errors.size(), 8U);
  EXPECT_EQ(dump.errors[0].code, liar.code);
  EXPECT_THAT(dump.errors[0].message, HasSubstr("n2: "));
  EXPECT_THAT(dump.errors[0].message, HasSubstr(liar.words));
  EXPECT_LT(dump.errors[0].message.size(), 1200U);
  EXPECT_FALSE(dump.errors[0].hint.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Who, LyingCollector,
    testing::Values(
        Liar{"IsNotThere", [] { return ""; }, "echo 'sh: mqbridge: not found' >&2; exit 127",
             "collector.no_greeting", "ended with status 127 before mqbridge spoke there; it said"},
        Liar{"SaysNothing", [] { return ""; }, "sleep 60", "collector.silent",
             "mqbridge has not spoken there for 1 s"},
        Liar{"IsAnotherProgram", [] { return "Welcome to n2!\n"; }, "exit 0",
             "collector.no_greeting", "Welcome to n2!"},
        Liar{"IsCutBeforeItsRanks", [] { return joined(two_ranks()).substr(0, 700); }, "kill -9 $$",
             "collector.cut", "0 of its ranks came, then /bin/sh was killed by signal 9"},
        Liar{"IsCutBehindARank", cut_behind_a_rank, "exit 3", "collector.cut",
             "1 of its ranks came, then /bin/sh ended with status 3", 1},
        Liar{"FallsSilent", cut_behind_a_rank, "sleep 60", "collector.silent",
             "of its ranks 1 had come", 1},
        Liar{"LivesForEver", cut_behind_a_rank, "while :; do echo -; sleep 0.1; done",
             "collector.silent", "no rank has come for 1 s", 1},
        Liar{"EndsForNobody", cut_behind_a_rank, "trap '' TERM HUP; while :; do sleep 60; done",
             "collector.silent", "nothing has come", 1},
        Liar{"SaysGarbage", [] { return with_line(1, "hello"); }, "true", "collector.protocol",
             "\"hello\" is not what a collector says"},
        Liar{"SaysGarbageForEver", [] { return ""; }, "yes", "collector.silent", "has not spoken"},
        Liar{"GreetsTwice", [] { return with_line(3, "#mqbridge 1 n2 0.1.0"); }, "true",
             "collector.protocol", "greets a second time"},
        Liar{"SpeaksAnotherProtocol", [] { return "#mqbridge 2 n2 9.9.9\n+\n"; }, "true",
             "collector.protocol", "another version's collector"},
        Liar{"HasLongLines", [] { return with_line(1, "+" + std::string(1'000'000, 'x')); }, "true",
             "collector.protocol", "longer than a collector's"},
        Liar{"IsOfAnotherVersion", [] { return replaced("n2 0.1.0", "n2 0.0.9"); }, "true",
             "collector.version", "version 0.0.9, and this one 0.1.0", 2},
        Liar{"SendsADamagedRank",
             [] { return replaced("\"status\":\"ok\"", "\"status\":\"fine\""); }, "true",
             "document.field", "status: a word that this version knows was expected", 1},
        Liar{"LosesAFrame", [] { return without("\"pid\":1002"); }, "true", "document.syntax",
             "line 2 of what it says: this is not JSON", 1},
        Liar{"CountsWrong", [] { return replaced("\"total\":2", "\"total\":3"); }, "true",
             "collector.protocol", "of its 3 ranks 2 have come", 2}),
    testing::PrintToStringParamName());

TEST_F(Collect, NoiseOfALoginIsPassedOver) {
  const auto text =
      "Welcome!\n+++ quota exceeded\n" + joined(frames_of("n1", part_of_ring(2, 0, 2)));
  const auto dump = collected({{saying(text), {ssh_node("n1")}}});
  EXPECT_EQ(dump.ranks.size(), 2U);
  EXPECT_THAT(dump.errors, IsEmpty());
}

TEST_F(Collect, ACommandThatCannotBeStartedIsAnErrorOfItsNodes) {
  const auto dump = collected({{{"/nowhere/srun"}, {ssh_node("n1"), ssh_node("n2")}}});
  ASSERT_EQ(dump.errors.size(), 1U);
  EXPECT_EQ(dump.errors[0].code, "command.start");
  EXPECT_THAT(dump.errors[0].message, HasSubstr("n[1-2]: cannot run /nowhere/srun"));
  EXPECT_EQ(exit_status_of(outcome_of(dump)), 3);
}

TEST_F(Collect, FaultsOfManyNodesAreOneError) {
  std::vector<Collector> collectors;
  for (int i = 0; i < 20; ++i)
    collectors.push_back({{"/bin/sh", "-c", "exit 255"}, {ssh_node(fmt::format("n{}", i))}});
  options_.at_once = 4;
  const auto dump = collected(collectors);
  ASSERT_EQ(dump.errors.size(), 1U);
  EXPECT_THAT(dump.errors[0].message, StartsWith("n[0-19]: /bin/sh ended with status 255"));
}

TEST_F(Collect, TwoNodesThatSayTheSameRankAreNamed) {
  auto others = part_of_ring(4, 0, 2);
  for (auto& rank : others)
    rank.pid = *rank.pid + 100;
  const auto dump = collected({honest("n1", part_of_ring(4, 0, 2)), honest("n2", others)});
  EXPECT_EQ(dump.ranks.size(), 4U) << "nobody knows which of them is right";
  ASSERT_EQ(dump.errors.size(), 2U);
  EXPECT_EQ(dump.errors[0].code, "collector.rank_twice");
  EXPECT_THAT(dump.errors[0].message, HasSubstr("ssh:n1:100"));
  EXPECT_THAT(dump.errors[0].message, HasSubstr("ssh:n2:110"));
}

/// Two names of one computer.
TEST_F(Collect, AProcessThatTwoNodesShowIsOneRank) {
  const auto said = joined(frames_of("n1", part_of_ring(2, 0, 2)));
  const auto dump =
      collected({{saying(said), {ssh_node("n1")}}, {saying(said), {ssh_node("n1.site")}}});
  ASSERT_EQ(dump.ranks.size(), 4U);
  const auto twice = [](const RankDump& rank) {
    return !rank.errors.empty() && rank.errors[0].code == "target.twice";
  };
  EXPECT_EQ(std::ranges::count_if(dump.ranks, twice), 2);
}

TEST_F(Collect, WhatOneNodeSendsTakesOnlyItsShare) {
  options_.most_bytes = 200'000;
  auto large = part_of_ring(4, 2, 2);
  large[0].communicators[0].queue(OpClass::receive) =
      available(std::vector<Operation>(2000, pending(1, 2, 3)));
  const auto dump = collected({honest("n2", large), honest("n1", part_of_ring(4, 0, 2))});
  EXPECT_EQ(dump.ranks.size(), 2U);
  ASSERT_FALSE(dump.errors.empty());
  EXPECT_EQ(dump.errors[0].code, "collector.limit");
  EXPECT_THAT(dump.errors[0].message, HasSubstr("n2: "));
}

TEST_F(Collect, InterruptedTheCollectorsAreAskedToEndAndWhatTheySayThenCounts) {
  const auto frames = frames_of("n1", part_of_ring(2, 0, 2));
  const std::vector<std::string> first(frames.begin(), frames.begin() + 1);
  const std::vector<std::string> rest(frames.begin() + 1, frames.end());
  const auto file = directory_ / "rest";
  std::ofstream(file, std::ios::binary) << joined(rest);
  options_.ending = 5s;
  const std::jthread interrupt([&] {
    std::this_thread::sleep_for(200ms);
    stop_.request_stop();
  });
  const auto dump = collected(
      {{saying(joined(first), "cat >/dev/null; cat " + file.string()), {ssh_node("n1")}}});
  EXPECT_EQ(dump.ranks.size(), 2U);
  EXPECT_THAT(dump.errors, IsEmpty());
}

/// It comes back when it is asked to end: its ranks count, and so does what was said of it.
TEST_F(Collect, RanksOfANodeThatWasGivenUpCountAndItStaysNamed) {
  const auto frames = frames_of("n1", part_of_ring(2, 0, 2));
  const std::vector<std::string> first(frames.begin(), frames.begin() + 1);
  const std::vector<std::string> rest(frames.begin() + 1, frames.end());
  const auto file = directory_ / "late";
  std::ofstream(file, std::ios::binary) << joined(rest);
  options_.ending = 5s;
  const auto dump = collected(
      {{saying(joined(first), "cat >/dev/null; cat " + file.string()), {ssh_node("n1")}}});
  EXPECT_EQ(dump.ranks.size(), 2U);
  ASSERT_EQ(dump.errors.size(), 1U);
  EXPECT_EQ(dump.errors[0].code, "collector.silent");
}

TEST_F(CollectBySrun, WordsOfANodeWhoseNameIsLongerAreNotItsOwn) {
  const auto text = mixed({labelled(0, frames_of("n1", part_of_ring(4, 0, 2)))});
  const auto dump = collected({{saying(text, "echo 'srun: error: n27: went away' >&2;"
                                             "echo 'srun: error: n2: no route' >&2; exit 1"),
                                nodes_}});
  ASSERT_EQ(dump.errors.size(), 1U);
  EXPECT_THAT(dump.errors[0].message, HasSubstr("n2: no route"));
  EXPECT_THAT(dump.errors[0].message, testing::Not(HasSubstr("n27")));
}

TEST_F(Collect, InterruptedNodesWhoseTurnHasNotComeAreNotStarted) {
  stop_.request_stop();
  const auto mark = directory_ / "started";
  const auto dump = collected({{{"/bin/sh", "-c", "touch " + mark.string()}, {ssh_node("n1")}}});
  EXPECT_FALSE(std::filesystem::exists(mark));
  ASSERT_EQ(dump.errors.size(), 1U);
  EXPECT_EQ(dump.errors[0].code, "interrupted");
}

} // namespace
} // namespace mqbridge::test
