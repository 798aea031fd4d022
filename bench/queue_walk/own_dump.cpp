#include "bench/queue_walk/own_dump.h"

#include "bench/peers/answer_checksum.h"
#include "bench/queue_walk/resources.h"
#include "bench/queue_walk/stage.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <memory>
#include <stdexcept>

namespace mqbridge::bench {
namespace {

using namespace std::chrono_literals;

DumpOptions options_for(const Stage& stage, CacheMode cache) {
  DumpOptions options;
  options.cache = cache;
  options.program_directory = MQBRIDGE_BINARY_DIRECTORY;
  options.pack_directories = {options.program_directory / "packs"};
  options.dll.own_directories = {options.program_directory};
  options.fetch.mode = FetchMode::never;
  options.silence_timeout = 120s; // a serial line needs its time for one reply
  stage.complete(options);
  return options;
}

std::string why_incomplete(const RankDump& rank) {
  const auto error =
      std::find_if(rank.errors.begin(), rank.errors.end(),
                   [](const RankError& each) { return each.level == RankError::Level::error; });
  if (error == rank.errors.end())
    return fmt::format("{} is not complete", rank.endpoint);
  return fmt::format("{}: {}: {}", rank.endpoint, error->code, error->message);
}

/// Messages have the length that many_messages gives them by their tags.
bool as_posted(const Operation& operation, OpClass op_class, std::uint64_t tag, const Cell& cell) {
  if (operation.status != OpStatus::pending)
    return false;
  return cell.filler != Filler::unexpected ||
         (op_class == OpClass::unexpected &&
          operation.length.value.value_or(-1) == static_cast<std::int64_t>(tag % 300));
}

/// The operations of a rank must be those that were posted: one with each tag, all pending.
Result<void> check(const RankDump& rank, const Cell& cell) {
  if (rank.status != RankStatus::ok)
    return fail("bench.answer", why_incomplete(rank));
  std::vector<bool> seen(cell.operations);
  std::uint64_t found = 0;
  for (const auto& communicator : rank.communicators)
    for (const auto op_class : op_classes)
      for (const auto& operation : communicator.queue(op_class).operations) {
        const auto tag = static_cast<std::uint64_t>(operation.tag.value.value_or(-1));
        if (tag >= seen.size() || seen[tag] || !as_posted(operation, op_class, tag, cell))
          return fail("bench.answer", fmt::format("{} has an operation that nobody posted, "
                                                  "with tag {}",
                                                  rank.endpoint, tag));
        seen[tag] = true;
        ++found;
      }
  if (found != cell.operations)
    return fail("bench.answer",
                fmt::format("{} has {} operations of {}", rank.endpoint, found, cell.operations));
  return {};
}

AnswerKey key_of(const RankDump& rank) {
  peers::AnswerChecksum sum;
  for (const auto& communicator : rank.communicators)
    for (const auto op_class : op_classes) {
      sum.begin_queue(static_cast<std::uint8_t>(op_class));
      for (const auto& operation : communicator.queue(op_class).operations)
        sum.add(operation.raw.buffer, operation.raw.desired_tag, operation.tag.any);
    }
  const auto operations = sum.operations();
  return {operations, sum.text()};
}

const Phase* phase_of(const RankDump& rank, PhaseName name) {
  const auto& all = rank.statistics.phases;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Phase& phase) { return phase.name == name; });
  return found == all.end() ? nullptr : &*found;
}

/// Several ranks walk as long as the slowest, and cost as much as all.
void add(Measured& cost, const RankDump& rank) {
  const auto& statistics = rank.statistics;
  cost.round_trips = std::max(cost.round_trips, statistics.round_trips);
  cost.bytes += statistics.bytes_received;
  cost.requests = cost.requests.value_or(0) + statistics.requests;
  if (statistics.pages_touched)
    cost.pages_touched = cost.pages_touched.value_or(0) + *statistics.pages_touched;
  if (statistics.pages_read)
    cost.pages_read = cost.pages_read.value_or(0) + *statistics.pages_read;
  if (rank.stopped_ms)
    cost.stopped_s = std::max(cost.stopped_s.value_or(0), *rank.stopped_ms / 1e3);
  if (const Phase* walk = phase_of(rank, PhaseName::walk)) {
    cost.walk_s = std::max(cost.walk_s, walk->elapsed_ms / 1e3);
    cost.walk_round_trips = std::max(cost.walk_round_trips.value_or(0), walk->round_trips);
    cost.walk_bytes = cost.walk_bytes.value_or(0) + walk->bytes;
  }
}

