#pragma once

#include "tests/support/child_process.h"
#include "tests/support/gdb_server.h"
#include "tests/support/temp_directory.h"

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::e2e {

/// A platform that recorder_poster is built for; no MPI is needed there.
struct RecorderPlatform {
  std::string architecture; ///< this and the next two as a dump says them
  std::string byte_order;
  int pointer_size;
  std::string program;  ///< of inferiors/
  std::string emulator; ///< of qemu-user; empty: this machine's kernel runs it
  std::string packages; ///< that bring its compiler
};

void PrintTo(const RecorderPlatform& platform, std::ostream* stream);

/// By its architecture; it must be one of them.
const RecorderPlatform& recorder_platform(std::string_view architecture);

/// For MQBRIDGE_SKIP_IF_LACKING.
std::string lacking(const RecorderPlatform& platform);

/// Where a stub holds it: where it began, or where it has recorded everything and waits. qemu-user
/// knows the first only.
enum class HeldAt { entry, readiness };

/// recorder_poster under a real stub: qemu-user's own, or a native gdbserver. Throws
/// std::runtime_error if it does not come to be held.
class RecorderPoster {
public:
  RecorderPoster(const RecorderPlatform& platform, HeldAt held, int world_rank = 0);

  const RecorderPlatform& platform() const { return platform_; }
  const std::filesystem::path& directory() const { return directory_.path(); }
  /// What mqbridge takes for a target.
  std::string endpoint() const;
  /// What else it needs of a dump: to let one that is held at its entry run until it is ready.
  std::vector<std::string> options() const;
  /// Whether it comes to its normal end.
  bool finishes();

private:
  test::ChildSpec command(int world_rank) const;

  const RecorderPlatform& platform_;
  HeldAt held_;
  test::TempDirectory directory_;
  std::optional<test::ChildProcess> process_; ///< unless a gdbserver started it
  std::optional<test::GdbServer> server_;     ///< of a process that this machine's kernel runs
};

/// Expects that a rank of a dump is of the poster's platform, read by mqbridge's own DLL without a
/// type, and what the poster says that it recorded.
void expect_recorded(const RecorderPoster& poster, const nlohmann::json& rank);

/// Dumps a poster of that platform, and expects that the dump says what it recorded, and what the
/// dump of a native one says, in the same order; and that it runs on.
void expect_recorded_truth(const RecorderPlatform& platform);

} // namespace mqbridge::e2e
