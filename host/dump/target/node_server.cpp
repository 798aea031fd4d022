#include "host/dump/target/node_server.h"

#include "host/disk/text_file.h"
#include "host/launch/shell_words.h"
#include "host/mpi/launch_environment.h"
#include "rsp/client/shared_stub.h"
#include "rsp/codes.h"
#include "rsp/commands/vfile.h"
#include "rsp/limits.h"
#include "rsp/packet/stat_line.h"

#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sstream>
#include <string_view>
#include <utility>

namespace mqbridge {
namespace {

rsp::ClientOptions client_options(const SharedTools& tools, std::stop_token stop) {
  const auto& options = tools.options;
  return {options.connect_timeout, options.silence_timeout, options.trace, &tools.guardian,
          std::move(stop)};
}

/// Whether a shell's message says that the command was not found.
bool says_not_found(std::string_view message) {
  return message.find("exited with status 127") != std::string_view::npos ||
         message.find("exited with status 126") != std::string_view::npos;
}

/// A command that does nothing on the node, started in the same way.
std::string trial_of(const Node& node) {
  switch (node.launcher) {
  case Launcher::local:
    break;
  case Launcher::ssh:
    return fmt::format("ssh -o BatchMode=yes {} true", node.host);
  case Launcher::srun:
    return fmt::format("srun --overlap --jobid={} -w {} true", node.slurm_job, node.host);
  }
  return "true";
}

/// The part of the message that says that ssh does not know a host, be it the node or one on the
/// way to it; empty: there is none.
std::string_view unknown_host(std::string_view message) {
  const auto at = message.find("Could not resolve hostname ");
  return at == std::string_view::npos ? std::string_view()
                                      : message.substr(at, message.find(" (last packets", at) - at);
}

/// Why no server answers, if the end of its command tells. ssh ends with 255 for its own errors.
Error explain_unreached(const Node& node, const SharedTools& tools, Error error) {
  const auto& gdbserver = tools.options.launch.gdbserver;
  if (error.code == codes::connect_failed)
    return error; // there is no ssh, srun or gdbserver here
  if (says_not_found(error.message))
    return {
        "node.no_gdbserver", fmt::format("{} on {}", error.message, node.name()),
        fmt::format("on {}: apt install gdbserver; or name it there: --gdbserver PATH (now: {})",
                    node.name(), gdbserver)};
  if (error.code == codes::stub_not_a_stub && node.launcher == Launcher::local) {
    std::vector<std::string> trial{"timeout", "5"};
    std::ranges::copy(tools.options.launch.node_command, std::back_inserter(trial));
    std::ranges::copy(std::initializer_list<std::string>{gdbserver, "--once", "--multi", "-"},
                      std::back_inserter(trial));
    return {"node.no_stub", std::move(error.message),
            fmt::format(
                "{} </dev/null\n"
                "if that says \"Cannot PTRACE_TRACEME\", a filter of system calls forbids ptrace",
                join_words(trial))};
  }
  if (error.code == codes::stub_not_a_stub)
    return {"node.no_stub", std::move(error.message),
            fmt::format("this must end soon, and print nothing: {}", trial_of(node))};
  if (node.launcher == Launcher::ssh &&
      error.message.find("exited with status 255") != std::string::npos) {
    if (const auto unknown = unknown_host(error.message); !unknown.empty())
      return {"node.login", fmt::format("ssh does not find the host: {}", unknown),
              "check the spelling; getent hosts NAME shows what this machine knows"};
    return {"node.login", std::move(error.message),
            "this must work without a question: " + trial_of(node)};
  }
  return error;
}

/// The process's start time, in clock ticks since boot, and its name: they are the same in all name
/// spaces of process ids. Empty: not known.
std::string start_of(const rsp::FileSource& files, std::int64_t pid) {
  constexpr int start_time = 22;
  const auto text = files(fmt::format("/proc/{}/stat", pid));
  const auto stat = text ? rsp::StatLine::parse(*text) : std::nullopt;
  const auto started = stat ? stat->number(start_time) : std::nullopt;
  return started ? fmt::format("{} {}", *started, stat->name()) : std::string();
}

/// Ranks of one program are often started in one tick: the launcher's rank variable tells them
/// apart. If one of the two cannot be read, they may be the same.
bool may_be_one_rank(const rsp::FileSource& outside, std::int64_t pid,
                     const rsp::FileSource& inside, std::int64_t number) {
  const auto there = outside(fmt::format("/proc/{}/environ", pid));
  const auto here = inside(fmt::format("/proc/{}/environ", number));
  if (!there || !here)
    return true;
  const auto one = parse_environment(*there);
  const auto other = parse_environment(*here);
  return one.rank_variable != other.rank_variable || one.rank == other.rank;
}

} // namespace

std::vector<std::string> node_command_of(const TargetSpec& target, const SharedTools& tools) {
  const auto& own = target.keys.node_command;
  if (!own)
    return tools.options.launch.node_command;
  // A text that is no command line was refused when it was parsed.
  return split_words("node-command", *own).value_or(std::vector{*own});
}

rsp::Endpoint server_of(const TargetSpec& target, const SharedTools& tools) {
  const auto& process = std::get<NodeProcess>(target.where);
  const auto command = node_command_of(target, tools);
  return command.empty()
             ? tools.launchers.server_on(process.node, process.text)
             : tools.launchers.server_inside(process.node, process.text, command, process.pid);
}

Result<std::unique_ptr<rsp::Client>> start_server(const rsp::Endpoint& server, const Node& node,
                                                  const SharedTools& tools, std::stop_token stop) {
  auto client = rsp::Client::connect(server, client_options(tools, std::move(stop)));
  if (!client)
    return Failure(explain_unreached(node, tools, std::move(client).error()));
  return client;
}

rsp::FileSource node_files(const Node& node, const SharedTools& tools, std::stop_token stop) {
  if (node.launcher == Launcher::local)
    return [](std::string_view path) { return read_text_file(path); };
  auto client = std::make_shared<std::unique_ptr<rsp::Client>>();
  return [client, node, &tools, stop](std::string_view path) -> Result<std::string> {
    if (!*client) {
      auto started = start_server(tools.launchers.server_on(node, node.name()), node, tools, stop);
      if (!started)
        return forward(std::move(started));
      *client = std::move(*started);
      (*client)->released(); // it is attached to nothing
    }
    return rsp::read_file(**client, path, rsp::limits::proc_file);
  };
}

Result<std::string> node_file_start(const Node& node, const std::string& path, std::size_t count,
                                    const SharedTools& tools, std::stop_token stop) {
  if (node.launcher == Launcher::local)
    return read_text_file(path, count);
  auto client =
      start_server(tools.launchers.server_on(node, node.name()), node, tools, std::move(stop));
  if (!client)
    return Failure(client.error());
  (*client)->released(); // it is attached to nothing
  return rsp::read_file_start(**client, path, count);
}

std::vector<std::int64_t> numbers_of(const rsp::FileSource& files, std::int64_t pid) {
  // "NSpid:\t4711\t17": from the outermost name space to its own.
  std::vector<std::int64_t> numbers;
  const auto status = files(fmt::format("/proc/{}/status", pid));
  const auto at = status ? status->find("\nNSpid:") : std::string::npos;
  if (at == std::string::npos)
    return numbers;
  std::istringstream line(status->substr(at + 7, status->find('\n', at + 1) - at - 7));
  for (std::int64_t number = 0; line >> number;)
    numbers.push_back(number);
  return numbers;
}

Result<std::int64_t> pid_inside(const rsp::FileSource& outside, const rsp::FileSource& inside,
                                std::int64_t pid) {
  const auto started = start_of(outside, pid);
  auto numbers = numbers_of(outside, pid);
  if (numbers.empty())
    numbers.push_back(pid);
  for (auto number = numbers.rbegin(); !started.empty() && number != numbers.rend(); ++number)
    if (start_of(inside, *number) == started && may_be_one_rank(outside, pid, inside, *number))
      return *number;
  return fail("node.container",
              fmt::format("process {} is not seen where --node-command leads to (looked for {})",
                          pid, fmt::join(numbers, ", ")),
              "does it enter the container of this process? For example: --node-command 'nsenter "
              "-t {pid} -a'");
}

} // namespace mqbridge
