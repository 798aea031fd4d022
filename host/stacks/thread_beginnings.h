#pragma once

#include <string_view>

namespace mqbridge {

/// Whether the C library, or the linker, begins a program or a thread with this function: nothing
/// calls it, and it calls the program's first one.
bool begins_thread(std::string_view function);

} // namespace mqbridge
