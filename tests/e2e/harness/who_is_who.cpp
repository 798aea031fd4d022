#include "tests/e2e/harness/who_is_who.h"

#include "tests/e2e/harness/oracle.h"
#include "tests/support/eventually.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <map>
#include <optional>
#include <set>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;
using Pids = std::vector<long>;

constexpr std::string_view file_name = "who.";

struct Written {
  int label = 0;
  int local_rank = 0;
  Pids local, remote;
};

Pids read_pids(std::istream& in) {
  std::size_t count = 0;
  in >> count;
  Pids pids(count);
  for (long& pid : pids)
    in >> pid;
  return pids;
}

std::vector<Written> read_written(const std::filesystem::path& directory, long pid) {
  std::vector<Written> all;
  std::ifstream in(directory / fmt::format("{}{}", file_name, pid));
  Written next;
  while (in >> next.label >> next.local_rank) {
    next.local = read_pids(in);
    next.remote = read_pids(in);
    all.push_back(next);
  }
  return all;
}

class IdentityComparison {
public:
  IdentityComparison(const json& document, bool other_jobs)
      : document_(document), other_jobs_(other_jobs) {}

  void compare(const json& rank, const Written& written) {
    const json found = communicator(rank, written.label);
    const std::string where = fmt::format("rank {} of job {}, communicator {}", rank["rank"].dump(),
                                          rank["job_id"].dump(), written.label);
    if (found.is_null())
      return say(where, "is not there");
    if (found["size"] != written.local.size() || found["local_rank"] != written.local_rank)
      say(where, fmt::format("rank {} of {}", found["local_rank"].dump(), found["size"].dump()));
    if (found["kind"] != (written.remote.empty() ? "intra" : "inter"))
      say(where, "kind " + found["kind"].dump());
    const auto local = pids(rank, found["group"], found["members"]);
    const auto remote = pids(rank, found["remote_group"], found["remote_members"]);
    expect(where + " local", rank, local, written.local);
    expect(where + " remote", rank, remote, written.remote);
    compare_peer(where, rank, found, written);
    Pids everybody = written.local;
    everybody.insert(everybody.end(), written.remote.begin(), written.remote.end());
    std::ranges::sort(everybody);
    const std::string identity = fmt::format("{} of {}", written.label, everybody);
    if (local && (remote || written.remote.empty()))
      keys_[identity].insert(found["key"]);
    owners_[found["key"]].insert(identity);
  }

  std::vector<std::string> finish() {
    for (const auto& [identity, keys] : keys_)
      if (keys.size() != 1)
        say(identity, fmt::format("has {} keys", keys.size()));
    for (const auto& [key, owners] : owners_)
      if (owners.size() != 1)
        say(key, fmt::format("is the key of {}", owners));
    return std::move(out_);
  }

private:
  void say(const std::string& where, const std::string& what) {
    out_.push_back(where + ": " + what);
  }

  // The one in which the receive with this tag is.
  static json communicator(const json& rank, int label) {
    for (const json& each : rank["communicators"])
      for (const json& operation : each["queues"]["receive"]["operations"])
        if (operation["tag"]["value"] == label)
          return each;
    return {};
  }

  long pid_of(const json& job, const json& rank) const {
    for (const json& each : document_["ranks"])
      if (each["job_id"] == job && each["rank"] == rank)
        return each["pid"];
    return -1;
  }

  // nullopt: the document does not say.
  std::optional<Pids> pids(const json& rank, const json& group, const json& members) const {
    Pids found;
    for (const long member : expand_runs(group))
      found.push_back(pid_of(rank["job_id"], member));
    for (const json& member : members)
      found.push_back(pid_of(member["job_id"], member["rank"]));
    return found.empty() ? std::nullopt : std::optional(found);
  }

  void expect(const std::string& where, const json& rank, const std::optional<Pids>& said,
              const Pids& written) {
    const bool must_be_known = !written.empty() && (other_jobs_ || is_of_job(rank, written));
    if (said ? *said != written : must_be_known)
      say(where, fmt::format("{}, should be {}", said.value_or(Pids()), written));
  }

  bool is_of_job(const json& rank, const Pids& written) const {
    return std::ranges::all_of(document_["ranks"], [&](const json& each) {
      return each["job_id"] == rank["job_id"] ||
             std::ranges::find(written, each["pid"].get<long>()) == written.end();
    });
  }

  void compare_peer(const std::string& where, const json& rank, const json& found,
                    const Written& written) {
    const Pids& peers = written.remote.empty() ? written.local : written.remote;
    for (const json& operation : found["queues"]["receive"]["operations"]) {
      const json& peer = operation["peer"];
      if (peer["local_rank"] != peers.size() - 1)
        say(where, "peer " + peer.dump());
      else if (!peer["global_rank"].is_null() &&
               pid_of(rank["job_id"], peer["global_rank"]) != peers.back())
        say(where, "peer " + peer.dump());
    }
  }

  const json& document_;
  bool other_jobs_;
  std::map<std::string, std::set<std::string>> keys_;   // by communicator
  std::map<std::string, std::set<std::string>> owners_; // communicators, by key
  std::vector<std::string> out_;
};

} // namespace

std::vector<std::string> who_targets(const std::filesystem::path& directory) {
  // As they were started, one job after the other: of MPICH's jobs only that tells them apart.
  std::set<long> pids;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    if (const auto name = entry.path().filename().string(); name.starts_with(file_name))
      pids.insert(std::stol(name.substr(file_name.size())));
  std::vector<std::string> targets;
  for (const long pid : pids)
    targets.push_back("local:" + std::to_string(pid));
  return targets;
}

bool who_finishes(const std::filesystem::path& directory) {
  std::ofstream(directory / "go").flush();
  return test::eventually(std::chrono::seconds(30), [&] {
    return std::filesystem::exists(directory / "finished.0") &&
           std::filesystem::exists(directory / "finished.1");
  });
}

std::vector<std::string> who_differences(const std::filesystem::path& directory,
                                         const json& document, bool other_jobs) {
  IdentityComparison comparison(document, other_jobs);
  for (const json& rank : document["ranks"])
    for (const Written& written : read_written(directory, rank["pid"]))
      comparison.compare(rank, written);
  return comparison.finish();
}

} // namespace mqbridge::e2e
