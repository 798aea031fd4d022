#pragma once

#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace mqbridge {

// The variables of an MPI process as MPI_T, the tool information interface, has them (MPI 3.1,
// chapter 14.3). Names, descriptions and values are the target's text: bounded, not yet fit to be
// shown. nullopt and empty texts mean not known.

enum class VariableKind : std::uint8_t { control, performance };

/// MPI_T_VERBOSITY_...: for whom, and how much detail, in MPI's order.
enum class Verbosity : std::uint8_t {
  user_basic,
  user_detail,
  user_all,
  tuner_basic,
  tuner_detail,
  tuner_all,
  mpidev_basic,
  mpidev_detail,
  mpidev_all
};

/// MPI_T_BIND_...
enum class Binding : std::uint8_t {
  no_object,
  comm,
  datatype,
  errhandler,
  file,
  group,
  op,
  request,
  win,
  message,
  info,
  session
};

/// MPI_T_SCOPE_...: of a control variable.
enum class VariableScope : std::uint8_t { constant, readonly, local, group, group_eq, all, all_eq };

/// MPI_T_PVAR_CLASS_...: of a performance variable.
enum class VariableClass : std::uint8_t {
  state,
  level,
  size,
  percentage,
  highwatermark,
  lowwatermark,
  counter,
  aggregate,
  timer,
  generic
};

/// The elements of a value, in its own type; most values have one. A text is a control variable of
/// MPI_CHAR.
using VariableValue = std::variant<std::vector<std::int64_t>, std::vector<std::uint64_t>,
                                   std::vector<double>, std::string>;

/// The value of a performance variable for one object to which it is bound, or for none.
struct VariableReading {
  std::optional<VariableValue> value;        ///< nullopt: not read, see `reason`
  std::string object = {};                   ///< name of the communicator; empty: bound to none
  std::optional<std::uint64_t> context = {}; ///< its Communicator::id
  bool earlier = false;                      ///< read before the stop; false: as the process stands
  std::optional<double> age_s = {};          ///< seconds before the stop; nullopt: not known
  std::string reason = {};                   ///< why there is no value
};

struct VariableEnumItem {
  std::int64_t value = 0;
  std::string name;
};

struct VariableEnumeration {
  std::string name;
  std::vector<VariableEnumItem> items;
};

struct Variable {
  VariableKind kind = VariableKind::control;
  std::string name;
  std::string description;
  std::optional<Verbosity> verbosity;
  std::string datatype;                   ///< "MPI_INT"
  std::optional<std::size_t> enumeration; ///< index into ProcessVariables::enumerations
  std::optional<Binding> binding;
  std::optional<VariableScope> scope;               ///< control
  std::optional<VariableClass> pvar_class;          ///< performance
  std::optional<bool> readonly, continuous, atomic; ///< performance
  std::vector<std::size_t> categories;              ///< indexes into ProcessVariables::categories
  /// Who gave a control variable its value, if the MPI keeps that: "default", "environment", "file
  /// PATH", "command line", "override".
  std::string set_by;
  std::vector<VariableReading> readings; ///< of a control variable one
};

struct VariableCategory {
  std::string name;
  std::string description;
  std::vector<std::size_t> parents; ///< indexes of the categories that hold it
};

enum class VariableSource : std::uint8_t {
  recorder, ///< what MPI_T said inside of the process
  memory    ///< the MPI's own tables: what it has registered so far
};

struct ProcessVariables {
  std::vector<VariableSource> sources;
  std::vector<Variable> variables; ///< in MPI's order, control variables first
  std::vector<VariableCategory> categories;
  std::vector<VariableEnumeration> enumerations;
  std::optional<double> listed_s; ///< recorder: seconds from listing them to the stop
  bool whole = true;              ///< false: there are more, and a warning says why
  /// The number of variables before those that were not asked for were dropped; nullopt: all are
  /// here.
  std::optional<std::uint64_t> total = {};
};

} // namespace mqbridge
