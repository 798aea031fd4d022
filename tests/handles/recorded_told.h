#pragma once

#include "tests/handles/told_handles.h"

namespace mqbridge {

/// What the recorder alone tells has to be what the program says, and nothing is missing that a
/// recorder can know. Lists have what the program has made.
void expect_recorded(ToldHandles& told, HandleFacts made);

} // namespace mqbridge
