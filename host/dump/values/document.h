#pragma once

#include "host/dump/values/analysis.h"
#include "host/dump/values/filters.h"
#include "host/dump/values/variable_findings.h"
#include "host/memory/platform.h"
#include "host/mpi/mpi_library.h"
#include "host/mpi/variables.h"
#include "host/mqs/handles.h"
#include "host/stacks/stack.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

// One dump as docs/reference/dump.schema.json has it, from the rank upwards. nullopt means not
// known.

enum class RankStatus : std::uint8_t { ok, partial, failed };
enum class RankSource : std::uint8_t { unknown, given, proctable, environ, comm_world };
enum class TypesMatch : std::uint8_t { unknown, exact, version, none };

struct RankError {
  enum class Level : std::uint8_t { error, warning };
  std::string code;
  Level level = Level::error;
  std::string message;
  std::string hint; ///< empty: none
};

struct DllInfo {
  std::string path;
  std::string version;
  int compatibility = 0;
  std::string provider; ///< openmpi, mpich, recorder, other
};

struct MpiInfo {
  std::string name; ///< "Open MPI"
  std::optional<std::string> version;
  std::optional<std::string> build_id;
  std::optional<std::string> transport; ///< ob1, ucx, ...
  MpiState state = MpiState::unknown;
  std::optional<std::string> types_source; ///< dwarf, pack, carrier or the file's name
  TypesMatch types_match = TypesMatch::unknown;
  ThreadLevel thread_level = ThreadLevel::unknown;
  /// The process has made requests that neither the queues nor the messages inside of collectives
  /// show.
  std::optional<bool> unlisted_requests;
  /// Another number once the process has called a function of the MPI that waits or polls.
  std::optional<std::int64_t> progress;
  /// Where no messages are counted: another number once a wait of the process has ended.
  std::optional<std::int64_t> waits_state = {};
  /// Whether this MPI is known to count its waits there: the same number in two looks shows that
  /// none has ended.
  std::optional<bool> waits_counted = {};
};

enum class PhaseName : std::uint8_t { connect, attach, images, types, walk, detach, stacks };

struct Phase {
  PhaseName name = PhaseName::connect;
  double elapsed_ms = 0;
  std::uint64_t round_trips = 0;
  std::uint64_t bytes = 0; ///< received
};

struct Statistics {
  std::uint64_t round_trips = 0;
  std::uint64_t requests = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t fetches = 0;
  std::uint64_t fetch_bytes = 0;
  double elapsed_ms = 0;
  std::optional<std::uint64_t> pages_touched;
  std::optional<std::uint64_t> pages_read;
  std::optional<double> rtt_us; ///< of a short request, waiting for the stub included
  std::optional<double>
      bandwidth_bps; ///< memory contents that the stub sends in bulk, bits a second
  std::vector<Phase> phases;
};

struct RankDump {
  std::optional<int> rank; ///< in its job; a place among the targets is none
  RankSource rank_source = RankSource::unknown;
  std::string endpoint;
  std::optional<std::string> host;
  std::optional<std::int64_t> pid;
  std::optional<std::string> executable;
  std::optional<Platform> platform;
  RankStatus status = RankStatus::failed;
  std::vector<RankError> errors;
  std::optional<DllInfo> dll;
  std::optional<MpiInfo> mpi;
  std::vector<Communicator> communicators;
  std::vector<Joint> joints; ///< where its recorder saw it meet processes of other jobs
  std::optional<double> stopped_ms;
  std::optional<std::string> stopped_at; ///< RFC 3339
  bool stopped_before_us = false;
  std::optional<std::int64_t> world_rank;
  std::optional<std::int64_t> world_size;
  std::optional<std::string> job_id;
  std::optional<std::string> process_state; ///< as ps shows it, before we stopped it: R, S, D, T, t
  std::optional<std::vector<BlockedCall>>
      blocked_in; ///< of application threads; nullopt: not known
  std::optional<std::vector<ThreadStack>> stacks;
  std::optional<ProcessVariables> variables; ///< nullopt: not asked for, or not read
  std::optional<ProcessHandles> handles;     ///< nullopt: not asked for, or not read
  Statistics statistics;

  // In a file of their own, as they are long and would be compiled wherever one is used.
  RankDump();
  RankDump(const RankDump&);
  RankDump(RankDump&&) noexcept;
  RankDump& operator=(const RankDump&);
  RankDump& operator=(RankDump&&) noexcept;
  ~RankDump();
};

/// What texts call a job (RankDump::job_id): "2", where it is "2:lattice".
inline std::string_view job_number(std::string_view job_id) {
  return job_id.substr(0, job_id.find(':'));
}

/// Whether no queue of the rank was read, whatever the reason.
bool has_no_queue(const RankDump& rank);

/// An earlier look at the same ranks.
struct EarlierLook {
  std::string taken_at;        ///< RFC 3339
  std::vector<RankDump> ranks; ///< without statistics
};

struct Dump {
  std::string taken_at; ///< RFC 3339
  std::optional<std::int64_t> job_size;
  std::string job_source; ///< "targets"
  std::optional<double> skew_ms;
  std::optional<double> stalled_ms;
  std::vector<RankDump> ranks; ///< by job, then by rank; last those whose rank is not known
  Filters filters;
  std::vector<RankError> errors;    ///< of no rank: a node that could not be reached
  std::vector<EarlierLook> earlier; ///< oldest first
  std::optional<Analysis> analysis; ///< nullopt: none was asked for
  std::optional<std::vector<JobVariableDifferences>> variable_differences = {}; ///< vars --diff
  std::optional<UnexpectedLengths> unexpected_lengths = {}; ///< vars --unexpected

  // In a file of their own, as they are long and would be compiled wherever one is used.
  Dump();
  Dump(const Dump&);
  Dump(Dump&&) noexcept;
  Dump& operator=(const Dump&);
  Dump& operator=(Dump&&) noexcept;
  ~Dump();
};

} // namespace mqbridge
