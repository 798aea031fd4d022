#pragma once

#include "host/dump/document.h"

#include <vector>

namespace mqbridge {

/// Compares the variables of the ranks of each job. Left out, and named, is what differs by nature:
/// performance variables, values of which each process has its own (its number, for one), and
/// addresses; `all`: nothing. Performance variables count where only they were asked for, too.
///
/// A variable that a process does not have is a value of its own, if both lists come from the same
/// sources and are whole; else it is not known.
std::vector<JobVariableDifferences> compare_variables(const Dump& dump, bool all);

} // namespace mqbridge
