#pragma once

#include "tests/support/child_process.h"
#include "tests/support/temp_directory.h"

#include <cstdint>
#include <optional>
#include <string>

namespace mqbridge::e2e {

/// A private sshd on loopback, with keys of its own, for the user that runs the test.
class SshServer {
public:
  /// Throws std::runtime_error with its words if it does not come to listen.
  SshServer();

  /// For MQBRIDGE_SKIP_IF_LACKING.
  static std::string lacking();

  /// The ssh command that runs `remote` there.
  std::string command(const std::string& remote) const;

private:
  void make_keys() const;

  test::TempDirectory directory_;
  std::uint16_t port_;
  std::optional<test::ChildProcess> server_;
};

} // namespace mqbridge::e2e
