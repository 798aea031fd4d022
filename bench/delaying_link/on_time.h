#pragma once

namespace mqbridge::bench {

/// The calling thread gets the processor as soon as it wants it, before what else runs, as far as
/// the system grants real time to this user; sleeps end when they are to end. For threads that
/// hardly compute: links, and clocks.
void be_on_time();

} // namespace mqbridge::bench
