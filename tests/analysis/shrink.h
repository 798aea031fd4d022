#pragma once

#include "tests/analysis/program.h"

#include <functional>

namespace mqbridge::sim {

/// A program that still fails and of which no statement and no last rank can be left out. `fails`
/// is asked at most some hundred times.
Program shrink(Program program, const std::function<bool(const Program&)>& fails);

} // namespace mqbridge::sim
