#pragma once

#include "rsp/client/client.h"
#include "rsp/commands/threads.h"
#include "rsp/packet/thread_id.h"
#include "rsp/result.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace mqbridge::rsp {

/// Registers of one thread, byte by byte. nullopt: the byte is not available, which is no zero.
using RegisterBytes = std::vector<std::optional<std::byte>>;

/// Selects each of `threads` (`Hg`) and reads its general registers (`g`): the reply's bytes, in
/// the order and byte order of the stub's target description. One answer for each thread, in order.
/// nullopt: the stub refused the thread or its registers. Many threads share one burst.
///
/// Afterwards `back_to`, a thread of the client's process, is selected, as before the call. After a
/// lost connection, or where the stub refuses `back_to`, the client selects its process anew.
///
/// Errors: stub.garbage, for a reply that is none to its question or holds more than
/// limits::registers; those of Client::burst().
Result<std::vector<std::optional<RegisterBytes>>>
read_registers(Client& client, std::span<const ThreadInfo> threads, const ThreadId& back_to);

} // namespace mqbridge::rsp
