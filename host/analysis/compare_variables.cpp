#include "host/analysis/compare_variables.h"

#include "host/dump/values/variable_text.h"
#include "host/mpi/mpi_support.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace mqbridge {
namespace {

/// One variable of one process, or its value for one object there.
struct Entry {
  std::size_t rank = 0;
  const Variable* variable = nullptr;
  const VariableReading* reading = nullptr;
};

/// Kind, name, class, object, and which of several of that name.
using Key = std::tuple<VariableKind, std::string_view, std::optional<VariableClass>,
                       std::string_view, std::size_t>;

/// Whether a value is an address such as "0x7f1c4b001010". A short number in that form is a
/// setting.
bool is_address(const std::string& text) {
  constexpr std::size_t least_digits = 6;
  const auto digits = std::string_view(text).substr(std::min<std::size_t>(2, text.size()));
  return text.starts_with("0x") && digits.size() >= least_digits &&
         digits.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

class JobComparison {
public:
  JobComparison(const Dump& dump, bool all)
      : dump_(dump), all_(all),
        performance_(all || dump.filters.variables.kind == VariableKind::performance) {}

  void add(std::size_t index) {
    const RankDump& rank = dump_.ranks[index];
    job_.job_id = rank.job_id;
    if (!rank.variables) {
      job_.without.push_back(index);
      return;
    }
    if (!job_.ranks.empty())
      absence_counts_ = absence_counts_ && rank.variables->sources == example().sources;
    absence_counts_ = absence_counts_ && rank.variables->whole;
    job_.ranks.push_back(index);
    for (const Variable& variable : rank.variables->variables)
      add(index, variable);
  }

  JobVariableDifferences take() {
    if (!job_.ranks.empty())
      for (const auto& [key, entries] : entries_)
        compare(entries);
    return std::move(job_);
  }

private:
  const ProcessVariables& example() const { return *dump_.ranks[job_.ranks.front()].variables; }

  void add(std::size_t index, const Variable& variable) {
    if (variable.kind == VariableKind::performance && !performance_) {
      left_out_.emplace(variable.name, variable.pvar_class);
      job_.performance = left_out_.size();
      return;
    }
    std::map<std::string_view, std::size_t> seen; // objects may have the same name
    for (const VariableReading& reading : variable.readings)
      entries_[{variable.kind, variable.name, variable.pvar_class, reading.object,
                seen[reading.object]++}]
          .push_back({index, &variable, &reading});
  }

  void compare(const std::vector<Entry>& entries) {
    const Variable& variable = *entries.front().variable;
    VariableDifference difference{variable.kind, variable.name, entries.front().reading->object,
                                  variable.scope};
    collect(entries, difference);
    add_absent(entries, difference);
    const bool alike = difference.opinions.size() < 2;
    if (!alike && is_left_out(difference))
      return;
    ++job_.compared;
    if (alike) {
      job_.unread += difference.unknown.empty() ? 0 : 1;
      return;
    }
    std::ranges::stable_sort(difference.opinions, [](const auto& one, const auto& other) {
      return std::pair(other.ranks.size(), one.ranks.front()) <
             std::pair(one.ranks.size(), other.ranks.front());
    });
    difference.majority = 2 * difference.opinions.front().ranks.size() > job_.ranks.size();
    job_.differences.push_back(std::move(difference));
  }

  /// Groups the processes by their value.
  void collect(const std::vector<Entry>& entries, VariableDifference& difference) const {
    std::map<std::string, std::size_t> known;
    for (const Entry& entry : entries) {
      const auto& value = entry.reading->value;
      if (!value) {
        difference.unknown.push_back(entry.rank);
        continue;
      }
      auto& opinions = difference.opinions;
      const auto [place, added] = known.emplace(value_text(*value), opinions.size());
      if (added)
        opinions.push_back({{},
                            true,
                            value,
                            value_name(*value, *entry.variable, *dump_.ranks[entry.rank].variables),
                            entry.variable->set_by});
      auto& opinion = opinions[place->second];
      opinion.ranks.push_back(entry.rank);
      if (opinion.set_by != entry.variable->set_by)
        opinion.set_by.clear();
    }
  }

  /// Objects come and go: a process that is not in a communicator has no value for it, and that is
  /// no difference.
  void add_absent(const std::vector<Entry>& entries, VariableDifference& difference) const {
    if (!difference.object.empty() || entries.size() == job_.ranks.size())
      return;
    std::vector<std::size_t> absent;
    std::size_t next = 0; // both are in order
    for (const std::size_t rank : job_.ranks)
      if (next < entries.size() && entries[next].rank == rank)
        ++next;
      else
        absent.push_back(rank);
    if (absence_counts_)
      difference.opinions.push_back({std::move(absent), false, std::nullopt});
    else
      difference.unknown.insert(difference.unknown.end(), absent.begin(), absent.end());
  }

  /// Whether the difference is left out. Notes the reason, too.
  bool is_left_out(const VariableDifference& difference) {
    if (all_)
      return false;
    if (is_own(difference)) {
      job_.own.push_back(difference.name);
      return true;
    }
    const bool addresses = std::ranges::all_of(difference.opinions, [](const auto& opinion) {
      return opinion.value && is_address(value_text(*opinion.value));
    });
    if (addresses)
      job_.addresses.push_back(difference.name);
    return addresses;
  }

  /// Whether each process has its own value: the MPI is known for it, or no two values are the
  /// same.
  bool is_own(const VariableDifference& difference) const {
    if (difference.kind != VariableKind::control)
      return false;
    const auto& mpi = dump_.ranks[job_.ranks.front()].mpi;
    const auto known = support_named(mpi ? mpi->name : "").facts().own_variables;
    if (std::ranges::find(known, difference.name) != known.end())
      return true;
    constexpr std::size_t enough = 3; // two that differ may be the very mistake
    const auto count = difference.opinions.size();
    return count >= enough && count == job_.ranks.size() &&
           std::ranges::all_of(difference.opinions, &VariableOpinion::exists);
  }

  const Dump& dump_;
  const bool all_;
  const bool performance_;
  bool absence_counts_ = true;
  JobVariableDifferences job_;
  std::map<Key, std::vector<Entry>> entries_;
  std::set<std::pair<std::string_view, std::optional<VariableClass>>> left_out_;
};

} // namespace

std::vector<JobVariableDifferences> compare_variables(const Dump& dump, bool all) {
  std::map<std::optional<std::string>, JobComparison> jobs; // as the ranks' numbers are
  for (std::size_t i = 0; i < dump.ranks.size(); ++i)
    jobs.try_emplace(dump.ranks[i].job_id, dump, all).first->second.add(i);
  std::vector<JobVariableDifferences> differences;
  for (auto& [id, job] : jobs)
    differences.push_back(job.take());
  return differences;
}

} // namespace mqbridge
