#pragma once

#include "host/mqs/wire.h"

#include <string>

namespace mqbridge::worker {

/// What ends the work of a worker early.
struct WalkFailure {
  wire::FailureKind kind;
  std::string text;
};

} // namespace mqbridge::worker
