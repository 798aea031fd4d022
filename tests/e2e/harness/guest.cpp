#include "tests/e2e/harness/guest.h"

#include "tests/e2e/harness/foreign_platform.h"
#include "tests/e2e/harness/loopback.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/target_programs.h"
#include "tests/support/eventually.h"

#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace mqbridge::e2e {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::ChildSpec;
using test::eventually;

const fs::path scripts = fs::path(MQBRIDGE_SOURCE_DIRECTORY) / "docker/guest";

std::string contents(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// What the guest sees as /share: the program, and the script `job` that it runs.
void fill(const fs::path& share, const GuestJob& job, GuestServers servers) {
  fs::copy_file(foreign_program(foreign_platform("s390x"), job.program), share / job.program);
  fs::copy_file(scripts / "ranks.sh", share / "ranks.sh");
  std::ofstream(share / "schedule") << job.schedule;
  std::ofstream(share / "job") << fmt::format(
      "#!/bin/sh\nexec ./ranks.sh {} '{}' /share/{} /share {}\n",
      servers == GuestServers::attach ? "attach" : "multi", job.spinning, job.program,
      job.arguments);
  fs::permissions(share / "job", fs::perms::owner_all);
}

std::vector<std::uint16_t> ports_for(GuestServers servers) {
  std::vector<std::uint16_t> ports = {unused_port()};
  while (servers == GuestServers::attach && ports.size() < Guest::ranks) {
    if (const auto port = unused_port(); port != ports.front())
      ports.push_back(port);
  }
  return ports;
}

ChildSpec boot(const fs::path& share, const GuestJob& job, GuestServers servers,
               const std::vector<std::uint16_t>& ports) {
  fill(share, job, servers);
  ChildSpec spec = {{(scripts / "start.sh").string(), share.string()}};
  for (const auto port : ports)
    spec.argv.push_back(std::to_string(port));
  return spec;
}

} // namespace

GuestJob guest_poster(const std::string& scenario) {
  const bool blocked = scenario.starts_with("blocked"); // rank 0; the last one releases it
  return {"oracle_poster", scenario, blocked ? "0" : ""};
}

Guest::Guest(const GuestJob& job, GuestServers servers)
    : servers_(servers), ports_(ports_for(servers)),
      machine_(boot(directory_.path(), job, servers, ports_)) {
  await_servers();
}

void Guest::await_servers() {
  for (std::size_t server = 1; server <= ports_.size(); ++server) {
    const auto log = directory() / fmt::format("gdbserver.log.{}", server);
    const auto listens = [&] { return contents(log).find("Listening on") != std::string::npos; };
    eventually(
        120s, [&] { return listens() || machine_.wait(0ms).has_value(); }, 50ms);
    if (!listens())
      throw std::runtime_error(fmt::format("no gdbserver {} in the guest: {}{}{}", server,
                                           contents(log), machine_.out(), machine_.err()));
  }
}

std::string Guest::target(int rank) const {
  if (servers_ == GuestServers::multi)
    return fmt::format("127.0.0.1:{}@{}", ports_.front(), pid(rank));
  return fmt::format("127.0.0.1:{}", ports_.at(static_cast<std::size_t>(rank)));
}

pid_t Guest::pid(int rank) const {
  pid_t pid = 0;
  std::ifstream(directory() / fmt::format("ready.{}", rank)) >> pid;
  return pid;
}

std::string Guest::finish(std::chrono::milliseconds timeout) {
  std::ofstream(directory() / "go").flush();
  if (!machine_.wait(timeout))
    return "still running after go: " + machine_.out();
  for (int rank = 0; rank < ranks; ++rank) {
    if (!fs::exists(directory() / fmt::format("finished.{}", rank)))
      return fmt::format("rank {} did not finish: {}", rank, machine_.out());
  }
  return "";
}

std::string lacking_guest() {
  if (auto target = lacking_target("s390x-guest"); !target.empty())
    return target;
  if (run_program({{"qemu-system-s390x", "--version"}}).status() != 0)
    return "no qemu-system-s390x: apt install qemu-system-misc";
  return lacking(foreign_platform("s390x"));
}

} // namespace mqbridge::e2e
