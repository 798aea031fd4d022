#pragma once

#include "host/mpi/variables.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// Who gave a control variable its value: the first word or words of Variable::set_by.
inline constexpr std::string_view variable_setters[] = {"default",      "environment", "file",
                                                        "command line", "override",    "program"};

/// What the user asked to see of an MPI's variables. Empty: all.
struct VariableFilter {
  std::optional<Verbosity> verbosity;    ///< up to this one; one that is not known may be it
  std::vector<std::string> categories;   ///< by name; those inside of them belong to them
  std::vector<std::string> patterns;     ///< of names: * is any text, ? any character
  std::vector<std::string> sources;      ///< of variable_setters
  std::optional<VariableKind> kind = {}; ///< nullopt: both

  bool operator==(const VariableFilter&) const = default;
};

/// Whether all of `text` is as `pattern` says. Upper and lower case are the same.
bool matches_pattern(std::string_view pattern, std::string_view text);

/// Leaves out what was not asked for, with the categories and enumerations that then nothing names,
/// and notes the total. Returns how many control variables were left out because nobody knows who
/// gave them their value.
std::size_t leave_out_unwanted(const VariableFilter& filter, ProcessVariables& variables);

} // namespace mqbridge
