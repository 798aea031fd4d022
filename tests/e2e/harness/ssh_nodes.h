#pragma once

#include "tests/e2e/harness/ssh_server.h"
#include "tests/support/child_process.h"
#include "tests/support/environment_variable.h"
#include "tests/support/pid_namespace.h"
#include "tests/support/temp_directory.h"

#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mqbridge::e2e {

struct SshNodeSpec {
  std::string name;
  bool refuses_key = false;
  int max_sessions = 10;
  bool hangs = false; ///< whoever has logged in waits for a shell for ever
};

/// Computers that ssh leads to, on a network of their own: each has a host name, an address,
/// processes with numbers of their own, and an sshd. They share the files of this computer. While
/// this lives the thread that made it, and what it starts, know no other network (programs of tests
/// that run meanwhile would take its devices for theirs), and the `ssh` in PATH is one whose user
/// has a configuration with the nodes in it. All of it ends with the test, however that ends.
class SshNodes {
public:
  /// Throws std::runtime_error with what did not work.
  explicit SshNodes(const std::vector<SshNodeSpec>& nodes);

  /// For MQBRIDGE_SKIP_IF_LACKING. Besides, only root may make them.
  static std::string lacking();

  const test::PidNamespace& processes(const std::string& node) const { return at(node).processes; }
  int logins(const std::string& node) const { return at(node).server.logins(); }
  /// ADDRESS/BITS, this computer and the nodes.
  std::string network() const;
  /// The `ssh` that is in PATH.
  std::string ssh() const { return (directory_ / "ssh").string(); }
  /// More lines for the user's configuration of ssh, before those of the nodes.
  void configure(const std::string& lines) const;

private:
  /// The calling thread's network is a new one, whose only device is the loopback; until it is
  /// destroyed, by the same thread.
  class OwnNetwork {
  public:
    OwnNetwork();
    OwnNetwork(const OwnNetwork&) = delete;
    OwnNetwork& operator=(const OwnNetwork&) = delete;
    ~OwnNetwork();

  private:
    int outer_; ///< descriptor of the network before
  };

  struct Node {
    Node(std::string name_, const SshServerSpec& spec)
        : name(std::move(name_)), server(spec), processes(server.pid()) {}

    std::string name;
    SshServer server;
    test::PidNamespace processes;
  };

  const Node& at(const std::string& name) const;
  void connect_this_computer();
  void add(const SshNodeSpec& spec);

  test::TempDirectory directory_;
  OwnNetwork own_network_;
  test::ChildProcess switch_; ///< a network namespace with a bridge
  std::list<Node> nodes_;
  std::optional<test::EnvironmentVariable> path_;
};

/// The words that start a job of Open MPI, for JobSpec::launcher: mpirun with `ranks` on each of
/// those nodes, in their order.
std::vector<std::string> mpirun_over(const SshNodes& nodes, const std::vector<std::string>& names,
                                     int ranks);

} // namespace mqbridge::e2e
