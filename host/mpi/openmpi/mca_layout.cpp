#include "host/mpi/openmpi/mca_layout.h"

#include "host/mpi/openmpi/make_carrier.h"
#include "host/mpi/openmpi/openmpi_classes.h"
#include "host/mpi/openmpi/openmpi_process.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::openmpi {
namespace {

constexpr auto types_read = std::to_array<std::string_view>(
    {"opal_object_t", "opal_class_t", "opal_pointer_array_t", "opal_value_array_t",
     "mca_base_var_t", "mca_base_var_file_value_t", "mca_base_pvar_t", "mca_base_var_group_t",
     "mca_base_var_enum_t", "mca_base_var_enum_value_t", "mca_base_var_enum_flag_t",
     "mca_base_var_enum_value_flag_t"});

/// Finds the needed fields and types, and notes the missing ones.
class McaFinder {
public:
  explicit McaFinder(const AddressSpace& space) : space_(space), fields_(space.images) {}

  Field field(std::string_view type, std::string_view name, Field outer = {0, 1}) {
    return noted(fields_.find_as_typed(type, name, outer), type, name);
  }
  /// A field that is a structure itself, to look into.
  Field place(std::string_view type, std::string_view name) {
    return noted(fields_.find(type, name, 1), type, name);
  }
  Result<std::size_t> size_of(std::string_view type) {
    auto layout = space_.images.find_type(type);
    if (!layout)
      return forward(std::move(layout));
    if (*layout == nullptr || (*layout)->size > Fields::max_structure) {
      missing.emplace_back(type);
      return std::size_t{0};
    }
    return static_cast<std::size_t>((*layout)->size);
  }
  const std::optional<Error>& error() const { return fields_.error(); }

  std::vector<std::string> missing;

private:
  Field noted(Field found, std::string_view type, std::string_view name) {
    if (!found)
      missing.push_back(fmt::format("{}.{}", type, name));
    return found;
  }

