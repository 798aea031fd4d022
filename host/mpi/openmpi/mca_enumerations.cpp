#include "host/mpi/openmpi/mca_enumerations.h"

#include "host/limits.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace mqbridge::openmpi {
namespace {

struct Enumerator {
  std::uint64_t address = 0;
  Words::Value name, get_count, count, values, flags, class_name;
  std::vector<VariableEnumItem> fixed; ///< known without reading
  bool has_flags = false;
  bool counts_itself = false; ///< by a function that is not the common one
  std::uint64_t read = 0;     ///< items of it that are read
};

/// The items of an enumeration that the library makes by functions, in the order in which it counts
/// them.
struct FixedItems {
  std::string_view symbol;
  std::vector<VariableEnumItem> items;
};

const std::vector<FixedItems>& fixed_items() {
  static const std::vector<FixedItems> items = {
      {"mca_base_var_enum_bool", {{0, "false"}, {1, "true"}}},
      {"mca_base_var_enum_auto_bool", {{0, "false"}, {1, "true"}, {-1, "auto"}}},
  };
  return items;
}

std::vector<TargetAddress> different(const std::vector<std::uint64_t>& enumerators) {
  std::vector<TargetAddress> addresses;
  std::map<std::uint64_t, bool> seen;
  for (const std::uint64_t each : enumerators)
    if (each != 0 && seen.emplace(each, true).second)
      addresses.push_back({each});
  return addresses;
}

class EnumerationReader {
public:
  EnumerationReader(const McaLayout& layout, Texts& texts, const AddressSpace& space)
      : layout_(layout), texts_(texts), space_(space) {}

  Result<void> read_objects(const std::vector<TargetAddress>& addresses) {
    auto objects = Structures::read(addresses, layout_.enumeration.size, space_);
    if (!objects)
      return forward(std::move(objects));
    Words class_names;
    const auto& fields = layout_.enumeration;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      class_names.want(objects->value(i, layout_.object_class), layout_.class_name);
      auto& each = enumerators_.emplace_back();
      each.address = addresses[i].value;
      each.name = objects->value(i, fields.name);
      each.get_count = objects->value(i, fields.get_count);
      each.count = objects->value(i, fields.count);
      each.values = objects->value(i, fields.values);
      each.flags = objects->value(i, fields.flags);
    }
    if (auto done = class_names.read(space_); !done)
      return done;
    for (std::size_t i = 0; i < addresses.size(); ++i)
      enumerators_[i].class_name =
          class_names.get(objects->value(i, layout_.object_class), layout_.class_name);
    return {};
  }

  /// Finds out of which kind each enumeration is.
  Result<void> read_kinds() {
    Words common;
    const auto verbose = space_.images.find_symbol("mca_base_var_enum_verbose");
    const Words::Value at = verbose ? Words::Value(verbose->address.value) : std::nullopt;
    common.want(at, layout_.enumeration.get_count);
    if (auto done = common.read(space_); !done)
      return done;
    const auto counter = common.get(at, layout_.enumeration.get_count);
    for (const auto& each : enumerators_)
      texts_.want(each.class_name);
    if (auto done = texts_.read(space_); !done)
      return done;
    for (auto& each : enumerators_) {
      const auto* name = texts_.get(each.class_name);
      each.has_flags = name != nullptr && *name == "mca_base_var_enum_flag_t";
      each.counts_itself = counter && each.get_count != counter;
      for (const auto& [symbol, items] : fixed_items())
        if (const auto found = space_.images.find_symbol(symbol);
            found && found->address.value == each.address)
          each.fixed = items;
    }
    return {};
  }

  /// Reads the items' values, and wants the texts.
  Result<void> read_items() {
    std::uint64_t left = limits::variables;
    for (auto& each : enumerators_) {
      texts_.want(each.name);
      each.read = std::min(to_read(each), left);
      left -= each.read;
      for (std::uint64_t i = 0; i < each.read; ++i) {
        const auto item = item_at(each, i);
        items_.want(item, fields_of(each).value);
        items_.want(item, fields_of(each).name);
      }
    }
    if (auto done = items_.read(space_); !done)
      return done;
    for (const auto& each : enumerators_)
      for (std::uint64_t i = 0; i < each.read; ++i)
        texts_.want(items_.get(item_at(each, i), fields_of(each).name));
    return texts_.read(space_);
  }

  McaEnumerations result() const {
    McaEnumerations made;
    for (const auto& each : enumerators_) {
      made.index.emplace(each.address, made.all.size());
      made.all.push_back(enumeration_of(each, made.whole));
    }
    return made;
  }

private:
  struct ItemFields {
    std::size_t size;
    Field value, name;
  };
  ItemFields fields_of(const Enumerator& each) const {
    if (each.has_flags)
      return {layout_.flag.size, layout_.flag.value, layout_.flag.name};
    return {layout_.item.size, layout_.item.value, layout_.item.name};
  }

  std::uint64_t item_at(const Enumerator& each, std::uint64_t i) const {
    return (each.has_flags ? each.flags : each.values).value_or(0) + i * fields_of(each).size;
  }

  static std::uint64_t to_read(const Enumerator& each) {
    const auto first = each.has_flags ? each.flags : each.values;
    const auto count = each.count.value_or(0);
    const bool there = each.fixed.empty() && !each.counts_itself && first.value_or(0) != 0;
    return there && count <= limits::enumeration_items ? count : 0;
  }

  VariableEnumeration enumeration_of(const Enumerator& each, bool& whole) const {
    const auto* name = texts_.get(each.name);
    VariableEnumeration made{name != nullptr ? *name : std::string(), each.fixed};
    for (std::uint64_t i = 0; i < each.read; ++i) {
      const auto value = items_.get(item_at(each, i), fields_of(each).value);
      const auto* text = texts_.get(items_.get(item_at(each, i), fields_of(each).name));
      if (value && text != nullptr)
        made.items.push_back({static_cast<std::int32_t>(*value), *text});
    }
    const auto expected = each.fixed.empty() ? each.count : each.fixed.size();
    whole &= name != nullptr && expected == made.items.size() &&
             (!each.counts_itself || !each.fixed.empty());
    return made;
  }

  const McaLayout& layout_;
  Texts& texts_;
  const AddressSpace& space_;
  std::vector<Enumerator> enumerators_;
  Words items_;
};

} // namespace

Result<McaEnumerations> read_mca_enumerations(const std::vector<std::uint64_t>& enumerators,
                                              const McaLayout& layout, Texts& texts,
                                              const AddressSpace& space) {
  EnumerationReader reader(layout, texts, space);
  if (auto done = reader.read_objects(different(enumerators)); !done)
    return forward(std::move(done));
  if (auto done = reader.read_kinds(); !done)
    return forward(std::move(done));
  if (auto done = reader.read_items(); !done)
    return forward(std::move(done));
  return reader.result();
}

} // namespace mqbridge::openmpi
