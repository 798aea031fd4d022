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

/// From the XML. What cannot be read says nothing: a description is a help, never a need.
TargetDescription parse_target_description(std::string_view xml);

/// The architecture that the stub states (qXfer:features:read:target.xml, and included files as far
/// as it takes to find one; bounded). Empty if it states none. Errors: a lost connection, and those
/// of rsp::read_object.
Result<std::string> read_architecture(rsp::Client& client);

/// Whether GDB's architecture `name` may run programs of `platform`. Names that are not known here
/// say nothing, and so contradict nothing.
bool describes(std::string_view name, const Platform& platform);

} // namespace mqbridge
