#include "tests/e2e/harness/ssh_server.h"

#include "tests/e2e/harness/loopback.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/eventually.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <stdexcept>
#include <unistd.h>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;

/// sshd starts itself anew, and wants to know where it is.
constexpr const char* program = "/usr/sbin/sshd";

} // namespace

std::string SshServer::lacking() {
  if (access(program, X_OK) == 0 && access("/usr/bin/ssh", X_OK) == 0)
    return "";
  return "no sshd: apt install openssh-server openssh-client";
}

SshServer::SshServer() : port_(unused_port()) {
  make_keys();
  // Debian's waits in it for whoever has not logged in yet; made by the service that starts it.
  if (geteuid() == 0)
    std::filesystem::create_directories("/run/sshd");
  std::ofstream(directory_ / "config")
      << fmt::format("ListenAddress 127.0.0.1:{}\nHostKey {}\nAuthorizedKeysFile {}\n"
                     "StrictModes no\nUsePAM no\nPermitRootLogin yes\nPidFile none\n",
                     port_, (directory_ / "host").string(), (directory_ / "user.pub").string());
  server_.emplace(test::ChildSpec{{program, "-D", "-e", "-f", (directory_ / "config").string()}});
  const auto listens = [this] { return server_->err().find("listening") != std::string::npos; };
  if (!test::eventually(20s, listens))
    throw std::runtime_error("sshd does not listen: " + server_->err());
}

void SshServer::make_keys() const {
  for (const char* name : {"host", "user"}) {
    const Outcome made = run_program(
        {{"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", (directory_ / name).string()}});
    if (made.status() != 0)
      throw std::runtime_error("ssh-keygen: " + made.err);
  }
}

std::string SshServer::command(const std::string& remote) const {
  return fmt::format("ssh -T -F none -i {} -p {} -o BatchMode=yes -o StrictHostKeyChecking=no "
                     "-o UserKnownHostsFile=/dev/null -o LogLevel=ERROR 127.0.0.1 '{}'",
                     (directory_ / "user").string(), port_, remote);
}

} // namespace mqbridge::e2e
