#include "host/launch/node.h"

#include <array>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace mqbridge {
namespace {

std::string own_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

TEST(NodeProcess, ThreeForms) {
  const auto here = parse_node_process("local:41822").value();
  EXPECT_EQ(here.node, Node{});
  EXPECT_EQ(here.pid, 41822);
  const auto ssh = parse_node_process("ssh:me@n017.cluster:41822").value();
  EXPECT_EQ(ssh.node, (Node{Launcher::ssh, "me@n017.cluster", ""}));
  EXPECT_EQ(ssh.pid, 41822);
  EXPECT_EQ(ssh.text, "ssh:me@n017.cluster:41822");
  EXPECT_EQ(ssh.node.name(), "n017.cluster");
  const auto v6 = parse_node_process("ssh:me@[fe80::1%eth0]:7").value();
  EXPECT_EQ(v6.node.host, "me@fe80::1%eth0");
  const auto srun = parse_node_process("srun:48213+1:n017:41822").value();
  EXPECT_EQ(srun.node, (Node{Launcher::srun, "n017", "48213+1"}));
}

TEST(NodeProcess, ItsTargetIsItsText) {
  for (const std::string text : {"local:7", "ssh:n1:7", "ssh:me@n1:7", "ssh:[::1]:7",
                                 "ssh:me@[fe80::1%eth0]:7", "srun:12:n1:7"}) {
    const auto process = parse_node_process(text);
    ASSERT_TRUE(process) << process.error().message;
    EXPECT_EQ(process->node.target(process->pid), text);
  }
}

/// None of these comes near a command line: ssh knows -oProxyCommand=..., expands %h, and hands a
/// line to a shell.
TEST(NodeProcess, NamesThatAreNoneAreRefused) {
  for (const std::string text : {"ssh:",
                                 "ssh:n1",
                                 "ssh:n1:",
                                 "ssh:n1:x",
                                 "ssh:n1:-1",
                                 "ssh::7",
                                 "ssh:@n1:7",
                                 "ssh:me@:7",
                                 "ssh:-oProxyCommand=id:7",
                                 "ssh:me@-oProxyCommand=id:7",
                                 "ssh:-l@n1:7",
                                 "ssh:n 1:7",
                                 "ssh:n1;id:7",
                                 "ssh:$(id):7",
                                 "ssh:n1\n:7",
                                 "ssh:n1:22:7",
                                 "ssh:fe80::1:7",
                                 "ssh:n%h:7",
                                 "ssh:../x:7",
                                 "srun:12:7",
                                 "srun:x:n1:7",
                                 "srun:-1:n1:7",
                                 "srun:12:-w:7",
                                 "srun:12::7",
                                 "srun:12:n1 n2:7",
                                 "srun:12:n[1-2]:7",
                                 "local:",
                                 "local:x",
                                 "local:0",
                                 "local:1:2"}) {
    const auto process = parse_node_process(text);
    ASSERT_FALSE(process) << text;
    EXPECT_EQ(process.error().code, "endpoint.syntax") << text;
    EXPECT_THAT(process.error().hint, testing::HasSubstr("ssh:[USER@]HOST:PID")) << text;
  }
  EXPECT_FALSE(parse_node_process("ssh:" + std::string(300, 'a') + ":7"));
}

TEST(Node, ThisComputerIsReachedDirectly) {
  for (const std::string& host : {std::string("localhost"), std::string("127.0.0.1"), own_name()})
    EXPECT_EQ(node_named(host, Launcher::ssh).value(), Node{}) << host;
  EXPECT_EQ(node_named("me@localhost", Launcher::ssh).value(),
            (Node{Launcher::ssh, "me@localhost", ""}))
      << "as somebody else";
  EXPECT_EQ(Node{}.name(), own_name());
}

/// A name in a domain that is not ours, and a name that another computer says.
TEST(Node, WithThisOnesNameIsNotAlwaysThisOne) {
  const auto bare = own_name().substr(0, own_name().find('.'));
  EXPECT_FALSE(is_this_host(bare + ".no-site-of-ours.invalid"));
  EXPECT_EQ(other_node(own_name(), Launcher::ssh).value(), (Node{Launcher::ssh, own_name(), ""}));
}

TEST(Node, FromATable) {
  EXPECT_EQ(node_named("n017", Launcher::ssh).value(), (Node{Launcher::ssh, "n017", ""}));
  EXPECT_EQ(node_named("n017", Launcher::srun, "12").value(), (Node{Launcher::srun, "n017", "12"}));
  for (const std::string_view name : {"-oProxyCommand=id", "", "a b", "a;b", "\x1b[31mred"}) {
    const auto node = node_named(name, Launcher::ssh);
    ASSERT_FALSE(node) << name;
    EXPECT_EQ(node.error().code, "node.name");
    EXPECT_EQ(node.error().message.find('\x1b'), std::string::npos);
  }
  EXPECT_FALSE(node_named("n017", Launcher::srun));
  EXPECT_FALSE(node_named("n017", Launcher::local));
}

} // namespace
} // namespace mqbridge
