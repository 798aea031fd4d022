#pragma once

#include "rsp/client/client.h"

#include <optional>
#include <string>
#include <string_view>

namespace mqbridge::rsp {

/// `qXfer:OBJECT:read:ANNEX:...` to its end (bounded), the longer it is the more pieces at once.
/// nullopt: the stub does not have it (empty reply or E).
Result<std::optional<std::string>> read_object(Client& client, std::string_view object,
                                               std::string_view annex);

} // namespace mqbridge::rsp
