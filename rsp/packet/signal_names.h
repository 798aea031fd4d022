#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mqbridge::rsp {

/// The remote protocol numbers signals in its own way, the same for every target (GDB's
/// include/gdb/signals.def): SIGUSR1 is 30 there, whatever it is on this host or on the target.

/// "SIGUSR1", "USR1", "30"; nullopt: `text` is no signal of the protocol.
std::optional<int> parse_signal(std::string_view text);

/// "SIGUSR1"; "signal 150" for one without a name.
std::string signal_name(int number);

} // namespace mqbridge::rsp
