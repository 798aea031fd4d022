#include "host/mpi/openmpi/mca_variables.h"

#include "host/limits.h"
#include "host/mpi/openmpi/mca_categories.h"
#include "host/mpi/openmpi/mca_enumerations.h"
#include "host/mpi/openmpi/mca_layout.h"
#include "host/mpi/openmpi/mca_objects.h"
#include "host/mpi/openmpi/mca_tables.h"
#include "host/mpi/openmpi/mca_values.h"
#include "host/mpi/openmpi/ob1_lengths.h"
#include "host/mpi/texts.h"

#include <array>
#include <fmt/format.h>
#include <utility>

namespace mqbridge::openmpi {
namespace {

using Table = McaTables::Table;

// mca_base_var_flag_internal_t, mca_base_pvar_flag_t
constexpr std::uint64_t flag_valid = 0x10000;
constexpr std::uint64_t flag_synonym = 0x20000;
constexpr std::uint64_t pvar_readonly = 0x80;
constexpr std::uint64_t pvar_continuous = 0x100;
constexpr std::uint64_t pvar_atomic = 0x200;
constexpr std::uint64_t pvar_invalid = 0x400;

/// An enumerator, if the enumerators follow each other from 0 as in Open MPI and MPI_T.
template <class Enum>
std::optional<Enum> enumerator(const Words::Value& value, Enum last) {
  if (!value || *value > static_cast<std::uint64_t>(last))
    return std::nullopt;
  return static_cast<Enum>(*value);
}

class VariableReader {
public:
  VariableReader(const McaLayout& layout, const AddressSpace& space)
      : layout_(layout), space_(space), texts_(limits::variable_text, limits::variable_texts) {
    made_.sources = {VariableSource::memory};
  }

  Result<void> read_objects(const McaTables& tables) {
    pvars_found_ = tables.pvars.has_value();
    groups_found_ = tables.groups.has_value();
    auto variables = McaObjects::read(tables.variables, layout_.variable.size, space_);
    if (!variables)
      return forward(std::move(variables));
    variables_ = std::move(*variables);
    auto pvars = McaObjects::read(tables.pvars.value_or(Table()), layout_.pvar.size, space_);
    if (!pvars)
      return forward(std::move(pvars));
    pvars_ = std::move(*pvars);
    auto categories = read_mca_categories(tables.groups.value_or(Table()), layout_, texts_, space_);
    if (!categories)
      return forward(std::move(categories));
    categories_ = std::move(*categories);
    unreadable_ = categories_.unreadable;
    return {};
  }

  /// Reads what the objects point to, one level of pointers at a time.
  Result<void> read_details() {
    want_of_variables();
    want_of_pvars();
    if (auto done = words_.read(space_); !done)
      return done;
    for (const auto& [index, place] : variables_.place) {
      texts_.want(file_of(index));
      if (const auto type = type_of(index); type && type->kind == McaType::Kind::text)
        texts_.want(words_.get(original_storage(index), {0, type->size}));
    }
    if (auto done = texts_.read(space_); !done)
      return done;
    auto enumerations = read_mca_enumerations(enumerators_, layout_, texts_, space_);
    if (!enumerations)
      return forward(std::move(enumerations));
    enumerations_ = std::move(*enumerations);
    return {};
  }

  ProcessVariables result(Warnings& warnings) {
    made_.categories = std::move(categories_.all);
    for (const auto& [index, place] : variables_.place)
      add_variable(index);
    for (const auto& [index, place] : pvars_.place)
      add_pvar(index);
    made_.enumerations = std::move(enumerations_.all);
    say_what_lacks(warnings);
    return std::move(made_);
  }

private:
  void want_of_variables() {
    const auto& fields = layout_.variable;
    for (const auto& [index, place] : variables_.place) {
      texts_.want(variables_.get(index, fields.name));
      texts_.want(variables_.get(index, fields.description));
      words_.want(variables_.get(index, fields.file_value), layout_.file_of_value);
      enumerators_.push_back(variables_.get(index, fields.enumerator).value_or(0));
      if (const auto type = type_of(index))
        words_.want(original_storage(index), {0, type->size});
    }
  }

