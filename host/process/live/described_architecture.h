#pragma once

#include "rsp/client/client.h"
#include "rsp/result.h"

#include <string>

namespace mqbridge {

/// The architecture that the stub states (qXfer:features:read:target.xml, and included files as far
/// as it takes to find one; bounded). Empty if it states none. Errors: a lost connection, and those
/// of rsp::read_object.
Result<std::string> read_architecture(rsp::Client& client);

} // namespace mqbridge
