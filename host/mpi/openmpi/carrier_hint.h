#pragma once

#include "host/memory/platform.h"

#include <string>
#include <string_view>

namespace mqbridge::openmpi {

/// Is it that of mqbridge itself? Another one takes a cross compiler.
bool is_this_machine(const Platform& platform);

/// The line that makes a type carrier for `platform`, and how it is given: "mqbridge types make ...
/// then: --types ompi.types.so". `more`: further options, each with a space behind it.
std::string carrier_line(const Platform& platform, std::string_view more = {});

} // namespace mqbridge::openmpi
