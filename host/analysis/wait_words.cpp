#include "host/analysis/wait_words.h"

#include "host/disk/file_name.h"
#include "host/mpi/call_arguments.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>
#include <vector>

namespace mqbridge {
namespace {

constexpr std::size_t most_groups = 3; ///< of like operations that one line names

std::string tag_words(const Tag& tag) {
  return tag.any ? "any" : tag.value ? std::to_string(*tag.value) : "?";
}

std::string_view noun(const OperationAt& at) {
  if (at.op_class == OpClass::send)
    return "send";
  const OpKind kind = at.operation->kind;
  return kind == OpKind::probe || kind == OpKind::mprobe ? "probe" : "receive";
}

std::string_view direction(const OperationAt& at) {
  return at.op_class == OpClass::send ? "to" : "from";
}

/// Names the ranks that a call waits for, in the jobs of their processes.
class RankNames {
public:
  explicit RankNames(const JobPicture& picture) : picture_(picture) {}

  void add(const Partner& partner) {
    if (partner.rank >= 0)
      by_job_[partner.job].push_back(partner.rank);
  }

  std::string words(std::size_t own_job) const {
    std::string all;
    for (const auto& [job, ranks] : by_job_) {
      const auto sorted = in_order(ranks);
      const bool named = job != own_job && job < picture_.jobs().size() && picture_.jobs()[job];
      all += fmt::format("{}{}{}", all.empty() ? "" : ", ", range_text(sorted, 4),
                         named            ? job_words(picture_, job)
                         : job != own_job ? " of another job"
                                          : "");
    }
    return all.empty() ? "nobody" : all;
  }

  /// Of all jobs but `own`, as far as their names are known.
  std::vector<JobRanks> elsewhere(std::size_t own) const {
    std::vector<JobRanks> all;
    for (const auto& [job, ranks] : by_job_)
      if (job != own && job < picture_.jobs().size() && picture_.jobs()[job])
        all.push_back({*picture_.jobs()[job], to_runs(in_order(ranks))});
    return all;
  }

  std::vector<Run> runs(std::size_t job) const {
    const auto at = by_job_.find(job);
    if (at == by_job_.end())
      return {};
    return to_runs(in_order(at->second));
  }

private:
  /// The ranks in order, each once. Most come in order already.
  static std::vector<std::int64_t> in_order(std::vector<std::int64_t> ranks) {
    if (!std::ranges::is_sorted(ranks))
      std::ranges::sort(ranks);
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
  }

  const JobPicture& picture_;
  std::map<std::size_t, std::vector<std::int64_t>> by_job_;
};

/// All ranks that an operation may meet, except the process itself.
std::vector<Run> others_of(const JobPicture& picture, std::size_t process, const Seat& seat) {
  const Communicator& communicator = *seat.communicator;
  const bool inter = communicator.kind == CommunicatorKind::inter;
  const RankList& group = inter ? communicator.remote.ranks : communicator.group;
  if (!group)
    return {};
  auto runs = to_runs(*group);
  if (inter)
    return runs;
  const std::int64_t own = picture.process(process).rank;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Run run = runs[i];
    if (run.step != 1 || own < run.first || own > run.last)
      continue;
    runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(i));
    const auto at = runs.begin() + static_cast<std::ptrdiff_t>(i);
    std::vector<Run> around;
    if (own > run.first)
      around.push_back({run.first, own - 1, 1});
    if (own < run.last)
      around.push_back({own + 1, run.last, 1});
    runs.insert(at, around.begin(), around.end());
    break;
  }
  return runs;
}

/// Words about like operations as a whole: "2 receives from 1,2 tag 5 on C1".
class Summary {
public:
  Summary(const JobPicture& picture, std::size_t process) : picture_(picture), process_(process) {}

  void add(const OperationAt& at) {
    const Operation& operation = *at.operation;
    const auto key = std::tuple(noun(at), communicator_words(*at.seat->communicator),
                                tag_words(operation.tag), operation.peer.any);
    auto [group, is_new] = groups_.try_emplace(key, Group{at, 0, RankNames(picture_)});
    ++group->second.count;
    if (is_new)
      order_.push_back(key);
    if (const auto partner = picture_.partner(process_, *at.seat->communicator, operation.peer))
      group->second.ranks.add(*partner);
  }

