// collect_bench: the cost of putting together the output of collectors. Each node's stream is
// written beforehand, and one command prints them all as srun does: each line with its task number.

#include "host/collect/collect.h"
#include "host/collect/frames.h"
#include "host/document/json_report.h"
#include "host/document/outcome.h"
#include "tests/document/sample_dump.h"
#include "tests/support/temp_directory.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <fstream>

namespace {

using namespace mqbridge;

constexpr int ranks_a_node = 64;
constexpr const char* version = "bench";

/// One rank of a job in which each waits for the one before it.
RankDump rank_of(int number, int size) {
  auto rank = test::complete_rank(number);
  rank.rank_source = RankSource::comm_world;
  rank.world_size = size;
  rank.pid = 1000 + number;
  rank.stopped_before_us = false;
  auto world = test::world(number, size);
  world.context = 0;
  world.queue(OpClass::receive) =
      test::available({test::pending((number + size - 1) % size, 17, 8)});
  world.queue(OpClass::send) = test::available({test::pending((number + 1) % size, 17, 8)});
  rank.communicators = {world};
  return rank;
}

void write_stream(int node, int size, std::ofstream& file) {
  FrameWriter frames([&](std::string_view frame) { file << node << ": " << frame; });
  const Sink sink = [&](std::string_view text) { frames.write(text); };
  const JsonOptions json{.tool_version = version};
  Dump dump;
  frames.hello(fmt::format("n{}", node), version);
  write_ndjson_header(dump, json, sink);
  for (int place = 0; place < ranks_a_node; ++place) {
    dump.ranks.push_back(rank_of(node * ranks_a_node + place, size));
    write_ndjson_rank(dump.ranks.back(), json, sink);
  }
  write_ndjson_summary(dump, sink);
}

/// Empty: nothing is wrong.
std::string wrong_with(const Dump& dump, int size) {
  if (exit_status_of(outcome_of(dump)) != 0)
    return dump.errors.empty() ? "a rank is not complete" : dump.errors.front().message;
  if (dump.ranks.size() != static_cast<std::size_t>(size) || dump.job_size != size)
    return fmt::format("{} ranks of {}", dump.ranks.size(), size);
  for (int number = 0; number < size; ++number) {
    const auto& rank = dump.ranks[static_cast<std::size_t>(number)];
    if (rank.rank != number || rank.communicators.front().key != "C1")
      return fmt::format("rank {} is out of order, or in another communicator", number);
  }
  return "";
}

void merge(benchmark::State& state) {
  const int nodes = static_cast<int>(state.range(0));
  const int size = nodes * ranks_a_node;
  const test::TempDirectory directory;
  const auto path = directory / "streams";
  Collector collector{{"cat", path.string()}, {}};
  {
    std::ofstream file(path, std::ios::binary);
    for (int node = 0; node < nodes; ++node) {
      collector.nodes.push_back({Launcher::srun, fmt::format("n{}", node), "1"});
      write_stream(node, size, file);
    }
  }
  CollectOptions options;
  options.version = version;
  for (auto _ : state) {
    const auto dump = collect({collector}, options, {}, {});
    if (const auto wrong = wrong_with(dump, size); !wrong.empty())
      return state.SkipWithError(wrong.c_str());
  }
  state.SetItemsProcessed(state.iterations() * size);
  state.SetBytesProcessed(state.iterations() *
                          static_cast<std::int64_t>(std::filesystem::file_size(path)));
}

BENCHMARK(merge)->Arg(16)->Arg(64)->Arg(250)->Arg(1000)->Iterations(3)->UseRealTime()->Unit(
    benchmark::kMillisecond);

} // namespace
