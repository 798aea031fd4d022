#include "host/doctor/examine_job.h"

#include "host/doctor/examine.h"
#include "host/dump/pool/server_groups.h"
#include "host/dump/target/node_server.h"
#include "host/dump/target/process_access.h"
#include "host/dump/values/ranges.h"
#include "host/launch/launch_options.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace mqbridge {
namespace {

/// Targets of one node, or of one stub, that are reached and read in the same way: a result for one
/// holds for all.
struct NodeTargets {
  std::string node;
  std::vector<const TargetSpec*> targets;
  ServerGroup servers; ///< of these targets
};

std::string node_of(const TargetSpec& target) {
  RankOutcome named;
  name_target(named, target);
  return named.dump.host.value_or(target.text());
}

/// How a target is reached, and where its files are. `server`: the number of its stub, if one is
/// running already.
std::string way_of(const TargetSpec& target, std::optional<std::size_t> server) {
  const auto& keys = target.keys;
  std::string way =
      fmt::format("{}\n{}\n{}", target.where.index(), server ? std::to_string(*server) : "",
                  keys.node_command.value_or(""));
  for (const auto& sysroot : keys.sysroots)
    way += "\nsysroot " + sysroot.string();
  for (const auto& types : keys.types)
    way += "\ntypes " + types.string();
  return keys.dll ? way + "\ndll " + keys.dll->string() : way;
}

std::vector<NodeTargets> targets_by_node(std::span<const TargetSpec> targets,
                                         const SharedTools& tools) {
  std::vector<NodeTargets> nodes;
  std::map<std::string, std::size_t> known;
  const auto groups = server_groups(targets, tools);
  for (std::size_t server = 0; server < groups.size(); ++server) {
    const auto& group = groups[server];
    for (const auto index : group.targets) {
      const TargetSpec& target = targets[index];
      auto node = node_of(target);
      const auto way = way_of(target, group.node ? std::nullopt : std::optional(server));
      const auto [at, is_new] = known.try_emplace(node + "\n" + way, nodes.size());
      if (is_new)
        nodes.push_back({std::move(node), {}, {group.node, {}}});
      nodes[at->second].targets.push_back(&target);
      nodes[at->second].servers.targets.push_back(index);
    }
  }
  return nodes;
}

bool has_fault_of(const Checklist& list, std::string_view subject) {
  return std::any_of(list.checks.begin(), list.checks.end(), [&](const Check& check) {
    return check.level == Check::Level::fault && check.subject == subject;
  });
}

std::string names_of(std::span<const TargetSpec* const> targets) {
  std::vector<std::int64_t> ranks;
  for (const TargetSpec* target : targets)
    if (target->rank)
      ranks.push_back(*target->rank);
  if (ranks.size() < targets.size())
    return targets.size() == 1 ? targets.front()->text()
                               : fmt::format("{} processes", targets.size());
  std::sort(ranks.begin(), ranks.end());
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", range_text(ranks));
}

Check not_looked_at(std::size_t others, std::string_view why) {
  return {Check::Level::limit,
          "others",
          fmt::format("{} other{} there {} not looked at: {}", others, others == 1 ? "" : "s",
                      others == 1 ? "was" : "were", why),
          {}};
}

/// The fault of a rank that was tried before the one that the checklist describes.
Check other_in_vain(const TargetSpec& target, const Checklist& list) {
  const auto fault = std::find_if(list.checks.begin(), list.checks.end(), [](const Check& check) {
    return check.level == Check::Level::fault;
  });
  const TargetSpec* const one = &target;
  return {Check::Level::fault, "others",
          fmt::format("{}: {}", names_of(std::span(&one, 1)), fault->text), fault->fixes};
}

std::vector<Check> look_at_rest(std::span<const TargetSpec* const> rest, const SharedTools& tools,
                                const std::stop_token& stop) {
  if (rest.empty())
    return {};
  const auto* const process = std::get_if<NodeProcess>(&rest.front()->where);
  if (process == nullptr)
    return {not_looked_at(rest.size(), "their stub would stop them")};
  return look_at_others(rest, node_files(process->node, tools, stop), stop);
}

bool is_unattached(const Checklist& list) {
  return has_fault_of(list, "reach") || has_fault_of(list, "attach");
}

NodeChecklist examine_node(const NodeTargets& node, const SharedTools& tools,
                           const std::stop_token& stop) {
  constexpr std::size_t most_tries = 3; // one process that cannot be attached to is not its node
  const std::span all(node.targets);
  NodeChecklist result{{node.node}, all.size(), examine(*all.front(), tools, stop)};
  std::vector<Check> in_vain;
  std::size_t tried = 1;
  for (; has_fault_of(result.list, "attach") && tried < std::min(most_tries, all.size()); ++tried) {
    auto list = examine(*all[tried], tools, stop);
    if (is_unattached(list)) {
      in_vain.push_back(other_in_vain(*all[tried], list));
      continue;
    }
    in_vain.insert(in_vain.begin(), other_in_vain(*all.front(), result.list));
    result.list = std::move(list);
  }
  if (is_unattached(result.list))
    return result;
  auto& checks = result.list.checks;
  checks.insert(checks.end(), in_vain.begin(), in_vain.end());
  const auto rest = look_at_rest(all.subspan(tried), tools, stop);
  checks.insert(checks.end(), rest.begin(), rest.end());
  return result;
}

bool is_of_a_word(std::string_view text, std::size_t at) {
  return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 ||
                              (text[at] == '.' && is_of_a_word(text, at + 1)));
}