  std::string words() const {
    std::string all;
    for (std::size_t i = 0; i < std::min(order_.size(), most_groups); ++i) {
      const auto& group = groups_.at(order_[i]);
      const auto& [what, key, tag, any] = order_[i];
      const std::string peers = any ? "anybody" : group.ranks.words(picture_.process(process_).job);
      all += fmt::format("{}{} {}{} {} {} tag {} on {}", i == 0 ? "" : ", ", group.count, what,
                         group.count == 1 ? "" : "s", direction(group.first), peers, tag, key);
    }
    if (order_.size() > most_groups)
      all += fmt::format(", and {} kinds more", order_.size() - most_groups);
    return all;
  }

private:
  using Key = std::tuple<std::string_view, std::string, std::string, bool>;
  struct Group {
    OperationAt first;
    std::size_t count = 0;
    RankNames ranks;
  };

  const JobPicture& picture_;
  std::size_t process_;
  std::map<Key, Group> groups_;
  std::vector<Key> order_;
};

/// Words about one call of one process.
class CallWords {
public:
  CallWords(const JobWaits& waits, std::size_t process, const CallWait& call)
      : picture_(waits.picture()), process_(process), call_(call) {}

  std::string words() const {
    const std::string name = call_.call != nullptr     ? *call_.call->call
                             : call_.asleep != nullptr ? "a loop around a sleep"
                                                       : "a call";
    const CallKind kind = kind_of_call(name);
    if (call_.by_arguments)
      return words_by_arguments(name, kind);
    if (call_.members && call_.members.size() == 0)
      return fmt::format("{}{}: all that it needs have entered it", name, on_communicator());
    if (call_.members)
      return fmt::format("{}{}: {} not entered it", name, on_communicator(), absent_words());
    if (is_collective(kind) && !call_.operations.empty())
      return fmt::format("{} on {}: waits for {}", name,
                         communicator_words(*call_.operations.front().seat->communicator),
                         inside_words());
    std::string all = own_words(name, kind);
    if (!call_.unknown.empty() && !all.empty())
      return all + fmt::format("; not visible: {}", call_.unknown);
    if (!all.empty())
      return all;
    const bool told = call_.call != nullptr && call_.call->arguments;
    return (told ? words_by_arguments(name, CallKind::local) + ":" : name + ":") +
           " it is not visible what for";
  }

private:
  std::string words_by_arguments(const std::string& name, CallKind kind) const {
    const bool all = kind == CallKind::collective && call_.mode == WaitGraph::Mode::all;
    return fmt::format("{}{}{} {}", name, argument_words(name, *call_.call->arguments),
                       all ? fmt::format(": {} not entered it", absent_words()) : "",
                       from_arguments);
  }

  bool is_collective(CallKind kind) const {
    return kind == CallKind::collective || kind == CallKind::construct ||
           kind == CallKind::connect ||
           std::ranges::all_of(call_.operations, [](const OperationAt& at) {
             return at.operation->collective != Collective::none;
           });
  }

  std::string on_communicator() const {
    if (call_.call == nullptr || !call_.call->communicator)
      return "";
    for (const Seat& seat : picture_.process(process_).seats)
      if (seat.communicator->id == *call_.call->communicator)
        return " on " + communicator_words(*seat.communicator);
    return "";
  }

  std::string absent_words() const {
    RankNames ranks(picture_);
    for (const Partner& member : call_.members)
      ranks.add(member);
    const bool unseen =
        std::ranges::any_of(call_.members, [](const Partner& member) { return member.rank < 0; });
    const auto named = ranks.words(picture_.process(process_).job);
    const bool one = call_.members.size() == 1 && !unseen;
    return fmt::format("{}{} {}", named, unseen ? " and ranks that were not dumped" : "",
                       one ? "has" : "have");
  }

  /// The processes that the MPI's own operations inside a call are for.
  std::string inside_words() const {
    RankNames ranks(picture_);
    bool any = false;
    for (const OperationAt& at : call_.operations) {
      any = any || at.operation->peer.any;
      if (const auto partner =
              picture_.partner(process_, *at.seat->communicator, at.operation->peer))
        ranks.add(*partner);
    }
    return any ? "the members that are not in it" : ranks.words(picture_.process(process_).job);
  }

