#pragma once

#include <chrono>
#include <cstdint>

namespace mqbridge::e2e {

/// Lets the process that a spawning gdbserver holds run until it raises a signal, then vanishes:
/// the process stands where its program wanted, held by the server. Throws std::runtime_error if
/// there is no stop within `timeout`.
void run_to_signal(std::uint16_t port, std::chrono::milliseconds timeout);

} // namespace mqbridge::e2e