/// `text` with a mark in each place of a word that belongs to this node or process alone. A 4 in
/// "4.1.4" is no word.
std::string without(std::string text, std::string_view word, char mark) {
  for (auto at = text.find(word); !word.empty() && at != std::string::npos;
       at = text.find(word, at + 1)) {
    const bool begins = at == 0 || (!is_of_a_word(text, at - 1) && text[at - 1] != '.');
    if (begins && !is_of_a_word(text, at + word.size()))
      text.replace(at, word.size(), 1, mark);
  }
  return text;
}

std::string likeness(const NodeChecklist& node) {
  const auto& list = node.list;
  const auto pid = list.endpoint.substr(list.endpoint.find_last_of(":@") + 1);
  const auto own = [&](std::string text) {
    text = without(std::move(text), list.endpoint, '\1');
    text = without(std::move(text), node.nodes.front(), '\2');
    return without(std::move(text), pid, '\3');
  };
  std::string key;
  for (const Check& check : list.checks) {
    const bool good = check.level == Check::Level::ok;
    if (good && check.subject == "others") // a node may have one rank
      continue;
    key += fmt::format("\n{} {} ", static_cast<int>(check.level), check.subject);
    // Times, and which rank it is, differ on each.
    if (check.level == Check::Level::plan ||
        (good && (check.subject == "reach" || check.subject == "queues")))
      continue;
    const bool says_rank = good && check.subject == "MPI";
    key += own(says_rank ? check.text.substr(0, check.text.find(", rank ")) : check.text);
    for (const auto& fix : check.fixes)
      key += '\t' + own(fix);
  }
  return key;
}

/// Each node dumps its ranks in turn over a few servers; all of them at most --jobs at once.
/// `lists`: of `nodes`.
std::optional<DumpCost> cost_of(const std::vector<NodeTargets>& nodes,
                                const std::vector<NodeChecklist>& lists, std::size_t jobs) {
  std::optional<DumpCost> whole;
  double work = 0;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const NodeChecklist& node = lists[i];
    if (!node.list.cost)
      continue;
    if (!whole)
      whole.emplace();
    const auto& one = *node.list.cost;
    const auto servers = servers_of(nodes[i].servers);
    const auto turns = (node.ranks + servers - 1) / servers;
    whole->elapsed_ms = std::max(whole->elapsed_ms, one.elapsed_ms * static_cast<double>(turns));
    whole->held_ms = std::max(whole->held_ms, one.held_ms);
    work += one.elapsed_ms * static_cast<double>(node.ranks);
  }
  if (whole)
    whole->elapsed_ms = std::max(whole->elapsed_ms, work / static_cast<double>(jobs));
  return whole;
}

} // namespace

