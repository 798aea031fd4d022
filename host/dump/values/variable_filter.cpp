#include "host/dump/values/variable_filter.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace mqbridge {
namespace {

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

/// Whether each category is one of `names`, or inside of one. A target's categories may form a
/// circle.
std::vector<bool> wanted_categories(const std::vector<std::string>& names,
                                    const std::vector<VariableCategory>& categories) {
  std::vector<bool> wanted(categories.size());
  for (std::size_t i = 0; i < categories.size(); ++i)
    wanted[i] = std::ranges::count(names, categories[i].name) > 0;
  for (bool changed = true; std::exchange(changed, false);)
    for (std::size_t i = 0; i < categories.size(); ++i)
      if (!wanted[i] && std::ranges::any_of(categories[i].parents, [&](std::size_t parent) {
            return parent < wanted.size() && wanted[parent];
          }))
        wanted[i] = changed = true;
  return wanted;
}

bool is_of(const std::string& source, const std::string& set_by) {
  return set_by.starts_with(source) &&
         (set_by.size() == source.size() || set_by[source.size()] == ' ');
}

/// The indexes that are used, and their new places.
class Kept {
public:
  explicit Kept(std::size_t count) : used_(count) {}

  /// Marks an index as kept. False: it is kept already, or is no index at all.
  bool use(std::size_t index) {
    if (index >= used_.size() || used_[index])
      return false;
    used_[index] = true;
    return true;
  }
  template <class T>
  void keep(std::vector<T>& all) {
    places_.resize(all.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      places_[i] = next;
      if (used_[i] && next != i)
        all[next] = std::move(all[i]);
      next += used_[i] ? 1 : 0;
    }
    all.resize(next);
  }
  std::size_t place(std::size_t index) const { return places_[index]; }

private:
  std::vector<bool> used_;
  std::vector<std::size_t> places_;
};

void leave_out_unused_categories(ProcessVariables& variables) {
  auto& categories = variables.categories;
  Kept kept(categories.size());
  std::vector<std::size_t> open;
  for (const auto& variable : variables.variables)
    open.insert(open.end(), variable.categories.begin(), variable.categories.end());
  while (!open.empty()) {
    const auto index = open.back();
    open.pop_back();
    if (kept.use(index))
      open.insert(open.end(), categories[index].parents.begin(), categories[index].parents.end());
  }
  const auto count = categories.size();
  kept.keep(categories);
  const auto renumber = [&](std::vector<std::size_t>& indexes) {
    std::erase_if(indexes, [&](std::size_t index) { return index >= count; });
    for (auto& index : indexes)
      index = kept.place(index);
  };
  for (auto& category : categories)
    renumber(category.parents);
  for (auto& variable : variables.variables)
    renumber(variable.categories);
}

void leave_out_unused_enumerations(ProcessVariables& variables) {
  const auto count = variables.enumerations.size();
  Kept kept(count);
  for (const auto& variable : variables.variables)
    if (variable.enumeration)
      kept.use(*variable.enumeration);
  kept.keep(variables.enumerations);
  for (auto& variable : variables.variables)
    if (variable.enumeration)
      variable.enumeration = *variable.enumeration < count
                                 ? std::optional(kept.place(*variable.enumeration))
                                 : std::nullopt;
}

} // namespace

bool matches_pattern(std::string_view pattern, std::string_view text) {
  std::size_t at = 0;
  std::size_t behind_star = std::string_view::npos; // in the pattern
  std::size_t retry = 0;                            // in the text, for that star
  for (std::size_t i = 0; i < text.size();) {
    if (at < pattern.size() && pattern[at] == '*') {
      behind_star = ++at;
      retry = i;
    } else if (at < pattern.size() &&
               (pattern[at] == '?' || lower(pattern[at]) == lower(text[i]))) {
      ++at;
      ++i;
    } else if (behind_star != std::string_view::npos) {
      at = behind_star;
      i = ++retry;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

std::size_t leave_out_unwanted(const VariableFilter& filter, ProcessVariables& variables) {
  if (filter == VariableFilter())
    return 0;
  const auto categories = wanted_categories(filter.categories, variables.categories);
  std::size_t without_source = 0;
  const auto wanted = [&](const Variable& variable) {
    if (filter.kind && variable.kind != *filter.kind)
      return false;
    if (filter.verbosity && variable.verbosity && *variable.verbosity > *filter.verbosity)
      return false;
    if (!filter.patterns.empty() &&
        std::ranges::none_of(filter.patterns, [&](const std::string& pattern) {
          return matches_pattern(pattern, variable.name);
        }))
      return false;
    if (!filter.categories.empty() &&
        std::ranges::none_of(variable.categories, [&](std::size_t index) {
          return index < categories.size() && categories[index];
        }))
      return false;
    if (filter.sources.empty())
      return true;
    if (variable.kind == VariableKind::control && variable.set_by.empty())
      ++without_source;
    return std::ranges::any_of(
        filter.sources, [&](const std::string& source) { return is_of(source, variable.set_by); });
  };
  if (!variables.total)
    variables.total = variables.variables.size();
  std::erase_if(variables.variables, [&](const Variable& variable) { return !wanted(variable); });
  leave_out_unused_categories(variables);
  leave_out_unused_enumerations(variables);
  return without_source;
}

} // namespace mqbridge
