#pragma once

#include "tests/support/child_process.h"
#include "tests/support/temp_directory.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge::e2e {

struct SshServerSpec {
  std::vector<std::string> launcher = {}; ///< words before sshd's own: what it is to run in
  std::string address = "127.0.0.1";      ///< where clients find it
  std::uint16_t port = 0;                 ///< 0: one that is not used
  bool refuses_key = false;               ///< the clients' key is not the one that it knows
  int max_sessions = 10;                  ///< over one connection
  bool hangs = false;                     ///< whoever has logged in waits for a shell for ever
};

/// A private sshd, with keys of its own, for the user that runs the test.
class SshServer {
public:
  /// Throws std::runtime_error with its words if it does not come to listen.
  explicit SshServer(SshServerSpec spec = {});

  /// For MQBRIDGE_SKIP_IF_LACKING.
  static std::string lacking();

  /// For PATH: the `ssh` in it has a configuration that knows this server as "server".
  const std::filesystem::path& client_directory() const { return directory_.path(); }
  /// Of a configuration of ssh: what it is to know about this server, under the name `host`.
  std::string host_entry(const std::string& host) const;
  /// How often somebody has logged in.
  int logins() const;
  /// sshd, or its launcher.
  pid_t pid() const { return server_->pid(); }

private:
  void make_keys() const;
  void configure() const;

  test::TempDirectory directory_;
  SshServerSpec spec_;
  std::optional<test::ChildProcess> server_;
};

/// Makes DIRECTORY/ssh, for PATH: ssh with DIRECTORY/client for its user's configuration.
void write_ssh(const std::filesystem::path& directory);

} // namespace mqbridge::e2e
