#pragma once

#include "rsp/client/client.h"
#include "rsp/commands/threads.h"
#include "rsp/packet/register_bytes.h"
#include "rsp/packet/thread_id.h"
#include "rsp/result.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace mqbridge::rsp {

/// The digits of a reply to `g`. nullopt: they are not pairs of digits, or `xx` for a byte that is
/// not available.
std::optional<RegisterBytes> parse_registers(std::string_view digits);

/// Selects each of `threads` (`Hg`) and reads its general registers (`g`): the reply's bytes, in
/// the order and byte order of the stub's target description. One answer for each thread, in order.
/// nullopt: the stub refused the thread or its registers, or the id names no single one. Many
/// threads share one burst.
///
/// Afterwards `back_to`, a thread of the client's process, is selected, as before the call. Where
/// the stub refuses `back_to`, a client that names its process (set_process()) selects it anew with
/// its next request; of any other one the last thread stays selected.
///
/// Errors: stub.garbage, for a reply that is none to its question or holds more than
/// limits::registers; those of Client::burst().
Result<std::vector<std::optional<RegisterBytes>>>
read_registers(Client& client, std::span<const ThreadInfo> threads, const ThreadId& back_to);

} // namespace mqbridge::rsp
