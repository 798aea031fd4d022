#pragma once

#include <string_view>

namespace mqbridge {

/// Whether the C library or the linker begins a program or a thread with this function: it has no
/// caller, and calls the program's first function.
bool begins_thread(std::string_view function);

} // namespace mqbridge
