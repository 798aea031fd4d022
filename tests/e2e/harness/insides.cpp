#include "tests/e2e/harness/call_case.h"
#include "tests/e2e/harness/queue_view.h"

#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <set>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;
using Names = std::set<std::string>;

constexpr int bridge_tag = 77; // call_collectives.c

// The calls that Open MPI 4.1 makes inside of others (ompi/mca/coll/{base,basic,inter},
// ompi/communicator): their messages are theirs.
const std::map<std::string, Names> inner_calls = {
    {"allgatherv", {"gatherv", "bcast"}},
    {"reduce_scatter", {"reduce", "scatterv"}},
    {"reduce_scatter_block", {"reduce", "scatter"}},
    {"neighbor_allgather", {"neighbor"}},
    {"neighbor_allgatherv", {"neighbor"}},
    {"neighbor_alltoall", {"neighbor"}},
    {"neighbor_alltoallv", {"neighbor"}},
    {"neighbor_alltoallw", {"neighbor"}},
    {"comm_dup", {"nonblocking"}},
    {"comm_split", {"allgather", "nonblocking"}},
    {"comm_create", {"nonblocking"}},
    {"intercomm_create", {"bcast", "nonblocking", "internal"}}, // the last from release 5 on
};
const std::map<std::string, Names> inner_calls_of_intercommunicators = {
    {"barrier", {"allreduce", "reduce", "bcast"}},
    {"allgather", {"gather", "bcast"}},
    {"allgatherv", {"gather", "gatherv", "bcast"}},
    {"allreduce", {"reduce", "bcast"}},
    {"gatherv", {"gather"}},
    {"reduce_scatter", {"reduce", "scatterv"}},
    {"reduce_scatter_block", {"reduce", "scatter", "reduce_scatter"}},
    {"comm_dup", {"nonblocking"}},
    {"comm_split", {"allgather", "gather", "bcast", "nonblocking"}},
    {"intercomm_merge", {"allgatherv", "gather", "gatherv", "bcast", "nonblocking"}},
};

Names names_of(const CallCase& param) {
  const auto& inner = param.comm == "between" ? inner_calls_of_intercommunicators : inner_calls;
  const auto found = inner.find(param.call);
  Names names = found == inner.end() ? Names() : found->second;
  names.insert(param.call);
  return names;
}

// The two leaders of MPI_Intercomm_create talk with the program's own tag.
bool is_leaders_own(const CallCase& param, const FoundOperation& found) {
  return param.call == "intercomm_create" && found["tag"]["value"] == bridge_tag;
}

// One rank's share of a call.
struct Share {
  bool inside = false;
  bool returned = false;
  std::vector<FoundOperation> pending; ///< of the call: internal, and a leader's own
  std::set<int> waits_for;             ///< world ranks

  bool blocked() const { return inside && !returned; }
};

class Inside {
public:
  Inside(const CallCase& param, const std::filesystem::path& step, const json& document)
      : param_(param), document_(document) {
    for (std::size_t rank = 0; rank < document["ranks"].size(); ++rank)
      shares_.push_back(share_of(static_cast<int>(rank), step));
  }

  std::vector<std::string> differences() {
    for (std::size_t rank = 0; rank < shares_.size(); ++rank) {
      where_ = fmt::format("rank {}", rank);
      compare_state(document_["ranks"][rank]);
      compare_internal(document_["ranks"][rank]);
      compare_own(document_["ranks"][rank]);
      compare_share(shares_[rank]);
      compare_receives(shares_[rank]);
      if (shares_[rank].blocked() && !reaches_outside(static_cast<int>(rank)))
        say("does not lead to a rank that is outside");
    }
    return std::move(out_);
  }

private:
  void say(const std::string& text) { out_.push_back(where_ + ": " + text); }