std::vector<Check> look_at_others(std::span<const TargetSpec* const> others,
                                  const rsp::FileSource& files, const std::stop_token& stop) {
  std::map<std::string_view, std::pair<Error, std::vector<const TargetSpec*>>> refusals;
  std::vector<Check> checks;
  for (std::size_t i = 0; i < others.size() && checks.empty(); ++i) {
    const auto pid = std::get<NodeProcess>(others[i]->where).pid;
    const auto facts = rsp::gather_attach_facts(files, pid, "/proc/self/status");
    if (stop.stop_requested())
      checks.push_back(not_looked_at(others.size() - i, "interrupted"));
    else if (!facts.stub_user) // nor would a further try tell more
      checks.push_back(
          not_looked_at(others.size() - i, "the /proc of a gdbserver there cannot be read"));
    else if (auto refusal = rsp::foresee_refusal(facts, pid)) {
      auto& [first, whose] = refusals[refusal->code];
      if (whose.empty())
        first = std::move(*refusal);
      whose.push_back(others[i]);
    }
  }
  if (refusals.empty() && checks.empty())
    return {{Check::Level::ok,
             "others",
             fmt::format("nothing speaks against attaching to the other {} there", others.size()),
             {}}};
  for (const auto& [code, refusal] : refusals)
    checks.push_back({Check::Level::fault,
                      "others",
                      fmt::format("{}: {}", names_of(refusal.second), refusal.first.message),
                      {refusal.first.hint}});
  return checks;
}

std::vector<NodeChecklist> fold_nodes(std::vector<NodeChecklist> nodes) {
  std::vector<NodeChecklist> groups;
  std::map<std::string, std::size_t> known;
  for (NodeChecklist& node : nodes) {
    const auto [at, is_new] = known.try_emplace(likeness(node), groups.size());
    if (is_new) {
      groups.push_back(std::move(node));
      continue;
    }
    NodeChecklist& group = groups[at->second];
    for (auto& name : node.nodes) // one node may have several stubs
      if (std::find(group.nodes.begin(), group.nodes.end(), name) == group.nodes.end())
        group.nodes.push_back(std::move(name));
    group.ranks += node.ranks;
  }
  return groups;
}

JobChecklist examine_job(std::span<const TargetSpec> targets, Workshop& workshop,
                         std::stop_token stop) {
  const auto most = std::max<std::size_t>(targets.size(), 1);
  RunBudget budget(memory_left() / 2, std::min(workshop.options().jobs, most));
  const auto tools = workshop.tools(budget);
  const auto nodes = targets_by_node(targets, tools);
  const auto jobs = std::min(workshop.options().jobs, std::max<std::size_t>(nodes.size(), 1));
  std::vector<NodeChecklist> lists(nodes.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (auto i = next++; i < nodes.size(); i = next++)
      lists[i] = examine_node(nodes[i], tools, stop);
  };
  {
    std::vector<std::jthread> threads;
    try {
      for (std::size_t i = 1; i < jobs; ++i)
        threads.emplace_back(work);
    } catch (const std::system_error&) {
      // No more threads are to be had: those there are do it all.
    }
    work();
  }
  workshop.keep();
  std::set<std::string_view> names;
  for (const NodeTargets& node : nodes)
    names.insert(node.node);
  JobChecklist result{.ranks = targets.size(), .nodes = names.size(), .groups = {}};
  result.cost = cost_of(nodes, lists, workshop.options().jobs);
  result.groups = fold_nodes(std::move(lists));
  return result;
}

} // namespace mqbridge
