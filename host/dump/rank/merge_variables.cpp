#include "host/dump/rank/merge_variables.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace mqbridge {
namespace {

using VariableKey = std::tuple<VariableKind, std::string, std::optional<VariableClass>>;

VariableKey key_of(const Variable& variable) {
  return {variable.kind, variable.name, variable.pvar_class};
}

bool same_object(const VariableReading& one, const VariableReading& other) {
  return one.context && other.context ? one.context == other.context : one.object == other.object;
}

/// `from` has the present values of the process.
void take_readings(Variable& to, Variable from) {
  for (auto& now : from.readings) {
    if (!now.value)
      continue;
    const auto before = std::ranges::find_if(
        to.readings, [&](const VariableReading& reading) { return same_object(reading, now); });
    if (before == to.readings.end()) {
      to.readings.push_back(std::move(now));
      continue;
    }
    before->value = std::move(now.value);
    before->earlier = false;
    before->age_s.reset();
    before->reason.clear();
  }
}

class Merge {
public:
  Merge(ProcessVariables& to, ProcessVariables& from)
      : to_(to), from_(from), categories_(from.categories.size()),
        enumerations_(from.enumerations.size()) {
    for (std::size_t i = 0; i < to.variables.size(); ++i)
      known_.emplace(key_of(to.variables[i]), i);
    for (std::size_t i = 0; i < to.categories.size(); ++i)
      category_names_.emplace(to.categories[i].name, i);
  }

  void run() {
    for (auto& variable : from_.variables)
      take(std::move(variable));
  }

private:
  void take(Variable variable) {
    const auto known = known_.find(key_of(variable));
    if (known == known_.end())
      return add(std::move(variable));
    auto& to = to_.variables[known->second];
    if (!variable.set_by.empty())
      to.set_by = std::move(variable.set_by);
    take_readings(to, std::move(variable));
  }

  void add(Variable variable) {
    std::vector<std::size_t> categories;
    for (const auto index : variable.categories)
      if (index < categories_.size())
        categories.push_back(category(index));
    variable.categories = std::move(categories);
    if (variable.enumeration)
      variable.enumeration = *variable.enumeration < enumerations_.size()
                                 ? std::optional(enumeration(*variable.enumeration))
                                 : std::nullopt;
    to_.variables.push_back(std::move(variable));
  }

  /// The category's index in the merged list.
  std::size_t category(std::size_t index) {
    if (categories_[index])
      return *categories_[index];
    const auto [known, added] =
        category_names_.emplace(from_.categories[index].name, to_.categories.size());
    categories_[index] = known->second;
    if (added) {
      to_.categories.push_back(from_.categories[index]);
      to_.categories.back().parents.clear();
      // After the index is known: what a target says may be a circle.
      for (const auto parent : from_.categories[index].parents)
        if (parent < categories_.size()) {
          const auto place = category(parent);
          to_.categories[known->second].parents.push_back(place);
        }
    }
    return known->second;
  }

  std::size_t enumeration(std::size_t index) {
    if (!enumerations_[index]) {
      enumerations_[index] = to_.enumerations.size();
      to_.enumerations.push_back(from_.enumerations[index]);
    }
    return *enumerations_[index];
  }

  ProcessVariables& to_;
  ProcessVariables& from_;
  std::map<VariableKey, std::size_t> known_;
  std::map<std::string, std::size_t, std::less<>> category_names_;
  std::vector<std::optional<std::size_t>> categories_;   ///< of `from`: places in `to`
  std::vector<std::optional<std::size_t>> enumerations_; ///< likewise
};

} // namespace

ProcessVariables merge_variables(ProcessVariables recorded, ProcessVariables memory) {
  Merge(recorded, memory).run();
  recorded.sources.insert(recorded.sources.end(), memory.sources.begin(), memory.sources.end());
  recorded.whole = recorded.whole && memory.whole;
  std::ranges::stable_sort(recorded.variables, {}, &Variable::kind); // control variables first
  return recorded;
}

} // namespace mqbridge
