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

/// "1;3;4;6;...": what a stub shall give to the program when it lets it go, of the signals that it
/// has intercepted. All but SIGSTOP, by which a gdbserver itself stops threads, and but SIGINT and
/// SIGTRAP, which debuggers never hand on.
const std::string& signals_to_hand_on();

} // namespace mqbridge::rsp
