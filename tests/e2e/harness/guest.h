#pragma once

#include "tests/support/child_process.h"
#include "tests/support/temp_directory.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <sys/types.h>
#include <vector>

namespace mqbridge::e2e {

/// How the gdbservers of a guest come by their processes.
enum class GuestServers {
  attach, ///< one attached to each rank
  multi,  ///< a single one that attaches to what it is told
};

/// What runs in a guest.
struct GuestJob {
  std::string program; ///< of tests/inferiors
  std::string arguments;
  std::string spinning;      ///< the ranks that block once they are ready: "0 1"
  std::string schedule = {}; ///< the text of the file /share/schedule
};

/// oracle_poster in a scenario.
GuestJob guest_poster(const std::string& scenario);

/// A machine of its own (big-endian, 64-bit: docker/guest), in which a program runs as an MPI
/// job of two ranks with real gdbservers beside them. Ends with the object, however the test ended.
class Guest {
public:
  static constexpr int ranks = 2;

  /// Boots, and waits until the servers listen: about 10 s. A rank that blocks is blocked by
  /// then. Throws std::runtime_error with the guest's words if it does not come to that.
  Guest(const GuestJob& job, GuestServers servers);

  /// What the ranks and this machine share: the poster's files.
  const std::filesystem::path& directory() const { return directory_.path(); }
  /// What mqbridge takes for the target.
  std::string target(int rank) const;
  /// As the guest numbers it.
  pid_t pid(int rank) const;
  /// Lets the job finish and waits until the guest has switched itself off. Empty if every rank
  /// came to its normal end; else what went wrong.
  std::string finish(std::chrono::milliseconds timeout = std::chrono::seconds(60));

private:
  void await_servers();

  test::TempDirectory directory_;
  GuestServers servers_;
  std::vector<std::uint16_t> ports_;
  test::ChildProcess machine_;
};

/// For MQBRIDGE_SKIP_IF_LACKING.
std::string lacking_guest();

} // namespace mqbridge::e2e
