#include "tests/e2e/harness/ssh_nodes.h"

#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/eventually.h"
#include "tests/support/real_stub.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <sched.h>
#include <stdexcept>
#include <unistd.h>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t this_computer = 254; // the last number of its address

/// Everything on it goes where it goes.
test::ChildSpec bridge() {
  return {{"unshare", "--net", "sh", "-c",
           "ip link add bridge0 type bridge && ip link set bridge0 up && echo up && "
           "exec sleep infinity"}};
}

Outcome ip(const std::string& arguments) {
  return run_program({{"sh", "-c", "ip " + arguments}});
}

void must(const Outcome& outcome) {
  if (outcome.status() != 0)
    throw std::runtime_error("no network: " + outcome.err);
}

// 198.18.0.0/15 is for laboratories (RFC 2544).
std::string address(std::size_t host) {
  return fmt::format("198.18.0.{}", host);
}

std::string in_network_of(pid_t pid) {
  return fmt::format("nsenter --target {} --net ", pid);
}

} // namespace

std::string SshNodes::lacking() {
  const std::string no_ip = test::lacking_program("ip", "iproute2");
  return no_ip.empty() ? SshServer::lacking() : no_ip;
}

SshNodes::SshNodes(const std::vector<SshNodeSpec>& nodes) : switch_(bridge()) {
  if (!test::eventually(10s, [this] { return switch_.out() == "up\n"; }))
    throw std::runtime_error("no bridge: " + switch_.err());
  connect_this_computer();
  for (const SshNodeSpec& node : nodes)
    add(node);
  configure("");
  write_ssh(directory_.path());
  path_.emplace("PATH", directory_.path().string() + ":" + std::getenv("PATH"));
}

SshNodes::OwnNetwork::OwnNetwork()
    : outer_(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)) {
  if (outer_ < 0 || unshare(CLONE_NEWNET) != 0)
    throw std::runtime_error(std::string("no network of its own: ") + std::strerror(errno));
  must(ip("link set lo up"));
}

SshNodes::OwnNetwork::~OwnNetwork() {
  if (setns(outer_, CLONE_NEWNET) != 0)
    std::abort(); // the next test would look for what it does not reach
  close(outer_);
}

/// The cable goes with the bridge's namespace.
void SshNodes::connect_this_computer() {
  must(ip(fmt::format("link add mqlab type veth peer name port{} netns {}", this_computer,
                      switch_.pid())));
  must(ip(
      fmt::format("address add {}/24 dev mqlab && ip link set mqlab up", address(this_computer))));
  must(run_program({{"sh", "-c",
                     fmt::format("{}ip link set port{} master bridge0 up",
                                 in_network_of(switch_.pid()), this_computer)}}));
}

void SshNodes::add(const SshNodeSpec& spec) {
  SshServerSpec server;
  server.launcher = test::in_own_pid_namespace(
      {"--net", "--uts", "sh", "-c", fmt::format("hostname {} && exec \"$0\" \"$@\"", spec.name)});
  server.address = address(nodes_.size() + 1);
  server.port = 22;
  server.refuses_key = spec.refuses_key;
  server.max_sessions = spec.max_sessions;
  server.hangs = spec.hangs;
  const Node& node = nodes_.emplace_back(spec.name, server);
  const std::string enter_switch = in_network_of(switch_.pid());
  const std::string enter_node = in_network_of(node.processes.first());
  must(run_program({{"sh", "-ec",
                     fmt::format("{0}ip link add port{2} type veth peer name eth0 netns {3}\n"
                                 "{0}ip link set port{2} master bridge0 up\n"
                                 "{1}ip address add {4}/24 dev eth0\n"
                                 "{1}ip link set eth0 up\n"
                                 "{1}ip link set lo up\n",
                                 enter_switch, enter_node, nodes_.size(), node.processes.first(),
                                 server.address)}}));
}

void SshNodes::configure(const std::string& lines) const {
  std::ofstream config(directory_ / "client");
  config << lines;
  for (const Node& node : nodes_)
    config << node.server.host_entry(node.name);
}

std::string SshNodes::network() const {
  return address(0) + "/24";
}

const SshNodes::Node& SshNodes::at(const std::string& name) const {
  const auto found = std::find_if(nodes_.begin(), nodes_.end(),
                                  [&](const Node& node) { return node.name == name; });
  if (found == nodes_.end())
    throw std::logic_error("no node " + name);
  return *found;
}

std::vector<std::string> mpirun_over(const SshNodes& nodes, const std::vector<std::string>& names,
                                     int ranks) {
  std::string hosts;
  for (const std::string& name : names)
    hosts += fmt::format("{}{}:{}", hosts.empty() ? "" : ",", name, ranks);
  return {"mpirun",
          "--allow-run-as-root",
          "--oversubscribe",
          "--host",
          hosts,
          "--map-by", // PRRTE would begin with any of the nodes
          fmt::format("ppr:{}:node", ranks),
          "--mca",
          "pml",
          "ob1",
          "--mca",
          "coll",
          "^han", // which makes communicators of its own, of each node
          "--mca",
          "btl",
          "self,tcp",
          "--mca",
          "btl_tcp_if_include",
          nodes.network(),
          "--mca",
          "oob_tcp_if_include",
          nodes.network(),
          "-x",
          "PMIX_MCA_gds",
          "-np",
          std::to_string(names.size() * static_cast<std::size_t>(ranks))};
}

} // namespace mqbridge::e2e
