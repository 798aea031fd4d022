// What a fetch of a debug DLL costs when its page is in the store: the worker's own callback, and
// a whole walk by Debian's own DLL over the receives of a live Open MPI process, worker process,
// results and repairs included. `cold` walks read the process's memory first (process_vm_readv, no
// stub).

#include "host/memory/page_cache.h"
#include "host/mpi/repairs.h"
#include "host/mqs/walk.h"
#include "host/mqs/worker/callbacks.h"
#include "host/mqs/worker_process.h"
#include "host/types/types_file.h"
#include "tests/mqs/process_memory.h"
#include "tests/support/child_process.h"
#include "tests/support/eventually.h"

#include <benchmark/benchmark.h>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace mqbridge;

/// A store of `pages` pages from `first` on, in which every word holds its own address.
std::unique_ptr<PageStore> address_store(std::uint64_t first, std::size_t pages) {
  auto store = PageStore::create().value();
  const auto room = store->prepare(first, pages);
  for (std::size_t at = 0; at < room.size(); at += 8) {
    const std::uint64_t address = first * PageStore::page_size + at;
    std::memcpy(room.data() + at, &address, 8);
  }
  for (std::size_t i = 0; i < pages; ++i)
    store->publish(first + i, PageStore::all_lines, PageStore::all_lines);
  return store;
}

/// 14 fetches an operation, as Open MPI's DLL makes them: from its request, some 770 bytes behind
/// the one before, and from the objects of its communicator and datatype. false: a wrong answer.
bool fetch_operations(std::uint64_t base, std::uint64_t pages, std::uint64_t operations) {
  constexpr std::uint64_t request_bytes = 768;
  const auto fetch = worker::process_callbacks.level_2.mqs_fetch_data_fp;
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < operations; ++i) {
    const std::uint64_t request = base + 4 * 4096 + i * request_bytes % ((pages - 5) * 4096);
    for (std::uint64_t field = 0; field < 14; ++field) {
      const std::uint64_t address =
          (field % 3 != 2 ? request : base + field % 4 * 4096) + field * 8;
      std::uint64_t value = 0;
      wrong |= static_cast<std::uint64_t>(fetch(nullptr, address, 8, &value)) | (value ^ address);
    }
  }
  return wrong == 0;
}