  std::string own_words(const std::string& name, CallKind kind) const {
    const std::size_t count = call_.operations.size() + call_.collectives.size();
    if (count == 0)
      return "";
    std::string what;
    if (!call_.operations.empty()) {
      Summary summary(picture_, process_);
      for (const OperationAt& at : call_.operations)
        summary.add(at);
      what = summary.words();
    }
    for (const CollectiveUnderWay* collective : call_.collectives)
      what += fmt::format(
          "{}{} on {} (waits for {})", what.empty() ? "" : ", ",
          collective->recorded != nullptr ? collective->recorded->call : "a nonblocking collective",
          communicator_words(*collective->seat->communicator), partners_of(*collective));
    const bool waits_for_request = kind == CallKind::wait_all || kind == CallKind::wait_any ||
                                   kind == CallKind::poll || kind == CallKind::unseen;
    if (count == 1 && call_.collectives.empty() && !waits_for_request)
      return fmt::format("{} {}", name,
                         operation_words(picture_, process_, call_.operations.front()));
    const bool any = call_.mode == WaitGraph::Mode::any && count > 1;
    if (any && call_.guessed && kind == CallKind::exchange)
      return fmt::format("{} for one or more of these {} (which ones is not known): {}", name,
                         count, what);
    if (any && call_.guessed && waits_for_one(name))
      return fmt::format("{} for one of these {} (which one is not known): {}", name, count, what);
    return fmt::format(
        "{} for {}{}{}", name, any ? "any of " : "", what,
        call_.guessed && any && kind != CallKind::wait_any ? " (which one is not known)" : "");
  }

  std::string partners_of(const CollectiveUnderWay& collective) const {
    RankNames ranks(picture_);
    for (const OperationAt& at : collective.operations)
      if (const auto partner =
              picture_.partner(process_, *at.seat->communicator, at.operation->peer))
        ranks.add(*partner);
    if (collective.members.members)
      for (const Partner& member : collective.members.members)
        ranks.add(member);
    return ranks.words(picture_.process(process_).job);
  }

  const JobPicture& picture_;
  std::size_t process_;
  const CallWait& call_;
};

/// The members of other jobs that an operation may meet.
std::vector<JobRanks> others_elsewhere(const JobPicture& picture, std::size_t process,
                                       const Communicator& communicator) {
  const auto& members = communicator.kind == CommunicatorKind::inter ? communicator.remote.members
                                                                     : communicator.members;
  const auto& own = picture.jobs()[picture.process(process).job];
  std::map<std::string, std::vector<std::int64_t>> by_job;
  for (const Member& member : members)
    if (member.job != own)
      by_job[member.job].push_back(member.rank);
  std::vector<JobRanks> all;
  for (const auto& [job, ranks] : by_job)
    all.push_back({job, to_runs(ranks)});
  return all;
}

/// Whom the call waits for.
void set_partners(Wait& wait, const JobPicture& picture, std::size_t process,
                  const CallWait& call) {
  RankNames ranks(picture);
  const auto add = [&](const OperationAt& at) {
    if (const auto partner = picture.partner(process, *at.seat->communicator, at.operation->peer))
      ranks.add(*partner);
  };
  for (const OperationAt& at : call.operations) {
    if (at.operation->peer.any) {
      wait.ranks = others_of(picture, process, *at.seat);
      wait.elsewhere = others_elsewhere(picture, process, *at.seat->communicator);
      return;
    }
    add(at);
  }
  for (const CollectiveUnderWay* collective : call.collectives) {
    for (const OperationAt& at : collective->operations)
      add(at);
    if (collective->members.members)
      for (const Partner& member : collective->members.members)
        ranks.add(member);
  }
  if (call.members)
    for (const Partner& member : call.members)
      ranks.add(member);
  const std::size_t own = picture.process(process).job;
  wait.ranks = ranks.runs(own);
  wait.elsewhere = ranks.elsewhere(own);
}

} // namespace

std::string name_of_process(const JobPicture& picture, const Partner& partner) {
  if (partner.job >= picture.jobs().size())
    return fmt::format("rank {} of another job", partner.rank);
  if (picture.jobs().size() == 1 || !picture.jobs()[partner.job])
    return fmt::format("rank {}", partner.rank);
  return fmt::format("rank {} of job {}", partner.rank, *picture.jobs()[partner.job]);
}

