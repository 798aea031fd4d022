#pragma once

#include "host/dump/values/document.h"

#include <vector>

namespace mqbridge {

/// Compares the variables of the ranks of each job. Variables that differ by nature are left out,
/// and named: performance variables, values that each process has for itself (its number, for one),
/// and addresses. With `all` nothing is left out. If the document has performance variables only,
/// they are compared, too.
///
/// If a process lacks a variable, that counts as a value of its own, provided that both lists come
/// from the same sources and are whole; otherwise it is not known.
std::vector<JobVariableDifferences> compare_variables(const Dump& dump, bool all);

} // namespace mqbridge
