#pragma once

#include "host/mpi/variables.h"

#include <string>

namespace mqbridge {

/// A value for people, printable: "65536", "2 (linear)" with the name that an enumeration has for
/// it, "\"\"" for an empty text, "0 x 15, 3" for many elements. "?" where it is not known.
std::string shown_value(const std::optional<VariableValue>& value, const std::string& name);

/// "250 ms before the stop", of one that was read at the stop "the stop".
std::string shown_time(bool earlier, std::optional<double> age_s);

} // namespace mqbridge