void fetch_callback(benchmark::State& state) {
  const auto pages = static_cast<std::uint64_t>(state.range(0));
  constexpr std::uint64_t first = 0x7f0000000, operations = 10'000;
  const auto store = address_store(first, pages);
  const auto shared = std::make_unique<wire::SharedState>();
  wire::StartMessage start;
  start.sizes[4] = 8;
  worker::Channel nobody(-1); // a miss would end the process
  worker::Outbox outbox(nobody, *shared);
  worker::Job job;
  worker::Host host{nobody, outbox, *shared, start, job};
  host.pages.attach(FileDescriptor(::dup(store->descriptor())));
  worker::serve(host);
  if (!fetch_operations(first * PageStore::page_size, pages, operations))
    return state.SkipWithError("the fetch gives back something else");
  for (auto _ : state)
    benchmark::DoNotOptimize(fetch_operations(first * PageStore::page_size, pages, operations));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(14 * operations));
}
BENCHMARK(fetch_callback)->Arg(16)->Arg(20'000);

/// many_receives.c: a rank of Open MPI with so many receives pending, and its images.
class Rank {
public:
  explicit Rank(std::int64_t receives)
      : process_({{MQBRIDGE_MANY_RECEIVES, files_.path().string(), std::to_string(receives)},
                  {{"OMPI_MCA_ess_singleton_isolated", "1"},
                   {"PMIX_MCA_gds", "hash"},
                   {"OMPI_MCA_pml", "ob1"},
                   {"OMPI_MCA_btl", "self"},
                   {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                   {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}}}) {
    const auto is_ready = [this] { return std::filesystem::exists(files_ / "ready.0"); };
    if (!test::eventually(std::chrono::minutes(2), is_ready))
      throw std::runtime_error("many_receives: " + process_.err());
    images = std::make_unique<ImageSet>(images_of_process(process_.pid()).value());
    images->add_type_source(open_types_file(MQBRIDGE_TYPES).value());
    memory = std::make_unique<ProcessMemory>(process_.pid());
    mpi = identify_mpi({*images, *memory, platform()}).value().value();
  }

  const Platform& platform() const { return images->images().front().file->platform(); }

private:
  test::TempDirectory files_;
  test::ChildProcess process_;

public:
  std::unique_ptr<ImageSet> images;
  std::unique_ptr<ProcessMemory> memory;
  MpiLibrary mpi;
};

Rank& rank_with(std::int64_t receives) {
  static std::map<std::int64_t, std::unique_ptr<Rank>> ranks;
  auto& rank = ranks[receives];
  if (!rank)
    rank = std::make_unique<Rank>(receives);
  return *rank;
}

/// The walk, and the repairs that still need the target.
WalkResult walk(Rank& rank, PageCache& cache, PageStore& store, WorkerProcess* started = nullptr) {
  WalkRequest request{
      MQBRIDGE_WORKER, rank.mpi.dll_name, {*rank.images, cache, rank.platform()}, "many_receives"};
  request.op_classes = {op_classes.begin(), op_classes.end()};
  request.store = &store;
  request.started = started;
  auto result = walk_queues(request);
  if (!result.failure)
    if (auto done = repair(result.communicators, rank.mpi, {*rank.images, cache, rank.platform()});
        !done)
      result.failure = done.error();
  return result;
}

/// Empty: every receive is there, once.
std::string fault_of(const WalkResult& result, std::int64_t receives) {
  if (result.failure)
    return result.failure->message;
  std::vector<bool> seen(static_cast<std::size_t>(receives));
  std::int64_t found = 0;
  for (const auto& communicator : result.communicators) {
    for (const auto& operation : communicator.queue(OpClass::receive).operations) {
      const std::int64_t tag = operation.tag.value.value_or(-1);
      if (tag < 0 || tag >= receives || operation.status != OpStatus::pending)
        return "a receive is wrong";
      found += seen[static_cast<std::size_t>(tag)] ? 0 : 1;
      seen[static_cast<std::size_t>(tag)] = true;
    }
  }
  return found == receives ? "" : std::to_string(found) + " receives are there";
}

/// What this process (RUSAGE_SELF) or the workers that have ended (_CHILDREN) have used.
struct Used {
  explicit Used(__rusage_who who) {
    rusage used{};
    ::getrusage(who, &used);
    const auto of = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    seconds = of(used.ru_utime) + of(used.ru_stime);
    faults = static_cast<double>(used.ru_minflt);
  }

  double seconds = 0;
  double faults = 0; ///< of 4 KiB of memory taken: what most of the system's time goes to
};

void walk_open_mpi(benchmark::State& state, bool cold) {
  const auto receives = state.range(0);
  Rank& rank = rank_with(receives);
  const auto store = PageStore::create().value();
  PageCache cache(*rank.memory, *store);
  const WalkResult checked = walk(rank, cache, *store);
  if (const auto fault = fault_of(checked, receives); !fault.empty())
    return state.SkipWithError(fault.c_str());
  const Used host_before(RUSAGE_SELF), worker_before(RUSAGE_CHILDREN);
  for (auto _ : state) {
    if (cold) {
      const auto fresh_store = PageStore::create().value();
      PageCache fresh(*rank.memory, *fresh_store);
      benchmark::DoNotOptimize(walk(rank, fresh, *fresh_store));
    } else {
      benchmark::DoNotOptimize(walk(rank, cache, *store));
    }
  }
  const auto walks = static_cast<double>(state.iterations());
  const Used host_after(RUSAGE_SELF), worker_after(RUSAGE_CHILDREN);
  const double host = (host_after.seconds - host_before.seconds) / walks;
  const double worker = (worker_after.seconds - worker_before.seconds) / walks;
  state.counters["host_cpu_ms"] = 1000 * host;
  state.counters["host_faults"] = (host_after.faults - host_before.faults) / walks;
  state.counters["worker_cpu_ms"] = 1000 * worker;
  state.counters["cpu_ns_per_operation"] = 1e9 * (host + worker) / static_cast<double>(receives);
  state.counters["worker_ns_per_fetch"] = 1e9 * worker / static_cast<double>(checked.fetches);
  state.counters["fetches"] = static_cast<double>(checked.fetches);
  state.counters["touched_mib"] = static_cast<double>(count_pages(store->touched())) / 256;
}
/// What remains of a walk's time when nothing has to be read: of 10 receives, with the worker
/// started meanwhile or beforehand.
void start_walk(benchmark::State& state, bool beforehand) {
  Rank& rank = rank_with(10);
  const auto store = PageStore::create().value();
  PageCache cache(*rank.memory, *store);
  if (const auto fault = fault_of(walk(rank, cache, *store), 10); !fault.empty())
    return state.SkipWithError(fault.c_str());
  for (auto _ : state) {
    std::optional<WorkerProcess> worker;
    if (beforehand) {
      state.PauseTiming();
      worker.emplace(WorkerProcess::start(MQBRIDGE_WORKER).value());
      std::this_thread::sleep_for(std::chrono::milliseconds(20)); // until it sleeps
      state.ResumeTiming();
    }
    benchmark::DoNotOptimize(walk(rank, cache, *store, worker ? &*worker : nullptr));
    state.PauseTiming();
    worker.reset();
    state.ResumeTiming();
  }
}
BENCHMARK_CAPTURE(start_walk, meanwhile, false)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(start_walk, beforehand, true)->Unit(benchmark::kMillisecond)->UseRealTime();

BENCHMARK_CAPTURE(walk_open_mpi, warm, false)
    ->RangeMultiplier(10)
    ->Range(1'000, 1'000'000)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(walk_open_mpi, cold, true)
    ->RangeMultiplier(10)
    ->Range(1'000, 1'000'000)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

} // namespace
