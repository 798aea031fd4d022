#pragma once

#include "host/memory/platform.h"

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

/// Whether GDB's architecture `name` may run programs of `platform`. Names that are not known here
/// say nothing, and so contradict nothing.
bool describes(std::string_view name, const Platform& platform);

} // namespace mqbridge
