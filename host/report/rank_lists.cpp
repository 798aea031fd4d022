#include "host/report/rank_lists.h"

#include "host/dump/values/ranges.h"
#include "host/report/fitted_text.h"
#include "host/report/text_parts.h"

#include <fmt/format.h>

namespace mqbridge {
namespace {

/// "n017:41822", or how it was reached: a rank whose number is not known.
std::string process_name(const RankDump& rank) {
  if (!rank.host || !rank.pid)
    return printable(rank.endpoint);
  return fmt::format("{}:{}", printable(*rank.host), *rank.pid);
}

std::string run_text(const Run& run) {
  if (run.first == run.last)
    return fmt::to_string(run.first);
  return fmt::format("{}-{}", run.first, run.last) +
         (run.step == 1 ? "" : fmt::format(":{}", run.step));
}

/// "0-1,3,10-20:2"; of a list that is wider the start: "0,2,5 and 40 more".
std::string numbers_text(const std::vector<std::int64_t>& numbers, std::size_t width) {
  std::string text;
  auto left = numbers.size();
  for (const Run& run : to_runs(numbers)) {
    const auto next = run_text(run);
    if (!text.empty() && text.size() + 1 + next.size() > width)
      return text + fmt::format(" and {} more", left);
    text += (text.empty() ? "" : ",") + next;
    left -= value_count(run).value_or(0);
  }
  return text;
}

} // namespace

std::string counted(std::size_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string thousands(std::uint64_t count) {
  std::string text = fmt::to_string(count);
  for (std::size_t behind = 3; behind < text.size(); behind += 4)
    text.insert(text.size() - behind, ",");
  return text;
}

std::string ranks_text(const Ranks& ranks, std::size_t width) {
  std::vector<std::int64_t> numbers;
  Ranks unknown;
  for (const RankDump* rank : ranks)
    if (rank->rank)
      numbers.push_back(*rank->rank);
    else
      unknown.push_back(rank);
  std::string text = numbers_text(numbers, width);
  if (unknown.empty())
    return text;
  text += (text.empty() ? "" : ",") + shortened(process_name(*unknown.front()), width);
  if (unknown.size() > 1)
    text += fmt::format(" and {} more", unknown.size() - 1);
  return text;
}

std::vector<Ranks> by_job(const Dump& dump) {
  std::vector<Ranks> jobs;
  const bool several = has_several_jobs(dump);
  for (const RankDump& rank : dump.ranks) {
    if (jobs.empty() || (several && jobs.back().front()->job_id != rank.job_id))
      jobs.emplace_back();
    jobs.back().push_back(&rank);
  }
  return jobs;
}

} // namespace mqbridge
