#include "host/report/dot_report.h"

#include "host/dump/values/ranges.h"
#include "host/report/fitted_text.h"
#include "host/report/verdict_words.h"

#include <fmt/format.h>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mqbridge {
namespace {

/// A text of Graphviz, in which nothing but its ends is special.
std::string in_quotes(std::string_view text) {
  std::string all = "\"";
  for (const char letter : printable(text)) {
    if (letter == '"' || letter == '\\')
      all += '\\';
    all += letter;
  }
  return all + '"';
}

class DotWriter {
public:
  DotWriter(const Analysis& analysis, const Sink& sink) : analysis_(analysis), sink_(sink) {
    for (const auto& [job, verdict] : verdicts_by_job(analysis))
      for (const std::int64_t rank : values_of(verdict.core))
        core_.emplace(job, rank);
  }

  void write() {
    const VerdictLine line = verdict_line(analysis_);
    sink_(fmt::format("digraph waits {{\n  label={};\n  labelloc=t;\n  node [shape=box];\n",
                      in_quotes(line.verdict + line.more)));
    for (const Wait& wait : analysis_.waits)
      write_wait(wait);
    for (const auto& [rank, name] : names_)
      if (!waiting_.contains(rank))
        write_node(rank, name, "");
    sink_("}\n");
  }

private:
  using Rank = std::pair<std::string, std::int64_t>; ///< job, number

  /// The job's name; empty if there is only one.
  std::string job_of(const Wait& wait) const {
    return analysis_.by_job.size() > 1 ? wait.job_id.value_or("") : std::string();
  }

  std::string name_of_node(const Rank& rank) {
    return names_.try_emplace(rank, fmt::format("n{}", names_.size())).first->second;
  }

  void write_node(const Rank& rank, const std::string& name, const std::string& below) {
    std::string text = fmt::format("rank {}", rank.second);
    if (!rank.first.empty())
      text += fmt::format(" of job {}", job_number(rank.first));
    sink_(fmt::format("  {} [label={}{}];\n", name, in_quotes(text + below),
                      core_.contains(rank) ? ", peripheries=2" : ""));
  }

  void write_wait(const Wait& wait) {
    const Rank rank{job_of(wait), wait.rank};
    const std::string from = name_of_node(rank);
    const std::string words = ": " + wait.because + at_place(wait.place.value_or(""));
    if (waiting_.insert(rank).second)
      write_node(rank, from, words);
    std::vector<Rank> others;
    for (const std::int64_t other : values_of(wait.ranks))
      others.emplace_back(rank.first, other);
    for (const JobRanks& job : wait.elsewhere)
      for (const std::int64_t other : values_of(job.ranks))
        others.emplace_back(job.job_id, other);
    std::string end = from;
    if (wait.mode == WaitsFor::any && others.size() > 1) {
      end = fmt::format("any{}", anys_++);
      sink_(fmt::format("  {} [label=\"any\", shape=diamond];\n  {} -> {};\n", end, from, end));
    }
    for (const Rank& other : others)
      sink_(fmt::format("  {} -> {};\n", end, name_of_node(other)));
  }

  const Analysis& analysis_;
  const Sink& sink_;
  std::set<Rank> core_;
  std::map<Rank, std::string> names_;
  std::set<Rank> waiting_; ///< whose nodes have been written
  std::size_t anys_ = 0;
};

} // namespace

void write_dot(const Dump& dump, const Sink& sink) {
  if (!dump.analysis)
    return sink(
        "digraph waits {\n  label=\"no verdict: no rank was seen, or none was asked for\";\n}\n");
  DotWriter(*dump.analysis, sink).write();
}

} // namespace mqbridge
