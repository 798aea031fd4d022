#include "host/mpi/openmpi/mca_categories.h"

#include "host/limits.h"
#include "host/mpi/openmpi/mca_objects.h"

#include <string>
#include <utility>

namespace mqbridge::openmpi {
namespace {

/// One group, and the place of its subgroups' indexes.
struct CategoryGroup {
  std::uint64_t index = 0;
  std::uint64_t subgroups = 0; ///< address of their indexes
  std::uint64_t count = 0;     ///< of the subgroups that are looked at
};

class CategoryReader {
public:
  CategoryReader(const McaObjects& groups, const McaLayout& layout, Texts& texts,
                 const AddressSpace& space)
      : groups_(groups), layout_(layout), texts_(texts), space_(space) {}

  Result<void> read() {
    for (const auto& [index, place] : groups_.place) {
      texts_.want(groups_.get(index, layout_.group.name));
      texts_.want(groups_.get(index, layout_.group.description));
      wanted_.push_back(look_at(index));
      for (std::uint64_t i = 0; i < wanted_.back().count; ++i)
        words_.want(at(wanted_.back(), i), layout_.integer);
    }
    if (auto done = words_.read(space_); !done)
      return done;
    return texts_.read(space_);
  }

  McaCategories result() {
    for (const CategoryGroup& group : wanted_)
      add(group.index);
    for (const CategoryGroup& group : wanted_)
      add_parent(group);
    return std::move(made_);
  }

private:
  CategoryGroup look_at(std::uint64_t index) {
    const auto subgroups = groups_.get(index, layout_.group.subgroups).value_or(0);
    const auto count = groups_.get(index, layout_.group.subgroup_count).value_or(0);
    if (subgroups == 0 || count == 0)
      return {index, 0, 0};
    if (count > left_) {
      ++made_.unreadable;
      return {index, 0, 0};
    }
    left_ -= count;
    return {index, subgroups, count};
  }

  Words::Value at(const CategoryGroup& group, std::uint64_t i) const {
    return group.subgroups + i * layout_.integer.size;
  }

  void add(std::uint64_t index) {
    const auto valid = groups_.get(index, layout_.group.is_valid);
    const auto* name = texts_.get(groups_.get(index, layout_.group.name));
    made_.have_pvars |= groups_.get(index, layout_.group.pvar_count).value_or(1) != 0;
    if (!valid || (*valid != 0 && name == nullptr))
      ++made_.unreadable;
    if (valid.value_or(0) == 0 || name == nullptr)
      return;
    const auto* description = texts_.get(groups_.get(index, layout_.group.description));
    made_.index.emplace(index, made_.all.size());
    made_.all.push_back({*name, description != nullptr ? *description : std::string(), {}});
  }

  void add_parent(const CategoryGroup& group) {
    const auto parent = made_.index.find(group.index);
    for (std::uint64_t i = 0; parent != made_.index.end() && i < group.count; ++i)
      if (const auto child = words_.get(at(group, i), layout_.integer))
        if (const auto found = made_.index.find(*child); found != made_.index.end())
          made_.all[found->second].parents.push_back(parent->second);
  }

  const McaObjects& groups_;
  const McaLayout& layout_;
  Texts& texts_;
  const AddressSpace& space_;
  std::vector<CategoryGroup> wanted_;
  std::uint64_t left_ = limits::variables; ///< subgroups that may still be looked at
  Words words_;
  McaCategories made_;
};

} // namespace

Result<McaCategories> read_mca_categories(const McaTables::Table& groups, const McaLayout& layout,
                                          Texts& texts, const AddressSpace& space) {
  auto objects = McaObjects::read(groups, layout.group.size, space);
  if (!objects)
    return forward(std::move(objects));
  CategoryReader reader(*objects, layout, texts, space);
  if (auto done = reader.read(); !done)
    return forward(std::move(done));
  return reader.result();
}

} // namespace mqbridge::openmpi
