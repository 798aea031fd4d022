#include "tests/e2e/harness/verdict_case.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <ostream>
#include <set>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;

// These say what is wrong with a program: of one in which it is not, they are false.
const std::set<std::string> accusing = {
    "cycle",          "knot",          "partner_gone",          "partner_finalized",
    "tag_mismatch",   "never_started", "communicator_mismatch", "source_mismatch",
    "too_long",       "suspended",     "collective_mismatch",   "collective_order",
    "stuck_transport"};

std::vector<int> ranks_of(const json& runs) {
  std::vector<int> ranks;
  for (const json& run : runs)
    for (int rank = run[0]; rank <= run[1]; rank += std::max(1, run[2].get<int>()))
      ranks.push_back(rank);
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

class VerdictComparison {
public:
  VerdictComparison(const VerdictCase& param, const json& analysis)
      : param_(param), analysis_(analysis) {}

  std::vector<std::string> differences() {
    if (!analysis_.is_object())
      return {"no analysis"};
    const std::string verdict = analysis_["verdict"];
    const bool undecided = verdict == "undecided" && param_.may_be_undecided;
    if (param_.may_be_possible && verdict == "deadlock" && analysis_["confidence"] == "possible")
      return {};
    if (verdict != param_.verdict && !undecided)
      say(fmt::format("{} is said to be {}", param_.verdict, verdict));
    compare_ranks();
    compare_confidence();
    compare_findings();
    compare_odd();
    return std::move(out_);
  }

private:
  void say(std::string text) { out_.push_back(std::move(text)); }

  void compare_ranks() {
    compare_ranks_in("", analysis_);
    if (!param_.spawns)
      return;
    const json by_job = analysis_.value("by_job", json());
    if (!by_job.is_object() || by_job.size() != (param_.is_deadlock() ? 2 : by_job.size()))
      say(fmt::format("by_job of two jobs is {}", by_job.dump()));
    else
      for (const auto& [job, ranks] : by_job.items())
        compare_ranks_in(fmt::format("job {}: ", job), ranks);
  }

  void compare_ranks_in(const std::string& where, const json& found) {
    if (ranks_of(found["core"]) != param_.core)
      say(fmt::format("{}the core {} is said to be {}", where, param_.core,
                      ranks_of(found["core"])));
    if (ranks_of(found["blocked"]) != param_.blocked)
      say(fmt::format("{}the blocked {} are said to be {}", where, param_.blocked,
                      ranks_of(found["blocked"])));
  }

  void compare_confidence() {
    static const std::map<std::string, int> order = {
        {"possible", 0}, {"likely", 1}, {"certain", 2}};
    const json& confidence = analysis_["confidence"];
    if (param_.confidence == "possible" && confidence != "possible")
      say(fmt::format("confidence of no more than possible is {}", confidence.dump()));
    if (!param_.is_deadlock() || analysis_["verdict"] != "deadlock")
      return;
    if (!confidence.is_string() || order.at(confidence) < order.at(param_.confidence))
      say(fmt::format("confidence of at least {} is {}", param_.confidence, confidence.dump()));
  }

  void compare_findings() {
    std::set<std::string> kinds;
    bool straggling = param_.stragglers.empty();
    for (const json& finding : analysis_["findings"]) {
      const std::string kind = finding["kind"];
      kinds.insert(kind);
      straggling |= kind == "straggler" && ranks_of(finding["ranks"]) == param_.stragglers;
      const auto& expected = param_.findings;
      if (param_.suspended >= 0 && kind == "stuck_transport")
        continue; // what is on its way to a suspended process stands still
      if (accusing.count(kind) != 0 &&
          std::find(expected.begin(), expected.end(), kind) == expected.end())
        say("a finding too many: " + finding.dump());
    }
    for (const std::string& kind : param_.findings)
      if (kinds.count(kind) == 0)
        say("no finding " + kind);
    if (!straggling)
      say(fmt::format("no straggler {}", param_.stragglers));
  }

  void compare_odd() {
    if (param_.odd.empty())
      return;
    const bool one = param_.odd.size() == 1;
    const auto who = fmt::format(", {} {} {} ", one ? "rank" : "ranks", fmt::join(param_.odd, ","),
                                 one ? "is" : "are");
    const json& places = analysis_["look_at"];
    if (places.empty() || places[0].get<std::string>().find(who) == std::string::npos)
      say(fmt::format("to be looked at is not first where the ranks {} are: {}", param_.odd,
                      places.dump()));
  }

  const VerdictCase& param_;
  const json& analysis_;
  std::vector<std::string> out_;
};

} // namespace

void PrintTo(const VerdictCase& param, std::ostream* stream) {
  *stream << case_name(param);
}

std::string case_name(const VerdictCase& param) {
  return fmt::format("{}_{}{}", param.scenario, param.ranks,
                     param.suspended >= 0 ? "_suspended" : "");
}

std::vector<std::string> verdict_differences(const VerdictCase& param, const json& analysis) {
  return VerdictComparison(param, analysis).differences();
}

} // namespace mqbridge::e2e
