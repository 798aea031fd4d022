#pragma once

#include "host/process/address_space.h"
#include "host/process/structures.h"
#include "rsp/result.h"

#include <cstddef>

namespace mqbridge::openmpi {

/// The fields that are needed to read Open MPI's own tables of variables (opal/mca/base). All of
/// them are known. Lengths in bytes.
struct McaLayout {
  Field pointer;      ///< a pointer by itself
  Field integer;      ///< an int by itself
  Field object_class; ///< opal_object_t, with which each of the others begins
  Field class_name;   ///< opal_class_t
  Field table;        ///< opal_pointer_array_t: its slots, and how many there are
  Field table_size;
  struct {
    std::size_t size = 0;
    Field group, level, type, name, flags, scope, source, synonym_for, description, source_file,
        enumerator, bind, storage, file_value;
  } variable;
  Field file_of_value; ///< mca_base_var_file_value_t
  struct {
    std::size_t size = 0;
    Field name, description, group, level, pvar_class, type, enumerator, bind, flags, get_value,
        context;
  } pvar;
  struct {
    std::size_t size = 0;
    Field is_valid, name, description, subgroups, subgroup_count, pvar_count;
  } group;
  struct {
    std::size_t size = 0;
    Field name, get_count, count, values;
    Field flags; ///< mca_base_var_enum_flag_t: in the place of values
  } enumeration;
  struct {
    std::size_t size = 0;
    Field value, name;
  } item, flag; ///< of an enumeration's values, and of its flags
};

/// Errors: variables.no_types (nothing knows some of the types, or a field of one),
/// variables.types_differ (the process states other sizes of them), those of find_type and of
/// Memory.
Result<McaLayout> find_mca_layout(const AddressSpace& space);

} // namespace mqbridge::openmpi