  const AddressSpace& space_;
  Fields fields_;
};

void find_objects(McaFinder& find, McaLayout& layout) {
  layout.object_class = find.field("opal_object_t", "obj_class");
  layout.class_name = find.field("opal_class_t", "cls_name");
  layout.table = find.field("opal_pointer_array_t", "addr");
  layout.table_size = find.field("opal_pointer_array_t", "size");
}

void find_variable(McaFinder& find, McaLayout& layout) {
  constexpr std::string_view type = "mca_base_var_t";
  auto& variable = layout.variable;
  variable.group = find.field(type, "mbv_group_index");
  variable.level = find.field(type, "mbv_info_lvl");
  variable.type = find.field(type, "mbv_type");
  variable.name = find.field(type, "mbv_full_name");
  variable.flags = find.field(type, "mbv_flags");
  variable.scope = find.field(type, "mbv_scope");
  variable.source = find.field(type, "mbv_source");
  variable.synonym_for = find.field(type, "mbv_synonym_for");
  variable.description = find.field(type, "mbv_description");
  variable.source_file = find.field(type, "mbv_source_file");
  variable.enumerator = find.field(type, "mbv_enumerator");
  variable.bind = find.field(type, "mbv_bind");
  variable.storage = find.field(type, "mbv_storage");
  variable.file_value = find.field(type, "mbv_file_value");
  layout.file_of_value = find.field("mca_base_var_file_value_t", "mbvfv_file");
}

void find_pvar(McaFinder& find, McaLayout& layout) {
  constexpr std::string_view type = "mca_base_pvar_t";
  auto& pvar = layout.pvar;
  pvar.name = find.field(type, "name");
  pvar.description = find.field(type, "description");
  pvar.group = find.field(type, "group_index");
  pvar.level = find.field(type, "verbosity");
  pvar.pvar_class = find.field(type, "var_class");
  pvar.type = find.field(type, "type");
  pvar.enumerator = find.field(type, "enumerator");
  pvar.bind = find.field(type, "bind");
  pvar.flags = find.field(type, "flags");
  pvar.get_value = find.field(type, "get_value");
  pvar.context = find.field(type, "ctx");
}

void find_group(McaFinder& find, McaLayout& layout) {
  constexpr std::string_view type = "mca_base_var_group_t";
  constexpr std::string_view array = "opal_value_array_t";
  auto& group = layout.group;
  group.is_valid = find.field(type, "group_isvalid");
  group.name = find.field(type, "group_full_name");
  group.description = find.field(type, "group_description");
  const Field subgroups = find.place(type, "group_subgroups");
  group.subgroups = find.field(array, "array_items", subgroups);
  group.subgroup_count = find.field(array, "array_size", subgroups);
  group.pvar_count = find.field(array, "array_size", find.place(type, "group_pvars"));
}

void find_enumeration(McaFinder& find, McaLayout& layout) {
  constexpr std::string_view type = "mca_base_var_enum_t";
  auto& enumeration = layout.enumeration;
  enumeration.name = find.field(type, "enum_name");
  enumeration.get_count = find.field(type, "get_count");
  enumeration.count = find.field(type, "enum_value_count");
  enumeration.values = find.field(type, "enum_values");
  enumeration.flags = find.field("mca_base_var_enum_flag_t", "enum_flags");
  layout.item.value = find.field("mca_base_var_enum_value_t", "value");
  layout.item.name = find.field("mca_base_var_enum_value_t", "string");
  layout.flag.value = find.field("mca_base_var_enum_value_flag_t", "flag");
  layout.flag.name = find.field("mca_base_var_enum_value_flag_t", "string");
}

Result<void> find_sizes(McaFinder& find, McaLayout& layout) {
  const std::pair<std::size_t*, std::string_view> sizes[] = {
      {&layout.variable.size, "mca_base_var_t"},
      {&layout.pvar.size, "mca_base_pvar_t"},
      {&layout.group.size, "mca_base_var_group_t"},
      // The larger of the two types: an enumeration without flags is read with the bytes behind it.
      {&layout.enumeration.size, "mca_base_var_enum_flag_t"},
      {&layout.item.size, "mca_base_var_enum_value_t"},
      {&layout.flag.size, "mca_base_var_enum_value_flag_t"},
  };
  for (const auto& [size, type] : sizes) {
    auto found = find.size_of(type);
    if (!found)
      return forward(std::move(found));
    *size = *found;
  }
  return {};
}

/// Compares sizes: in most cases the types of another Open MPI have other sizes than those that the
/// running one states.
Result<void> compare_sizes(const AddressSpace& space) {
  const TypeFinder find = [&](std::string_view name) -> Result<const TypeLayout*> {
    if (std::ranges::find(types_read, name) == types_read.end())
      return nullptr;
    return space.images.find_type(name);
  };
  auto facts = stated_sizes(find, space, TypesOf::library);
  if (!facts)
    return forward(std::move(facts));
  bool compared = false;
  for (const SizeFact& fact : *facts) {
    auto layout = find(fact.type);
    if (!layout)
      return forward(std::move(layout));
    if (*layout != nullptr && (*layout)->size != fact.size)
      return fail("variables.types_differ",
                  fmt::format("the types known are not those of the running Open MPI: {} has {} "
                              "bytes, the library says {}",
                              fact.type, (*layout)->size, fact.size),
                  carrier_line(space.platform));
    compared |= fact.type == "mca_base_var_t";
  }
  if (!compared)
    return fail("variables.no_symbols",
                "the process does not say how large Open MPI's mca_base_var_t is, so that the "
                "types known cannot be compared with its own",
                "mqbridge vars --sysroot DIR    (a copy of the files of the target's host)");
  return {};
}

} // namespace

Result<McaLayout> find_mca_layout(const AddressSpace& space) {
  McaLayout layout;
  layout.pointer = {0, static_cast<std::size_t>(space.platform.pointer_size)};
  layout.integer = {0, static_cast<std::size_t>(space.platform.int_size)};
  McaFinder find(space);
  find_objects(find, layout);
  find_variable(find, layout);
  find_pvar(find, layout);
  find_group(find, layout);
  find_enumeration(find, layout);
  if (auto done = find_sizes(find, layout); !done)
    return forward(std::move(done));
  if (find.error())
    return Failure(*find.error());
  if (!find.missing.empty())
    return fail("variables.no_types",
                fmt::format("Open MPI's variables cannot be read: nothing knows {}{}",
                            find.missing.front(), find.missing.size() > 1 ? " and others" : ""),
                carrier_line(space.platform));
  if (auto done = compare_sizes(space); !done)
    return forward(std::move(done));
  return layout;
}

} // namespace mqbridge::openmpi
