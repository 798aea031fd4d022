#include "host/report/blocked_words.h"

#include "host/disk/file_name.h"
#include "host/mpi/call_arguments.h"
#include "host/report/fitted_text.h"
#include "host/report/stack_calls.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace mqbridge {
namespace {

constexpr std::size_t widest_name = 44;
constexpr std::size_t most_kinds_of_calls = 3;

/// " at halo.c:212"; empty: not known.
std::string at_line(const BlockedCall& call) {
  if (!call.file)
    return "";
  const std::string file = shortened(printable(file_name(*call.file)), widest_name);
  return call.line ? fmt::format(" at {}:{}", file, *call.line) : " at " + file;
}

std::string name_text(const std::string& name) {
  return clipped(printable(name), widest_name);
}

std::string call_words(const BlockedCall& call, bool arguments) {
  std::string where = at_line(call);
  if (where.empty() && call.function)
    where = " called by " + name_text(*call.function);
  std::string words = name_text(*call.call);
  if (arguments && call.arguments)
    if (const auto more = argument_words(*call.call, *call.arguments); !more.empty())
      words += fmt::format("{} {}", more, from_arguments);
  return words + where;
}

std::string outside_words(const BlockedCall& call) {
  std::string words;
  if (call.function)
    words = name_text(*call.function) + at_line(call);
  if (call.system_call == "restart_syscall") // a sleep or a wait that a debugger has interrupted
    words += (words.empty() ? "" : ", ") + std::string("in a system call");
  else if (call.system_call)
    words += (words.empty() ? "" : ", ") + ("in system call " + name_text(*call.system_call));
  return words.empty() ? "outside MPI" : "outside MPI: " + words;
}

/// "in MPI_Recv at a.c:1, MPI_Send at a.c:9 (2 threads)". Each once, with its number of threads.
std::string in_mpi(const std::vector<const BlockedCall*>& calls, bool arguments) {
  std::vector<std::pair<std::string, std::size_t>> kinds;
  for (const BlockedCall* call : calls) {
    const auto words = call_words(*call, arguments);
    const auto known = std::ranges::find(kinds, words, &std::pair<std::string, std::size_t>::first);
    if (known == kinds.end())
      kinds.emplace_back(words, 1);
    else
      ++known->second;
  }
  std::string text = "in ";
  for (std::size_t i = 0; i < std::min(kinds.size(), most_kinds_of_calls); ++i) {
    text += (i == 0 ? "" : ", ") + kinds[i].first;
    if (kinds[i].second > 1)
      text += fmt::format(" ({} threads)", kinds[i].second);
  }
  if (kinds.size() > most_kinds_of_calls)
    text += fmt::format(" and {} more", kinds.size() - most_kinds_of_calls);
  return text;
}

std::string counted_threads(std::size_t count) {
  return fmt::format("{} more {}", count, count == 1 ? "thread" : "threads");
}

} // namespace

std::string blocked_words(const RankDump& rank, bool arguments) {
  if (!rank.blocked_in || rank.blocked_in->empty())
    return "";
  std::vector<const BlockedCall*> inside;
  for (const BlockedCall& call : *rank.blocked_in)
    if (call.call)
      inside.push_back(&call);
  const std::size_t outside = rank.blocked_in->size() - inside.size();
  if (inside.empty()) {
    const std::string more =
        outside > 1 ? fmt::format(" ({} outside)", counted_threads(outside - 1)) : "";
    return outside_words(rank.blocked_in->front()) + more;
  }
  return in_mpi(inside, arguments) +
         (outside > 0 ? fmt::format(" ({} outside MPI)", counted_threads(outside)) : "");
}

std::string helper_words(const RankDump& rank) {
  std::size_t count = 0;
  std::set<std::string> began_in;
  for (std::size_t i = 0; rank.stacks && i < rank.stacks->size(); ++i)
    if (const ThreadStack& stack = (*rank.stacks)[i]; stack.helper) {
      began_in.insert(name_text(stack_calls(stack, nullptr, false).front().function));
      ++count;
    }
  std::string text;
  for (const std::string& function : began_in)
    text += (text.empty() ? ": " : ", ") + function;
  return count == 0 ? "" : fmt::format("{} helper thread{}{}", count, count == 1 ? "" : "s", text);
}

std::vector<std::pair<std::string, RankGroup>> by_blocked_words(const RankGroup& group) {
  std::vector<std::pair<std::string, RankGroup>> kinds;
  std::map<std::string, std::size_t> known;
  for (const RankDump* rank : group.ranks) {
    auto words = blocked_words(*rank);
    const auto [at, added] = known.try_emplace(words, kinds.size());
    if (added)
      kinds.emplace_back(std::move(words), RankGroup{});
    kinds[at->second].second.ranks.push_back(rank);
  }
  std::ranges::stable_sort(kinds, std::ranges::greater(),
                           [](const auto& kind) { return kind.second.ranks.size(); });
  return kinds;
}

} // namespace mqbridge
