#include "host/analysis/join.h"

#include "host/dump/together/communicator_keys.h"
#include "host/dump/together/recorded_messages.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

namespace mqbridge {
namespace {

struct RankKey {
  std::string job; ///< empty: the only one
  int rank = 0;
  auto operator<=>(const RankKey&) const = default;
};

/// One look at one rank.
struct Look {
  std::string at;   ///< RFC 3339
  std::string name; ///< of its document
  RankDump rank;
};

std::string time_of(const RankDump& rank, const std::string& taken_at) {
  return rank.stopped_at.value_or(taken_at);
}

template <class T>
void add(std::vector<T>& all, const std::vector<T>& some) {
  for (const T& one : some)
    if (std::ranges::find(all, one) == all.end())
      all.push_back(one);
}

/// Of two values the one that leaves out more: the lower verbosity.
template <class T>
void add(std::optional<T>& all, const std::optional<T>& some) {
  if (some && (!all || *some < *all))
    all = some;
}

/// Operations that one document left out are missing in the whole.
void add(Filters& all, const Filters& some) {
  each_filter([](Filter, auto& joined, const auto& added) { add(joined, added); }, all, some);
  all.no_queues = all.no_queues || some.no_queues;
}

class Joiner {
public:
  void take(NamedDump document) {
    ++documents_;
    Dump& dump = document.dump;
    for (EarlierLook& look : dump.earlier) {
      // The newest look has each target, so that they would count twice.
      std::erase_if(look.ranks, [](const RankDump& rank) { return !rank.rank; });
      take(std::move(look.ranks), look.taken_at, document.name);
    }
    take(std::move(dump.ranks), dump.taken_at, document.name);
    take_head(std::move(dump));
  }

  Result<Dump> done() {
    std::map<std::size_t, EarlierLook> earlier; // by the number of looks after it
    for (auto& [key, looks] : looks_) {
      if (auto same = check_same(key, looks); !same)
        return forward(std::move(same));
      std::ranges::stable_sort(looks, {}, &Look::at);
      // If two documents have the same look, it counts once.
      const auto at_once = [](const Look& a, const Look& b) { return a.at == b.at; };
      looks.erase(std::unique(looks.begin(), looks.end(), at_once), looks.end());
      for (std::size_t i = 0; i + 1 < looks.size(); ++i) {
        EarlierLook& look = earlier[looks.size() - 1 - i];
        look.taken_at = std::max(look.taken_at, looks[i].at);
        look.ranks.push_back(std::move(looks[i].rank));
      }
      joined_.ranks.push_back(std::move(looks.back().rank));
    }
    std::ranges::move(nameless_, std::back_inserter(joined_.ranks));
    for (auto look = earlier.rbegin(); look != earlier.rend(); ++look)
      joined_.earlier.push_back(std::move(look->second));
    const bool in_pieces = documents_ > 1 || lacks_names(joined_);
    name_communicators(joined_, documents_ > 1);
    if (in_pieces)
      settle_messages();
    return std::move(joined_);
  }

private:
  /// Lines of NDJSON were written before all ranks were known.
  static bool lacks_names(const Dump& dump) {
    return std::ranges::any_of(dump.ranks, [](const RankDump& rank) {
      return std::ranges::any_of(rank.communicators, [](const Communicator& communicator) {
        return communicator.key.empty();
      });
    });
  }

  /// Works out the messages again: each document was made without the recorders of the others'
  /// processes.
  void settle_messages() {
    settle_recorded_messages(joined_.ranks, joined_.earlier.empty() ? std::span<const RankDump>()
                                                                    : joined_.earlier.back().ranks);
    for (EarlierLook& look : joined_.earlier) {
      Dump then;
      then.ranks = std::move(look.ranks);
      name_communicators(then, true);
      settle_recorded_messages(then.ranks);
      look.ranks = std::move(then.ranks);
      for (RankDump& rank : look.ranks)
        for (Communicator& communicator : rank.communicators)
          communicator.key.clear(); // communicators of the newest look get names
    }
  }

  void take(std::vector<RankDump> ranks, const std::string& taken_at, const std::string& name) {
    for (RankDump& rank : ranks) {
      if (!rank.rank) {
        nameless_.push_back(std::move(rank));
        continue;
      }
      const RankKey key{rank.job_id.value_or(""), *rank.rank};
      auto at = time_of(rank, taken_at);
      looks_[key].push_back({std::move(at), name, std::move(rank)});
    }
  }

  /// The newest document gives the facts about the job.
  void take_head(Dump dump) {
    dump.ranks.clear();
    dump.earlier.clear();
    dump.analysis.reset();
    const bool newer = !any_ || dump.taken_at >= joined_.taken_at;
    auto errors = std::move(joined_.errors);
    auto filters = std::move(joined_.filters);
    add(filters, dump.filters);
    std::ranges::move(dump.errors, std::back_inserter(errors));
    if (newer)
      joined_ = std::move(dump);
    joined_.errors = std::move(errors);
    joined_.filters = std::move(filters);
    any_ = true;
  }

  static Result<void> check_same(const RankKey& key, const std::vector<Look>& looks) {
    const Look& first = looks.front();
    for (const Look& look : looks) {
      if (are_different_processes(first.rank, look.rank))
        return Failure({"analyze.jobs",
                        fmt::format("rank {} is another process in {} than in {}", key.rank,
                                    look.name, first.name),
                        "give documents of one job, and analyze each job by itself"});
    }
    return {};
  }

  std::map<RankKey, std::vector<Look>> looks_;
  std::vector<RankDump> nameless_; ///< their rank is not known: nobody waits for them by number
  Dump joined_;
  std::size_t documents_ = 0;
  bool any_ = false;
};

} // namespace

Result<Dump> join_documents(std::vector<NamedDump> documents) {
  Joiner joiner;
  for (NamedDump& document : documents)
    joiner.take(std::move(document));
  return joiner.done();
}

} // namespace mqbridge
