#pragma once

#include "host/memory/platform.h"

#include <optional>
#include <string>

namespace mqbridge {

/// "futex". nullopt: no such call, or an architecture whose numbers are not known here.
std::optional<std::string> system_call_name(const Platform& platform, int number);

} // namespace mqbridge
