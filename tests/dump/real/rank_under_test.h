#pragma once

#include "bench/delaying_link/delaying_link.h"
#include "host/dump/rank/rank_session.h"
#include "host/dump/replay_records.h"
#include "tests/builders/private_cache.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/support/gdb_server.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge::test {

/// One of the inferiors with receives pending, a real gdbserver on it, and a link between. Throws
/// std::runtime_error if it does not come to be.
class RankUnderTest {
public:
  /// `arguments`: of many_receives (Open MPI) or recorder_list. For servers that attach.
  RankUnderTest(const std::string& program, const std::vector<std::string>& arguments,
                ServerMode mode, const bench::LinkSpec& link = {});

  TargetSpec target() const;
  bench::DelayingLink& link() { return *link_; }
  pid_t pid() const { return process_.pid(); }
  /// Whether it comes to its normal end once it may.
  bool finishes() { return process_.finish().empty(); }

private:
  e2e::SingleProcess process_;
  GdbServer server_;
  std::unique_ptr<bench::DelayingLink> link_;
};

/// What the ranks of one dump share; what is kept from one dump to the next is kept as long as it
/// lives.
class DumpTools {
public:
  DumpTools();

  SharedTools tools() { return {options, files_, fetcher_, *guardian_, *launchers, &replays_}; }
  ReplayRecords& replays() { return replays_; }
  const PrivateCache& cache() const { return cache_; }

  DumpOptions options; ///< may be changed between dumps
  std::optional<Launchers> launchers{std::in_place, LaunchOptions{}};

private:
  PrivateCache cache_;
  ElfCache files_;
  FileFetcher fetcher_;
  std::unique_ptr<rsp::Guardian> guardian_;
  ReplayRecords replays_;
};

/// One dump of it, from connect to detach.
RankOutcome dump(const RankUnderTest& rank, DumpTools& tools, const RankObserver& observer = {});

/// Receives listed, whatever their communicator.
std::size_t receives_of(const RankDump& dump);

/// nullptr: the dump did not come so far.
const Phase* find_phase(const RankDump& dump, PhaseName name);

/// "code: message" of each error, for failures.
std::string errors_of(const RankDump& dump);

} // namespace mqbridge::test
