#pragma once

namespace mqbridge::bench {

/// Gives the calling thread real-time priority, as far as the system grants it to this user: the
/// thread gets the processor as soon as it wants it. Its sleeps end on time in any case. For
/// threads that hardly compute: links, and clocks.
void be_on_time();

} // namespace mqbridge::bench
