#pragma once

#include "host/memory/platform.h"
#include "rsp/client/client.h"
#include "rsp/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// What one file of a target description (GDB manual, "Target Descriptions") says here.
struct TargetDescription {
  std::string architecture;          ///< GDB's name, as in `set architecture`; empty: not said
  std::vector<std::string> includes; ///< annexes of its xi:include elements, in order
};

/// Parses the XML. Parts that cannot be read are ignored: a description is a help, never needed.
TargetDescription parse_target_description(std::string_view xml);

/// Whether GDB's architecture `name` may run programs of `platform`. A name that is not known here
/// contradicts nothing.
bool describes(std::string_view name, const Platform& platform);

/// The architecture that the stub states (qXfer:features:read:target.xml, and included files as far
/// as it takes to find one; bounded). Empty if it states none. Errors: a lost connection, and those
/// of rsp::read_object.
Result<std::string> read_architecture(rsp::Client& client);

} // namespace mqbridge
