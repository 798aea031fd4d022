#pragma once

#include "host/mpi/variables.h"

#include <string>

namespace mqbridge {

/// "65536", "0.5", "0 0 3": elements one behind the other; a text as it is. Equal values have equal
/// texts.
std::string value_text(const VariableValue& value);

/// The name that the variable's enumeration has for a value of one element; empty: it has none.
std::string value_name(const VariableValue& value, const Variable& variable,
                       const ProcessVariables& all);

} // namespace mqbridge