  void want_of_pvars() {
    for (const auto& [index, place] : pvars_.place) {
      texts_.want(pvars_.get(index, layout_.pvar.name));
      texts_.want(pvars_.get(index, layout_.pvar.description));
      enumerators_.push_back(pvars_.get(index, layout_.pvar.enumerator).value_or(0));
    }
  }

  std::optional<McaType> type_of(std::uint64_t variable) const {
    const auto number = variables_.get(variable, layout_.variable.type);
    return number ? mca_type(*number, space_.platform) : std::nullopt;
  }

  /// The variable that keeps the value: a synonym leads to another one.
  std::uint64_t original_of(std::uint64_t variable) const {
    const auto flags = variables_.get(variable, layout_.variable.flags).value_or(0);
    if ((flags & flag_synonym) == 0)
      return variable;
    return variables_.get(variable, layout_.variable.synonym_for).value_or(variable);
  }
  Words::Value original_storage(std::uint64_t variable) const {
    return variables_.get(original_of(variable), layout_.variable.storage);
  }

  /// The name of the file that the value came from. It is kept with the variable, or with the line
  /// of the file.
  Words::Value file_of(std::uint64_t variable) const {
    const auto original = original_of(variable);
    const auto own = variables_.get(original, layout_.variable.source_file);
    if (own.value_or(0) != 0)
      return own;
    return words_.get(variables_.get(original, layout_.variable.file_value), layout_.file_of_value);
  }

  void add_variable(std::uint64_t index) {
    const auto& fields = layout_.variable;
    const auto flags = variables_.get(index, fields.flags);
    if (flags && (*flags & flag_valid) == 0)
      return;
    const auto* name = texts_.get(variables_.get(index, fields.name));
    const auto type = type_of(index);
    if (!flags || name == nullptr || !type) {
      ++unreadable_;
      return;
    }
    Variable variable;
    variable.kind = VariableKind::control;
    variable.name = *name;
    variable.description = text_or_empty(variables_.get(index, fields.description));
    variable.verbosity = enumerator(variables_.get(index, fields.level), Verbosity::mpidev_all);
    variable.datatype = type->datatype;
    variable.enumeration = enumeration_at(variables_.get(index, fields.enumerator));
    variable.binding = enumerator(variables_.get(index, fields.bind), Binding::info);
    variable.scope = enumerator(variables_.get(index, fields.scope), VariableScope::all_eq);
    variable.categories = category_at(variables_.get(index, fields.group));
    variable.set_by = set_by(index);
    variable.readings = {reading_of(index, *type)};
    made_.variables.push_back(std::move(variable));
  }

  VariableReading reading_of(std::uint64_t index, const McaType& type) const {
    const auto bits = words_.get(original_storage(index), {0, type.size});
    VariableReading reading;
    if (!bits)
      reading.reason = "its memory cannot be read";
    else if (type.kind != McaType::Kind::text)
      reading.value = mca_value(type, *bits);
    else if (*bits == 0)
      reading.value = std::string();
    else if (const auto* text = texts_.get(bits))
      reading.value = *text;
    else
      reading.reason =
          fmt::format("its text cannot be read, or has more than {} bytes", limits::variable_text);
    return reading;
  }

  /// mca_base_var_source_t
  std::string set_by(std::uint64_t index) const {
    static constexpr auto words = std::to_array<std::string_view>(
        {"default", "command line", "environment", "file", "program", "override"});
    constexpr std::uint64_t file = 3;
    const auto source = variables_.get(original_of(index), layout_.variable.source);
    if (!source || *source >= words.size())
      return {};
    std::string text(words[static_cast<std::size_t>(*source)]);
    const auto* path = *source == file ? texts_.get(file_of(index)) : nullptr;
    return path != nullptr ? fmt::format("{} {}", text, *path) : text;
  }

