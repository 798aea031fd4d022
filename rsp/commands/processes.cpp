#include "rsp/commands/processes.h"

#include "rsp/codes.h"
#include "rsp/commands/file_starts.h"
#include "rsp/commands/qxfer.h"
#include "rsp/commands/xml.h"
#include "rsp/limits.h"
#include "rsp/packet/packet_history.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fmt/format.h>
#include <optional>
#include <pugixml.hpp>
#include <span>
#include <string_view>
#include <utility>

namespace mqbridge::rsp {
namespace {

using Clock = std::chrono::steady_clock;

/// A command line may hold secrets, and pages of text: only its start is shown.
constexpr std::size_t shown_command = 48;

/// Environments that are read between two looks at the clock: more take seconds on a slow line.
constexpr std::size_t looked_at_once = 64;

struct Candidate {
  ProcessInfo process;
  std::optional<std::uint32_t> rank;
};

std::optional<std::uint32_t> parse_rank(std::string_view digits) {
  std::uint32_t rank = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), rank);
  return parsed.ec == std::errc() ? std::optional(rank) : std::nullopt;
}

std::optional<std::uint32_t> rank_of(std::string_view environment, RankVariables variables) {
  for (const std::string_view variable : variables) {
    std::string_view rest = environment;
    while (!rest.empty()) {
      const std::string_view entry = rest.substr(0, rest.find('\0'));
      rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
      const auto name_end = entry.find('=');
      if (name_end == entry.npos || entry.substr(0, name_end) != variable)
        continue;
      if (const auto rank = parse_rank(entry.substr(name_end + 1)))
        return rank;
    }
  }
  return std::nullopt;
}

bool is_kernel_thread(const ProcessInfo& process) {
  return process.command.empty() || process.command.starts_with('[');
}

/// Reads the candidates' ranks from their environments; a candidate whose file cannot be read gets
/// none. False: the connection is lost.
bool read_ranks(Client& client, std::span<Candidate> candidates, RankVariables variables) {
  std::vector<FileStart> environments;
  for (const Candidate& candidate : candidates)
    environments.push_back(
        {fmt::format("/proc/{}/environ", candidate.process.pid), limits::environment_of_another});
  const auto done =
      read_file_starts(client, environments, [&](std::size_t index, const FileText& text) {
        candidates[index].rank = rank_of(text.text, variables);
      });
  return done.has_value();
}

/// Looks at the most recent processes first: a job's processes are younger than the system's.
std::vector<Candidate> find_ranks(Client& client, std::vector<ProcessInfo> processes,
                                  RankVariables variables) {
  std::erase_if(processes, is_kernel_thread);
  std::sort(processes.begin(), processes.end(),
            [](const ProcessInfo& a, const ProcessInfo& b) { return a.pid > b.pid; });
  std::vector<Candidate> candidates;
  for (ProcessInfo& process : processes)
    candidates.push_back({std::move(process), std::nullopt});
  const Clock::time_point end = Clock::now() + limits::naming_ranks;
  std::span<Candidate> rest(candidates.data(), std::min(candidates.size(), limits::environments));
  bool reads = client.features().vfile;
  while (reads && !rest.empty() && Clock::now() < end) {
    const auto part = rest.first(std::min(rest.size(), looked_at_once));
    rest = rest.subspan(part.size());
    reads = read_ranks(client, part, variables);
  }
  // A launcher such as orted or srun may itself run in a job, and have a rank of that one. It is
  // shown all the same: a process too many is better than a missing one.
  std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
    constexpr std::uint32_t no_rank = UINT32_MAX;
    return a.rank.value_or(no_rank) < b.rank.value_or(no_rank);
  });
  return candidates;
}

pugi::xml_text column(const pugi::xml_node& item, const char* name) {
  return item.find_child_by_attribute("column", "name", name).text();
}

/// Calls use(item) for each of a list that the server has of its machine.
template <class Use>
Result<void> each_item(Client& client, std::string_view list, const Use& use) {
  if (!client.features().qxfer_osdata)
    return {};
  auto xml = read_object(client, "osdata", list);
  if (!xml)
    return forward(std::move(xml));
  if (!*xml)
    return {};
  pugi::xml_document document;
  const std::string fault = load_xml(document, **xml);
  if (!fault.empty()) {
    return fail(codes::stub_garbage,
                fmt::format("the server's list of {} is no XML: {}", list, fault),
                "look at what the server says with --trace FILE");
  }
  for (const pugi::xml_node& item : document.child("osdata").children("item"))
    use(item);
  return {};
}

} // namespace

Result<std::vector<ProcessInfo>> read_processes(Client& client) {
  std::vector<ProcessInfo> processes;
  auto read = each_item(client, "processes", [&](const pugi::xml_node& item) {
    ProcessInfo process{column(item, "pid").as_llong(), column(item, "user").as_string(),
                        column(item, "command").as_string()};
    if (process.pid > 0)
      processes.push_back(std::move(process));
  });
  return read ? Result<std::vector<ProcessInfo>>(std::move(processes)) : forward(std::move(read));
}

Result<std::vector<std::int64_t>> read_thread_numbers(Client& client, std::int64_t pid) {
  std::vector<std::int64_t> numbers;
  auto read = each_item(client, "threads", [&](const pugi::xml_node& item) {
    if (const auto tid = column(item, "tid").as_llong(); column(item, "pid").as_llong() == pid)
      numbers.push_back(tid);
  });
  return read ? Result<std::vector<std::int64_t>>(std::move(numbers)) : forward(std::move(read));
}

std::string describe_processes(Client& client, RankVariables rank_variables) {
  auto processes = read_processes(client);
  if (!processes || processes->empty())
    return {};
  const std::vector<Candidate> candidates =
      find_ranks(client, std::move(*processes), rank_variables);
  std::string text;
  const std::size_t shown = std::min(candidates.size(), limits::processes_shown);
  for (std::size_t i = 0; i < shown; ++i) {
    const Candidate& candidate = candidates[i];
    text += fmt::format("\n  {:>8}  {:<9}  {:<8}  {}", candidate.process.pid,
                        candidate.rank ? fmt::format("rank {}", *candidate.rank) : "",
                        shorten(candidate.process.user),
                        shorten(candidate.process.command, shown_command));
  }
  if (candidates.size() > shown) {
    const auto ranks = static_cast<std::size_t>(
        std::count_if(candidates.begin(), candidates.end(),
                      [](const Candidate& candidate) { return candidate.rank.has_value(); }));
    text += fmt::format("\n  and {} more ({} MPI ranks in all)", candidates.size() - shown, ranks);
  }
  return text;
}

} // namespace mqbridge::rsp
