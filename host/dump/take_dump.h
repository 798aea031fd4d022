#pragma once

#include "host/dump/target/target_spec.h"
#include "host/dump/values/document.h"
#include "host/files/fetch_options.h"
#include "host/files/file_finder.h"
#include "host/launch/launch_options.h"
#include "host/memory/cache_mode.h"
#include "host/mqs/dll_policy.h"
#include "host/mqs/handles.h"
#include "host/process/given_image.h"
#include "rsp/commands/run_until.h"
#include "rsp/guardian/guardian.h"
#include "rsp/packet/trace.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

namespace mqbridge {

class Workshop;

struct DumpOptions {
  FilePaths paths;
  std::vector<std::filesystem::path> types_files; ///< --types
  std::vector<GivenImage> images;                 ///< --image; empty: the link map is read
  FetchOptions fetch;
  DllPolicy dll;
  LaunchOptions launch;
  std::filesystem::path program_directory; ///< holds mqbridge-worker and mqbridge-guardian
  std::vector<std::filesystem::path> pack_directories; ///< searched in order for *.types
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds silence_timeout{10'000};
  std::optional<std::chrono::milliseconds> max_stop;
  bool queues = true;     ///< false (`mqbridge stacks`): no debug DLL, no walk
  bool stacks = true;     ///< false (--no-stacks): neither registers nor stacks are read
  bool python = true;     ///< false (--no-python): of stacks in C alone
  bool variables = false; ///< `mqbridge vars`
  std::optional<HandleQuestion> handles;     ///< `mqbridge handles`
  bool consistent = false;                   ///< --consistent: all stopped, then read
  std::optional<rsp::RunUntil> run_until;    ///< --run-until
  std::uint64_t max_operations = 10'000'000; ///< per queue
  /// Limits for one rank: memory for its results, and the time of its walk. Both are far beyond
  /// what a million operations cost over a link of some Mbit/s.
  std::uint64_t max_bytes = std::uint64_t{2} << 30;
  std::chrono::milliseconds max_walk = std::chrono::hours(1);
  CacheMode cache = CacheMode::full;
  std::size_t jobs = 64; ///< ranks at once; they mostly wait for their stubs
  Filters filters;
  bool sandbox = true; ///< --no-sandbox: foreign code and files without system call filters
  rsp::Trace* trace = nullptr;
  rsp::HoldGate* holds = nullptr; ///< counts held targets; not owned; null: nobody asks for it

  /// Stacks exist in any process; everything else belongs to an MPI.
  bool asks_mpi() const { return queues || variables || handles; }

  // In a file of their own, as they are long and would be compiled wherever one is used.
  DumpOptions();
  DumpOptions(const DumpOptions&);
  DumpOptions(DumpOptions&&) noexcept;
  DumpOptions& operator=(const DumpOptions&);
  DumpOptions& operator=(DumpOptions&&) noexcept;
  ~DumpOptions();
};

/// Called on the caller's thread and on others. Calls of rank_done come one at a time, so do those
/// of warning; the others come from all ranks' threads at once.
struct DumpObserver {
  /// Called as each rank completes: a line of NDJSON (docs/reference/output.md). An exception that
  /// it throws comes out of take_dump() once no target is stopped any more.
  std::function<void(const RankDump&)> rank_done;
  /// While the target is held: must not block. The phase "connect" ends when it is reached.
  std::function<void(std::size_t index, std::string_view phase, std::uint64_t operations)> progress;
  /// A warning that may be a reason to interrupt the dump, while a target is about to be held for
  /// long (stop.long; it is in the rank's errors, too): must not block.
  std::function<void(std::size_t index, const Error& warning)> warning = {};
  /// The target is released; before rank_done, and must not block either.
  std::function<void(std::size_t index, RankStatus status)> ended = {};
};

/// Dumps every target: concurrently, those behind one server one after the other. When it returns
/// no target is stopped any more, also after `stop` was requested (then the ranks not finished have
/// status failed or partial, code "interrupted"). Never fails as a whole: each rank carries its own
/// errors. Ranks come ordered by rank, keys (C1, ...) set.
Dump take_dump(std::span<const TargetSpec> targets, Workshop& workshop,
               const DumpObserver& observer, std::stop_token stop);

/// The same with a workshop for this dump alone. Error: that of Workshop::open().
Result<Dump> take_dump(std::span<const TargetSpec> targets, const DumpOptions& options,
                       const DumpObserver& observer, std::stop_token stop);

} // namespace mqbridge
