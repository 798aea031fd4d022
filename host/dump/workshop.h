#pragma once

#include "host/dump/known_files.h"
#include "host/dump/replay_records.h"
#include "host/dump/shared_tools.h"
#include "host/dump/take_dump.h"
#include "host/dump/target/target_tools.h"
#include "host/files/file_fetcher.h"
#include "host/launch/launchers.h"
#include "host/process/elf_cache.h"
#include "host/stacks/frame_names.h"
#include "rsp/guardian/guardian.h"

#include <memory>

namespace mqbridge {

/// Everything that outlives one dump: the guardian, the connections to nodes, the files of this
/// host with their indexes, and hints from earlier dumps. A program that looks once makes one for
/// this look. A program that looks often keeps it, so that each look profits from those before.
/// Bounded, however long it lives. Thread-safe; it outlives the dumps that are taken with it.
class Workshop {
public:
  /// Starts the guardian, and begins to open the files of the last dump. Error: guardian.start.
  static Result<std::unique_ptr<Workshop>> open(DumpOptions options);

  const DumpOptions& options() const { return options_; }
  Launchers& launchers() { return launchers_; }
  /// For the ranks of one dump. `budget`: of that dump.
  SharedTools tools(RunBudget& budget);
  /// A dump is over and no target is held: stores hints for the next run.
  void keep() { known_files_.keep(); }

private:
  Workshop(DumpOptions options, std::unique_ptr<rsp::Guardian> guardian);

  const DumpOptions options_;
  std::unique_ptr<rsp::Guardian> guardian_;
  Launchers launchers_;
  ElfCache files_;
  SysrootCaches sysroots_;
  FileFetcher fetcher_;
  ReplayRecords replays_;
  FrameNames frame_names_;
  KnownFiles known_files_; ///< reads through the others from its constructor on
};

} // namespace mqbridge
