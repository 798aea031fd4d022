#pragma once

#include "tests/e2e/harness/foreign_platform.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/gdb_server.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge::e2e {

/// How to start oracle_poster, or another MPI program of tests/inferiors, of another platform as a
/// singleton: on this machine's kernel, or at its entry under qemu-user's stub, which listens at
/// stub_socket of its directory.
test::ChildSpec foreign_command(const ForeignPlatform& platform,
                                const std::filesystem::path& directory,
                                const std::vector<std::string>& arguments,
                                const std::string& program = "oracle_poster");
inline constexpr const char* stub_socket = "stub";

/// qemu-user gives a 32-bit program this machine's positions in a directory, which are too large
/// for its readdir() unless the directory is on tmpfs: Open MPI would find no plugins. Where a
/// platform needs that, this is a directory there, of links to them; removed at the end.
class PluginLinks {
public:
  /// Throws std::system_error if the system gives none.
  explicit PluginLinks(const ForeignPlatform& platform);
  ~PluginLinks();
  PluginLinks(const PluginLinks&) = delete;
  PluginLinks& operator=(const PluginLinks&) = delete;

  /// Has Open MPI look there, if need be.
  void give(test::ChildSpec& spec) const;

private:
  std::filesystem::path directory_; ///< empty: no need
};

/// A job of a program of a platform that this machine's kernel runs, started by that platform's own
/// mpirun. Compiles the program.
JobSpec foreign_job(const ForeignPlatform& platform, const std::string& program, int ranks);

/// oracle_poster of another platform as a singleton under a real stub:
/// qemu-user's own, which holds it at its entry, or a native gdbserver attached to it. Throws
/// std::runtime_error if it does not come to stand there.
class ForeignPoster {
public:
  ForeignPoster(const ForeignPlatform& platform, std::string scenario);
  ForeignPoster(const ForeignPoster&) = delete;
  ForeignPoster& operator=(const ForeignPoster&) = delete;

  const std::filesystem::path& directory() const { return process_.directory(); }
  /// What mqbridge takes for a target.
  std::string endpoint() const;
  /// Options that its dump needs: where the target's files are, and until when it shall run.
  std::vector<std::string> options() const;
  /// Makes it raise the signal that options() name once it is where its scenario wants it, if it
  /// does not do so by itself. To be called while the dump waits for that. False: it never came.
  bool signal_when_blocked();
  /// Whether it goes on (a blocked one: spins on).
  bool runs_on() const { return process_.await_spinning(); }
  std::string finish() { return process_.finish(); }

private:
  test::ChildSpec command(const std::filesystem::path& directory) const;
  bool blocks() const;

  const ForeignPlatform& platform_;
  std::string scenario_;
  PluginLinks plugin_links_;
  SingleProcess process_;
  std::optional<test::GdbServer> server_; ///< of a process that this machine's kernel runs
};

/// A dump of it alone.
DumpOutcome dump_json(ForeignPoster& poster);

} // namespace mqbridge::e2e
