#pragma once

#include "rsp/client/client.h"

#include <optional>
#include <string>
#include <string_view>

namespace mqbridge::rsp {

/// Reads `qXfer:OBJECT:read:ANNEX:...` to its end (bounded). The longer the object, the more pieces
/// are asked for at once. nullopt: the stub does not have it (empty reply or E).
Result<std::optional<std::string>> read_object(Client& client, std::string_view object,
                                               std::string_view annex);

} // namespace mqbridge::rsp
