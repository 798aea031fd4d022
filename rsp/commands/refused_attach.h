#pragma once

#include "rsp/client/attach_refusal.h"
#include "rsp/client/client.h"
#include "rsp/result.h"

#include <cstdint>
#include <string_view>

namespace mqbridge::rsp {

/// After a refused vAttach, on the same connection: asks the server for the facts. It has forgotten
/// the negotiation by then; this makes the connection good for reading its files, for nothing else.
/// `files` reads them where the server has ended over it; empty: nobody does.
Error explain_refused_attach(Client& client, std::int64_t pid, std::string_view said,
                             const FileSource& files = {});

} // namespace mqbridge::rsp