std::string name_of_process(const JobPicture& picture, std::size_t process) {
  const Process& it = picture.process(process);
  return name_of_process(picture, Partner{process, it.job, it.rank});
}

std::string communicator_words(const Communicator& communicator) {
  if (communicator.named_by_mpi || communicator.name.empty())
    return communicator.key;
  return fmt::format("{} \"{}\"", communicator.key, communicator.name);
}

std::string operation_words(const JobPicture& picture, std::size_t process, const OperationAt& at) {
  const Operation& operation = *at.operation;
  std::string peer = "?";
  if (operation.peer.any)
    peer = "anybody";
  else if (const auto partner = picture.partner(process, *at.seat->communicator, operation.peer)) {
    RankNames ranks(picture);
    ranks.add(*partner);
    peer = ranks.words(picture.process(process).job);
  }
  return fmt::format("{} {} tag {} on {}", direction(at), peer, tag_words(operation.tag),
                     communicator_words(*at.seat->communicator));
}

std::string name_of_thread(const Process& process, const BlockedCall& call) {
  const auto name_of = [&](std::optional<std::int64_t> thread) -> std::optional<std::string> {
    if (process.now->stacks && thread)
      for (const ThreadStack& stack : *process.now->stacks)
        if (stack.thread == *thread)
          return stack.name;
    return std::nullopt;
  };
  const auto name = name_of(call.thread);
  return name && name != name_of(process.now->pid) ? fmt::format("thread `{}`", *name)
                                                   : fmt::format("thread {}", call.thread);
}

std::string name_of_idle(const JobWaits& waits, std::size_t process, const BlockedCall& thread) {
  const bool polls = std::ranges::any_of(
      waits.of(process).calls, [&](const CallWait& call) { return call.asleep == &thread; });
  return polls ? "the polling loop" : name_of_thread(waits.picture().process(process), thread);
}

std::string ranks_words(const std::vector<std::int64_t>& ranks) {
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", range_text(ranks, 6));
}

std::string job_words(const JobPicture& picture, std::size_t job) {
  const auto& name = picture.jobs()[job];
  return picture.jobs().size() > 1 && name ? fmt::format(" of job {}", job_number(*name)) : "";
}

std::string ranks_words(const JobPicture& picture,
                        const std::map<std::size_t, std::vector<std::int64_t>>& by_job) {
  std::string all;
  for (const auto& [job, ranks] : by_job)
    all += (all.empty() ? "" : ", ") + ranks_words(ranks) + job_words(picture, job);
  return all;
}

std::string place_words(const BlockedCall& call) {
  if (call.file && call.line)
    return fmt::format("{}:{}", file_name(*call.file), *call.line);
  return call.function && call.call ? fmt::format("called by {}", *call.function) : "";
}

std::string whereabouts(const BlockedCall& call) {
  std::string words = call.call ? *call.call : call.function.value_or("");
  if (call.call || (call.file && call.line))
    words += words.empty() ? place_words(call) : at_place(place_words(call));
  if (!call.call && call.system_call)
    words += fmt::format("{}in system call {}", words.empty() ? "" : ", ", *call.system_call);
  return words;
}

Wait wait_of(const JobWaits& waits, std::size_t process, const CallWait& call) {
  const JobPicture& picture = waits.picture();
  const Process& it = picture.process(process);
  Wait wait;
  wait.rank = it.rank;
  const bool wildcard = std::ranges::any_of(
      call.operations, [](const OperationAt& at) { return at.operation->peer.any; });
  const bool one = call.operations.size() + call.collectives.size() == 1;
  // Of an exchange one of these need not be enough.
  const bool exchange =
      call.call != nullptr && kind_of_call(*call.call->call) == CallKind::exchange;
  const bool any = call.mode == WaitGraph::Mode::any && !exchange;
  wait.mode = any || (wildcard && one) ? WaitsFor::any : WaitsFor::all;
  set_partners(wait, picture, process, call);
  wait.because = CallWords(waits, process, call).words();
  if (const BlockedCall* at = call.call != nullptr ? call.call : call.asleep) {
    if (auto place = place_words(*at); !place.empty())
      wait.place = std::move(place);
    wait.thread = std::to_string(at->thread);
  }
  if (picture.jobs().size() > 1)
    wait.job_id = it.now->job_id;
  wait.unseen = call.unseen;
  return wait;
}

} // namespace mqbridge