  Share share_of(int rank, const std::filesystem::path& step) {
    Share share;
    share.inside = param_.is_inside(rank);
    share.returned =
        share.inside && std::filesystem::exists(step / fmt::format("returned.{}", rank));
    const json& dumped = document_["ranks"][static_cast<std::size_t>(rank)];
    for (const auto& found : internal_operations(dumped))
      add(share, found);
    for (const auto& found : own_operations(dumped))
      if (is_leaders_own(param_, found))
        add(share, found);
    return share;
  }

  void add(Share& share, const FoundOperation& found) {
    if (found.queue == "unexpected" || found["status"] == "complete")
      return;
    share.pending.push_back(found);
    const json& peer = found["peer"];
    if (peer["any"] == true) {
      for (int rank = 0; rank < static_cast<int>(document_["ranks"].size()); ++rank)
        share.waits_for.insert(rank);
    } else if (peer["global_rank"].is_number()) {
      share.waits_for.insert(peer["global_rank"].get<int>());
    }
  }

  void compare_state(const json& rank) {
    if (rank["status"] != "ok")
      say(fmt::format("is {}: {}", rank["status"].dump(), rank["errors"].dump()));
    for (const json& communicator : rank["communicators"])
      for (const auto& [name, queue] : communicator["queues"].items())
        if (queue["state"] != "available" || queue["total"] != queue["operations"].size())
          say(fmt::format("{} {} is {} with {} of {}", communicator["name"].dump(), name,
                          queue["state"].dump(), queue["operations"].size(),
                          queue["total"].dump()));
  }

  void compare_internal(const json& rank) {
    const Names names = names_of(param_);
    for (const auto& found : internal_operations(rank)) {
      if (names.count(found["collective"].get<std::string>()) == 0)
        say("is not inside of that: " + found.text());
      if (found["source"] != "mqbridge")
        say("the DLL does not show that: " + found.text());
      const json& peer = found["peer"];
      const bool is_rank = peer["global_rank"].is_number() && peer["global_rank"] >= 0 &&
                           peer["global_rank"] < document_["ranks"].size();
      if (peer["any"] != true && !is_rank)
        say("no rank of the job: " + found.text());
      if (found["waited"].is_object() && found["waited"]["mode"] == "any")
        say("a collective waits for all: " + found.text());
    }
  }

  void compare_own(const json& rank) {
    for (const auto& found : own_operations(rank))
      if (!is_leaders_own(param_, found))
        say("nobody posted " + found.text());
  }

  void compare_share(const Share& share) {
    if (share.blocked() && share.pending.empty())
      say("is inside and waits for nothing");
    if (share.blocked())
      return;
    for (const auto& found : share.pending)
      say((share.inside ? "has come out: " : "is outside: ") + found.text());
  }

  void compare_receives(const Share& share) {
    for (const auto& found : share.pending) {
      const json& peer = found["peer"]["global_rank"];
      if (found.queue != "receive" || found["status"] != "pending" || !peer.is_number())
        continue;
      const auto number = peer.get<std::size_t>();
      if (number < shares_.size() && shares_[number].inside && shares_[number].returned)
        say("waits for one that has sent and gone: " + found.text());
    }
  }

  bool reaches_outside(int from) const {
    std::set<int> seen = {from};
    std::vector<int> next = {from};
    while (!next.empty()) {
      const auto& share = shares_[static_cast<std::size_t>(next.back())];
      next.pop_back();
      if (!share.inside)
        return true;
      for (const int rank : share.waits_for)
        if (static_cast<std::size_t>(rank) < shares_.size() && seen.insert(rank).second)
          next.push_back(rank);
    }
    return false;
  }

  const CallCase& param_;
  const json& document_;
  std::vector<Share> shares_;
  std::string where_;
  std::vector<std::string> out_;
};

} // namespace

std::vector<std::string>
inside_differences(const CallCase& param, const std::filesystem::path& step, const json& document) {
  return Inside(param, step, document).differences();
}

} // namespace mqbridge::e2e
