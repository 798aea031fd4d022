#pragma once

#include "bench/delaying_link/delaying_link.h"
#include "bench/queue_walk/cell.h"
#include "host/dump/take_dump.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/support/gdb_server.h"

#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace mqbridge::bench {

/// The target processes of a cell with their operations posted, and for each run the stubs and the
/// links to them. Processes live as long as the stage; an emulated one, whose stub serves one
/// client only, is started anew for each run.
///
/// If something cannot be started it throws std::runtime_error, as the harness of the end-to-end
/// tests does.
class Stage {
public:
  explicit Stage(const Cell& cell);

  /// Empty, or what this machine lacks for such a cell, and the line that mends it.
  static std::string lacking(const Cell& cell);

  /// Opens links to the stubs of the next run. For mqbridge: each stub attaches when it is told to.
  /// Ends what an earlier open() or open_for_peer() has opened.
  void open(const LinkSpec& link);
  /// The same with one stub that holds its only process already, as some clients want it.
  void open_for_peer(const LinkSpec& link);
  /// No stub holds a process any more.
  void close();

  std::vector<TargetSpec> targets() const;
  /// Adds the options that the cell's targets need.
  void complete(DumpOptions& options) const;
  const std::vector<std::unique_ptr<DelayingLink>>& links() const { return links_; }

  /// Processor time that the stubs have used so far, in seconds; nullopt: not known.
  std::optional<double> stub_cpu() const;

  pid_t pid() const { return processes_.front()->pid(); }
  std::string program() const;

private:
  std::unique_ptr<e2e::SingleProcess> start() const;
  void link_to(const std::string& server, const LinkSpec& spec);

  Cell cell_;
  std::vector<std::unique_ptr<e2e::SingleProcess>> processes_;
  std::vector<std::unique_ptr<test::GdbServer>> servers_; ///< of each process, told to attach
  std::optional<test::GdbServer> peers_server_;
  std::vector<std::unique_ptr<DelayingLink>> links_;
};

} // namespace mqbridge::bench
