#include "tests/e2e/harness/call_sites.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <set>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr int second_receive_tag = 41; // tests/inferiors/call_messages.c

std::string text_or_null(const json& value) {
  return value.is_string() ? value.get<std::string>() : "null";
}

/// "FUNCTION FILE:LINE", as call_log() writes it.
std::string site_of(const json& entry) {
  return fmt::format("{} {}:{}", text_or_null(entry["call"]), text_or_null(entry["file"]),
                     entry["line"].is_number() ? entry["line"].get<int>() : 0);
}

std::set<std::string> sites_of(const json& rank) {
  std::set<std::string> sites;
  if (rank["blocked_in"].is_array())
    for (const json& entry : rank["blocked_in"])
      sites.insert(site_of(entry));
  return sites;
}

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    lines.push_back(line);
  return lines;
}

/// A loop of tests may be seen between two of them: on the same line, outside of MPI.
bool is_between(const CallCase& param, const std::string& expected,
                const std::set<std::string>& sites) {
  const auto place = expected.find(' ');
  return param.call.ends_with("_loop") && place != std::string::npos && sites.size() == 1 &&
         *sites.begin() == "null" + expected.substr(place);
}

/// Of three receives that are pending it waits for the second one.
std::string request_difference(const json& rank) {
  json expected;
  for (const json& communicator : rank["communicators"])
    for (const json& operation : communicator["queues"]["receive"]["operations"])
      if (operation["tag"]["value"] == second_receive_tag && operation["status"] == "pending")
        expected = operation["request"];
  const json& call = rank["blocked_in"][0];
  if (!expected.is_null() && call["request"] == expected && call["request_unique"] == true)
    return {};
  return fmt::format("waits for {}, and not {}", expected.dump(), call.dump());
}

std::string inside_difference(const CallCase& param, const fs::path& said, const json& rank) {
  const auto lines = lines_of(said);
  if (lines.empty())
    return "nothing was said";
  std::set<std::string> expected = {lines.back()};
  if (param.call == "two_threads")
    expected = {lines.begin(), lines.end()};
  const auto sites = sites_of(rank);
  if (sites == expected && param.call == "wait_second")
    return request_difference(rank);
  if (sites == expected || is_between(param, lines.back(), sites))
    return {};
  return fmt::format("is in {}, not in {}", fmt::join(expected, " and "),
                     rank["blocked_in"].dump());
}

std::string outside_difference(const json& rank) {
  const json& calls = rank["blocked_in"];
  // The kernel restarts a sleep that an earlier dump interrupted.
  const std::set<std::string> sleeps = {"clock_nanosleep", "nanosleep", "restart_syscall"};
  if (!calls.is_array() || calls.size() != 1 || !calls[0]["call"].is_null() ||
      !calls[0]["line"].is_number())
    return fmt::format("sleeps in job_wait_for_go, and not {}", calls.dump());
  const auto function = text_or_null(calls[0]["function"]);
  const bool looks = function == "job_may_go" || function == "end_if_forgotten"; // between sleeps
  const bool right = looks || (function == "job_wait_for_go" &&
                               (calls[0]["system_call"].is_null() || // on its way there, or back
                                sleeps.count(text_or_null(calls[0]["system_call"])) != 0));
  return right ? "" : fmt::format("sleeps in job_wait_for_go, and not {}", calls.dump());
}

} // namespace

std::vector<std::string> site_differences(const CallCase& param, const fs::path& step,
                                          const json& document) {
  std::vector<std::string> differences;
  for (const json& rank : document["ranks"]) {
    const int number = rank["rank"].get<int>();
    const auto suffix = fmt::format(".{}", number);
    if (fs::exists(step / ("returned" + suffix)))
      continue;
    const auto difference = param.is_inside(number)
                                ? inside_difference(param, step / ("call" + suffix), rank)
                                : outside_difference(rank);
    if (!difference.empty())
      differences.push_back(fmt::format("rank {} {}", number, difference));
  }
  return differences;
}

} // namespace mqbridge::e2e
