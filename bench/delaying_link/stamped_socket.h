#pragma once

#include "bench/delaying_link/line.h"

#include <cstddef>
#include <span>
#include <sys/types.h>

namespace mqbridge::bench {

/// Lets the kernel note when bytes come. Does nothing to a socket that has no such notes (a Unix
/// one).
void stamp_arrivals(int socket);

/// As recv() without waiting. `came`: when the last of the bytes came to the socket, which is
/// before this thread woke up for them; the present time if the kernel has not noted it.
ssize_t receive_stamped(int socket, std::span<char> into, Clock::time_point& came);

} // namespace mqbridge::bench
