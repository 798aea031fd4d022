#pragma once

#include "rsp/client/client.h"

#include <cstdint>
#include <memory>
#include <stop_token>

namespace mqbridge::rsp {

/// A stub of its own for reading files beside the process `pid`, attached to nothing: what blocks
/// it for good (a name that became a FIFO just now) costs no target. nullptr where the endpoint of
/// `client` does not allow for one: only local:PID does, as another login or connection would hold
/// the target longer, or is not answered before the first one ends. No guardian watches it, since
/// it has nothing to let go.
std::unique_ptr<Client> connect_file_stub(const Client& client, std::int64_t pid,
                                          std::stop_token stop);

} // namespace mqbridge::rsp
