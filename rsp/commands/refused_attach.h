#pragma once

#include "rsp/client/attach_facts.h"
#include "rsp/client/client.h"
#include "rsp/result.h"

#include <cstdint>
#include <string_view>

namespace mqbridge::rsp {

/// Asks the server why it refused vAttach, on the same connection. The server has forgotten the
/// negotiation by then: afterwards the connection can read the server's files and do nothing else.
/// `files` reads them if the server has ended over the refusal; empty: nobody can.
Error explain_refused_attach(Client& client, std::int64_t pid, std::string_view said,
                             const FileSource& files = {});

} // namespace mqbridge::rsp