  void add_pvar(std::uint64_t index) {
    const auto& fields = layout_.pvar;
    const auto flags = pvars_.get(index, fields.flags);
    const auto binding = enumerator(pvars_.get(index, fields.bind), Binding::info);
    if (flags && ((*flags & pvar_invalid) != 0 || !binding))
      return;
    const auto* name = texts_.get(pvars_.get(index, fields.name));
    const auto number = pvars_.get(index, fields.type);
    const auto type = number ? mca_type(*number, space_.platform) : std::nullopt;
    if (!flags || name == nullptr || !type) {
      ++unreadable_;
      return;
    }
    Variable variable;
    variable.kind = VariableKind::performance;
    variable.name = *name;
    variable.description = text_or_empty(pvars_.get(index, fields.description));
    variable.verbosity = enumerator(pvars_.get(index, fields.level), Verbosity::mpidev_all);
    variable.datatype = type->datatype;
    variable.enumeration = enumeration_at(pvars_.get(index, fields.enumerator));
    variable.binding = binding;
    variable.pvar_class = enumerator(pvars_.get(index, fields.pvar_class), VariableClass::generic);
    variable.readonly = (*flags & pvar_readonly) != 0;
    variable.continuous = (*flags & pvar_continuous) != 0;
    variable.atomic = (*flags & pvar_atomic) != 0;
    variable.categories = category_at(pvars_.get(index, fields.group));
    VariableReading reading;
    reading.reason = "a function of the process computes it: run the program under the recorder";
    variable.readings = {std::move(reading)};
    made_.variables.push_back(std::move(variable));
  }

  std::string text_or_empty(const Words::Value& address) const {
    const auto* text = texts_.get(address);
    return text != nullptr ? *text : std::string();
  }
  std::optional<std::size_t> enumeration_at(const Words::Value& address) const {
    const auto found = enumerations_.index.find(address.value_or(0));
    return found != enumerations_.index.end() ? std::optional(found->second) : std::nullopt;
  }
  std::vector<std::size_t> category_at(const Words::Value& group) const {
    const auto found = categories_.index.find(group.value_or(~std::uint64_t{0}));
    return found != categories_.index.end() ? std::vector{found->second}
                                            : std::vector<std::size_t>{};
  }

  void say_what_lacks(Warnings& warnings) {
    if (unreadable_ > 0)
      lacking(warnings, "variables.unreadable",
              fmt::format("{} of Open MPI's variables and categories cannot be read", unreadable_));
    if (!groups_found_)
      lacking(warnings, "variables.no_categories", "Open MPI's table of categories was not found");
    if (!pvars_found_ && (categories_.have_pvars || !groups_found_))
      lacking(warnings, "variables.no_performance",
              "Open MPI's table of performance variables was not found");
    if (!enumerations_.whole)
      warnings.push_back(
          {"variables.no_names", "the names of the values of some variables cannot be read", {}});
  }

  void lacking(Warnings& warnings, std::string_view code, std::string message) {
    made_.whole = false;
    warnings.push_back({code, std::move(message), {}});
  }

  const McaLayout& layout_;
  const AddressSpace& space_;
  McaObjects variables_, pvars_;
  bool groups_found_ = false;
  bool pvars_found_ = false;
  Words words_;
  Texts texts_;
  std::vector<std::uint64_t> enumerators_;
  McaEnumerations enumerations_;
  McaCategories categories_;
  ProcessVariables made_;
  std::size_t unreadable_ = 0;
};

} // namespace

Result<ProcessVariables> read_mca_variables(const AddressSpace& space, Warnings& warnings) {
  auto layout = find_mca_layout(space);
  if (!layout)
    return forward(std::move(layout));
  auto tables = find_mca_tables(*layout, space);
  if (!tables)
    return forward(std::move(tables));
  VariableReader reader(*layout, space);
  if (auto done = reader.read_objects(*tables); !done)
    return forward(std::move(done));
  if (auto done = reader.read_details(); !done)
    return forward(std::move(done));
  auto variables = reader.result(warnings);
  if (auto done = add_ob1_lengths(variables, space); !done)
    return forward(std::move(done));
  return variables;
}

} // namespace mqbridge::openmpi
