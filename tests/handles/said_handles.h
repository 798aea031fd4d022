#pragma once

#include "tests/handles/told_handles.h"

#include <nlohmann/json.hpp>

namespace mqbridge {

/// What `handles` of a rank in a document says, in the words of tests/inferiors/handles.c. A key
/// that is null is not there.
HandleFacts facts_of(const nlohmann::json& handles);

} // namespace mqbridge
