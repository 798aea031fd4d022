#include "tests/e2e/harness/ssh_server.h"

#include "tests/e2e/harness/loopback.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/eventually.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

/// sshd starts itself anew, and wants to know where it is.
const std::string program = "/usr/sbin/sshd";

} // namespace

std::string SshServer::lacking() {
  if (access(program.c_str(), X_OK) == 0 && access("/usr/bin/ssh", X_OK) == 0)
    return "";
  return "no sshd: apt install openssh-server openssh-client";
}

SshServer::SshServer(SshServerSpec spec) : spec_(std::move(spec)) {
  if (spec_.port == 0)
    spec_.port = unused_port();
  make_keys();
  configure();
  // Debian's waits in it for whoever has not logged in yet; made by the service that starts it.
  if (geteuid() == 0)
    std::filesystem::create_directories("/run/sshd");
  test::ChildSpec command = {spec_.launcher};
  for (const std::string& word : {program, "-D"s, "-e"s, "-f"s, (directory_ / "config").string()})
    command.argv.push_back(word);
  server_.emplace(command);
  const auto listens = [this] { return server_->err().find("listening") != std::string::npos; };
  if (!test::eventually(20s, listens))
    throw std::runtime_error("sshd does not listen: " + server_->err());
}

void SshServer::make_keys() const {
  for (const char* name : {"host", "user", "stranger"}) {
    const Outcome made = run_program(
        {{"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", (directory_ / name).string()}});
    if (made.status() != 0)
      throw std::runtime_error("ssh-keygen: " + made.err);
  }
}

void SshServer::configure() const {
  std::ofstream(directory_ / "config") << fmt::format(
      "ListenAddress {}:{}\nHostKey {}\nAuthorizedKeysFile {}\nMaxSessions {}\n"
      "StrictModes no\nUsePAM no\nPermitRootLogin yes\nPidFile none\n",
      spec_.launcher.empty() ? spec_.address : "0.0.0.0", spec_.port,
      (directory_ / "host").string(), (directory_ / "user.pub").string(), spec_.max_sessions);
  std::string host_key;
  std::getline(std::ifstream(directory_ / "host.pub"), host_key);
  std::ofstream(directory_ / "known_hosts") << "* " << host_key << "\n";
  std::ofstream(directory_ / "client") << host_entry("server");
  write_ssh(directory_.path());
}

std::string SshServer::host_entry(const std::string& host) const {
  return fmt::format("Host {}\n  HostName {}\n  Port {}\n  IdentityFile {}\n"
                     "  IdentitiesOnly yes\n  UserKnownHostsFile {}\n"
                     "  GlobalKnownHostsFile none\n",
                     host, spec_.address, spec_.port,
                     (directory_ / (spec_.refuses_key ? "stranger" : "user")).string(),
                     (directory_ / "known_hosts").string());
}

int SshServer::logins() const {
  int count = 0;
  std::istringstream log(server_->err());
  for (std::string line; std::getline(log, line);)
    count += line.starts_with("Accepted publickey");
  return count;
}

void write_ssh(const std::filesystem::path& directory) {
  std::ofstream(directory / "ssh") << fmt::format("#!/bin/bash\nexec /usr/bin/ssh -F {} \"$@\"\n",
                                                  (directory / "client").string());
  std::filesystem::permissions(directory / "ssh", std::filesystem::perms{0755});
}

} // namespace mqbridge::e2e
