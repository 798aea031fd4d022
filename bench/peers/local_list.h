#pragma once

#include "bench/peers/answer_checksum.h"
#include "host/memory/address.h"
#include "host/memory/memory.h"
#include "rsp/result.h"

namespace mqbridge::peers {

/// Walks the recorder's list in a process of this platform, each node by one read. Errors:
/// list.corrupt (no recorder, or an address that cannot be read), and those of `memory`.
Result<void> walk_list(Memory& memory, TargetAddress root, AnswerChecksum& answer);

} // namespace mqbridge::peers
