#pragma once

#include "rsp/client/client.h"

#include <cstdint>
#include <memory>
#include <stop_token>

namespace mqbridge::rsp {

/// A stub for reading files beside the process `pid`, attached to nothing: a file that blocks it
/// for good (a name that became a FIFO just now) costs no target. nullptr if the endpoint of
/// `client` does not allow for one. Only local:PID does: for others a further login or connection
/// would hold the target longer, or would not be answered before the first one ends. No guardian
/// watches this stub, since it holds nothing.
std::unique_ptr<Client> connect_file_stub(const Client& client, std::int64_t pid,
                                          std::stop_token stop);

} // namespace mqbridge::rsp