Result<Attempt> attempt(Stage& stage, const Cell& cell, const DumpOptions& options) {
  stage.open(cell.link);
  const auto targets = stage.targets();
  Resources resources(stage.links());
  const auto stubs = stage.stub_cpu();
  const auto begun = Clock::now();
  const auto dump = take_dump(targets, options, {}, {});
  const std::chrono::duration<double> wall = Clock::now() - begun;
  const auto used = resources.used();
  if (!dump)
    return fail(dump.error().code, dump.error().message, dump.error().hint);
  Attempt made;
  for (const auto& rank : dump->ranks) {
    if (auto checked = check(rank, cell); !checked)
      return forward(std::move(checked));
    add(made.cost, rank);
  }
  // The link made its connection at once: adds the round trip that a real link takes for it.
  made.cost.wall_s = (wall + std::chrono::duration<double>(cell.link.round_trip)).count();
  made.cost.cpu_s = used.cpu_s;
  if (const auto after = stage.stub_cpu(); stubs && after)
    made.cost.far_cpu_s = *after - *stubs + used.links_s;
  made.cost.peak_bytes = used.peak_bytes;
  made.answer = key_of(dump->ranks.front());
  return made;
}

void dump_unmeasured(Stage& stage, const Cell& cell) {
  Cell near = cell;
  near.link = {};
  const auto dumped = attempt(stage, near, options_for(stage, CacheMode::full));
  if (!dumped)
    throw std::runtime_error(dumped.error().message);
}

} // namespace

std::string OwnDump::name() const {
  constexpr std::array caches = {"none", "page", "full"};
  constexpr std::array states = {"cold", "warm", "second"};
  return fmt::format("mqbridge/cache:{}/state:{}", caches[static_cast<std::size_t>(cache_)],
                     states[static_cast<std::size_t>(knowledge_)]);
}

void OwnDump::prepare(Stage& stage, const Cell& cell) const {
  const auto dump_another = [&] {
    Cell other = cell;
    other.operations = 10;
    other.ranks = 1;
    Stage others(other);
    dump_unmeasured(others, other);
  };
  const auto program = fmt::format("{} {}", name_of(cell.filler), cell.architecture);
  const auto process =
      cell.emulated() ? cell.name() : fmt::format("{} {}", cell.target_name(), stage.pid());
  states_.set(knowledge_, program, process, dump_another, [&] { dump_unmeasured(stage, cell); });
}

Result<Attempt> OwnDump::run(Stage& stage, const Cell& cell, rsp::Trace* trace) const {
  prepare(stage, cell);
  auto options = options_for(stage, cache_);
  options.trace = trace;
  return attempt(stage, cell, options);
}

std::vector<Contender> own_contenders(CacheStates& states) {
  std::vector<Contender> all;
  const auto add_one = [&](CacheMode cache, Knowledge knowledge,
                           std::function<bool(const Cell&)> applies) {
    const OwnDump own(cache, knowledge, states);
    all.push_back({own.name(), std::move(applies),
                   [own](Stage& stage, const Cell& cell) { return own.run(stage, cell); }});
  };
  const auto everywhere = [](const Cell&) { return true; };
  const auto alone = [](const Cell& cell) { return cell.ranks == 1; };
  // An emulated process has gone when its first dump is over.
  const auto lasting = [](const Cell& cell) { return cell.ranks == 1 && !cell.emulated(); };
  // Of an emulated Open MPI no smaller cell says that it would take minutes.
  add_one(CacheMode::none, Knowledge::build, [](const Cell& cell) {
    return cell.ranks == 1 && (!cell.emulated() || cell.filler == Filler::recorder);
  });
  add_one(CacheMode::page, Knowledge::build, alone);
  add_one(CacheMode::full, Knowledge::nothing, alone);
  add_one(CacheMode::full, Knowledge::build, everywhere);
  add_one(CacheMode::full, Knowledge::process, lasting);
  return all;
}

} // namespace mqbridge::bench
