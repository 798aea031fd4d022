#include "host/dump/take_dump.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace mqbridge {
namespace {

constexpr std::string_view local = "local:";
constexpr std::string_view core = "core:";

std::optional<std::int32_t> process_id(std::string_view text) {
  std::int32_t pid = 0; // pid_t
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error != std::errc{} || end != text.data() + text.size() || pid <= 0)
    return std::nullopt;
  return pid;
}

/// Processes of this host from `first` to `last` but this one, by number: /proc lists no threads.
std::vector<std::int32_t> running_processes(std::int32_t first, std::int32_t last) {
  std::vector<std::int32_t> found;
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator("/proc", error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const auto pid = process_id(entry->path().filename().string());
    if (pid && *pid >= first && *pid <= last && *pid != ::getpid())
      found.push_back(*pid);
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// The processes that one item of a list names: "PID" or "A-B".
Result<std::vector<std::int32_t>> parse_item(std::string_view text, std::string_view item) {
  const auto dash = item.find('-');
  const auto first = process_id(item.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : process_id(item.substr(dash + 1));
  if (!first || !last || *last < *first)
    return fail("target.syntax",
                fmt::format("{}: '{}' is neither a process id nor a range of them", text, item),
                "write local:PID, local:PID,PID or local:FIRST-LAST");
  if (dash == std::string_view::npos)
    return std::vector{*first};
  auto pids = running_processes(*first, *last);
  if (pids.empty())
    return fail(
        "target.no_process",
        fmt::format("{}: no process of this host has a number from {} to {}", text, *first, *last),
        "to see the processes of a program: pgrep -ax PROGRAM");
  return pids;
}

} // namespace

Result<std::vector<TargetSpec>> TargetSpec::parse_all(std::string_view text) {
  if (!text.starts_with(local) || text.find_first_of(",-") == std::string_view::npos) {
    auto one = parse(text);
    if (!one)
      return forward(std::move(one));
    std::vector<TargetSpec> targets;
    targets.push_back(std::move(*one));
    return targets;
  }
  std::vector<TargetSpec> targets;
  for (std::size_t begin = local.size(); begin <= text.size();) {
    const auto end = std::min(text.find(',', begin), text.size());
    const auto pids = parse_item(text, text.substr(begin, end - begin));
    if (!pids)
      return Failure(pids.error());
    for (const auto pid : *pids) {
      auto target = parse(fmt::format("{}{}", local, pid));
      if (!target)
        return forward(std::move(target));
      targets.push_back(std::move(*target));
    }
    begin = end + 1;
  }
  return targets;
}

Result<TargetSpec> TargetSpec::parse(std::string_view text) {
  TargetSpec spec;
  auto endpoint = text;
  if (text.starts_with('='))
    return fail("target.syntax", fmt::format("{}: no rank stands before the =", text),
                "write RANK=ENDPOINT, for example 3=node7:7001");
  // Only digits before the first `=` are a rank: exec: commands may contain `=` too.
  const auto digits = text.find_first_not_of("0123456789");
  if (digits != std::string_view::npos && digits != 0 && text[digits] == '=') {
    int rank = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + digits, rank);
    if (error != std::errc{})
      return fail("target.syntax",
                  fmt::format("{}: {} is too large for a rank", text, text.substr(0, digits)),
                  "write RANK=ENDPOINT, for example 3=node7:7001");
    spec.rank = rank;
    endpoint.remove_prefix(digits + 1);
  }
  if (spec.rank && endpoint.starts_with(local) && endpoint.find_first_of(",-") != endpoint.npos)
    return fail("target.syntax", fmt::format("{}: one rank, and several processes", text),
                "leave RANK= out: each process says which rank it is");
  if (endpoint.starts_with(core)) {
    auto path = parse_core_path(endpoint.substr(core.size()));
    if (!path)
      return forward(std::move(path));
    spec.where = CoreEndpoint{std::string(endpoint), std::move(*path)};
    return spec;
  }
  if (names_node_process(endpoint)) {
    auto process = parse_node_process(endpoint);
    if (!process)
      return forward(std::move(process));
    spec.where = std::move(*process);
    return spec;
  }
  auto parsed = rsp::Endpoint::parse(endpoint);
  if (!parsed) {
    auto error = std::move(parsed).error();
    error.hint += "; local:PID, ssh:[USER@]HOST:PID, srun:JOB:NODE:PID; core:FILE[@EXECUTABLE]";
    return Failure(std::move(error));
  }
  spec.where = std::move(*parsed);
  return spec;
}

const std::string& TargetSpec::text() const {
  return std::visit([](const auto& endpoint) -> const std::string& { return endpoint.text; },
                    where);
}

std::optional<std::string> TargetSpec::process_key() const {
  struct Key {
    std::string operator()(const rsp::TcpEndpoint& tcp) const {
      return fmt::format("tcp {} {}", tcp.host, tcp.port);
    }
    std::string operator()(const rsp::UnixEndpoint& socket) const { return "unix " + socket.path; }
    std::string operator()(const rsp::CommandEndpoint& command) const {
      return fmt::format("command {}", fmt::join(command.argv, " "));
    }
    std::string operator()(const rsp::SerialEndpoint& line) const {
      return "serial " + line.device;
    }
  };
  if (const auto* const process = std::get_if<NodeProcess>(&where))
    return process->node.target(process->pid);
  if (const auto* const endpoint = std::get_if<rsp::Endpoint>(&where)) {
    if (endpoint->text.starts_with("exec:"))
      return std::nullopt;
    return fmt::format("{} {}", std::visit(Key(), endpoint->where), endpoint->pid.value_or(0));
  }
  const auto& file = std::get<CoreEndpoint>(where).path.core;
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) // a file that is not there is nobody else's
    return "core " + file.string();
  return fmt::format("file {} {}", status.st_dev, status.st_ino);
}

bool TargetSpec::is_same_process(const TargetSpec& other) const {
  const auto key = process_key();
  return key && key == other.process_key();
}

} // namespace mqbridge
