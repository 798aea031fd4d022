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

/// The user's choice of an MPI's variables. Empty: all.
struct VariableFilter {
  std::optional<Verbosity> verbosity;    ///< up to this one; also those without a known one
  std::vector<std::string> categories;   ///< by name; categories inside of them count, too
  std::vector<std::string> patterns;     ///< of names: * is any text, ? any character
  std::vector<std::string> sources;      ///< of variable_setters
  std::optional<VariableKind> kind = {}; ///< nullopt: both

  bool operator==(const VariableFilter&) const = default;
};

/// Whether `text` as a whole matches `pattern`. Upper and lower case are the same.
bool matches_pattern(std::string_view pattern, std::string_view text);

/// Drops variables that were not asked for, with the categories and enumerations that no variable
/// names then, and notes the total. Returns how many control variables were dropped because nobody
/// knows who gave them their value.
std::size_t leave_out_unwanted(const VariableFilter& filter, ProcessVariables& variables);

} // namespace mqbridge
