#include "host/launch/launchers.h"

#include "host/launch/shell_words.h"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <utility>

namespace mqbridge {
namespace {

void append(std::vector<std::string>& words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
}

/// gdbserver lets every process run on at the end of its input; without --once it would keep them.
std::vector<std::string> server_words(const std::string& gdbserver) {
  return {gdbserver, "--once", "--multi", "-"};
}

/// srun takes a component of a heterogeneous job as two options: "77+1" is component 1 of job 77.
std::vector<std::string> job_options(const std::string& job) {
  const auto plus = job.find('+');
  if (plus == std::string::npos)
    return {"--jobid=" + job};
  return {"--jobid=" + job.substr(0, plus), "--het-group=" + job.substr(plus + 1)};
}

std::string with_pid(std::string word, std::int64_t pid) {
  constexpr std::string_view placeholder = "{pid}";
  for (auto at = word.find(placeholder); at != std::string::npos; at = word.find(placeholder, at))
    word.replace(at, placeholder.size(), std::to_string(pid));
  return word;
}

} // namespace

std::vector<std::string> Launchers::command_on(const Node& node,
                                               const std::vector<std::string>& words) {
  switch (node.launcher) {
  case Launcher::local:
    break;
  case Launcher::ssh:
    return ssh_command(node, words);
  case Launcher::srun:
    return srun_command(node, words);
  }
  return words;
}

/// ssh takes the first of several equal options, so the user's own come first. Ours turn off what a
/// configuration may turn on for people: nobody sits at this session.
std::vector<std::string> Launchers::ssh_command(const Node& node,
                                                const std::vector<std::string>& words) {
  const auto seconds = std::max<std::int64_t>(
      1, std::chrono::ceil<std::chrono::seconds>(options_.connect_timeout).count());
  std::vector<std::string> command{"ssh"};
  append(command, options_.launcher_args);
  for (const auto& option :
       {std::string("BatchMode=yes"), fmt::format("ConnectTimeout={}", seconds),
        std::string("RequestTTY=no"), std::string("RemoteCommand=none"),
        std::string("ClearAllForwardings=yes"), std::string("ForwardX11=no")})
    append(command, {"-o", option});
  append(command, masters_.options_for(node.host));
  append(command, {"--", node.host, join_words(words)}); // a shell reads the line there
  return command;
}

std::vector<std::string> Launchers::srun_command(const Node& node,
                                                 const std::vector<std::string>& words) const {
  return srun({node}, {"--unbuffered"}, words);
}

/// Where a site wants it so, srun ends a step when its first task fails; these options turn that
/// off. A task on a node that does not answer ends the step in any case, some seconds later.
std::vector<std::string> Launchers::command_on_all(const std::vector<Node>& nodes,
                                                   const std::vector<std::string>& words) const {
  return srun(nodes, {"--label", "--no-kill", "--kill-on-bad-exit=0", "--wait=0"}, words);
}

/// The step runs beside the other steps of the job (--overlap), with none of its memory. It
/// starts soon or not at all: in a queue it would wait for the job that hangs.
std::vector<std::string> Launchers::srun(const std::vector<Node>& nodes,
                                         const std::vector<std::string>& more,
                                         const std::vector<std::string>& words) const {
  std::string hosts;
  for (const auto& node : nodes)
    hosts += (hosts.empty() ? "" : ",") + node.host;
  std::vector<std::string> command{"srun"};
  append(command, job_options(nodes.front().slurm_job));
  append(command, {"--nodelist=" + hosts, fmt::format("--nodes={}", nodes.size()),
                   fmt::format("--ntasks={}", nodes.size()), "--overlap", "--immediate=10",
                   "--mem=0", "--mpi=none", "--quiet"});
  append(command, more);
  append(command, options_.launcher_args);
  command.emplace_back("--");
  append(command, words);
  return command;
}

rsp::Endpoint Launchers::server_of(const Node& node, std::string text,
                                   const std::vector<std::string>& words) {
  constexpr std::chrono::milliseconds for_srun{2};
  return {std::move(text),
          rsp::CommandEndpoint{.argv = command_on(node, words),
                               .prod_every = node.launcher == Launcher::srun
                                                 ? for_srun
                                                 : std::chrono::milliseconds(0),
                               .holds_nothing_yet = node.launcher == Launcher::local},
          std::nullopt};
}

rsp::Endpoint Launchers::server_on(const Node& node, std::string text) {
  return server_of(node, std::move(text), server_words(options_.gdbserver));
}

rsp::Endpoint Launchers::server_inside(const Node& node, std::string text,
                                       const std::vector<std::string>& node_command,
                                       std::int64_t pid) {
  std::vector<std::string> words;
  for (const auto& word : node_command)
    words.push_back(with_pid(word, pid));
  append(words, server_words(options_.gdbserver));
  return server_of(node, std::move(text), words);
}

} // namespace mqbridge
