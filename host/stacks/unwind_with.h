#pragma once

#include "host/confined/conversation.h"
#include "host/stacks/unwind.h"

namespace mqbridge {

/// unwind(), by an unwinder that runs already, wherever it is.
Result<std::vector<UnwoundThread>> unwind_with(sandbox::Conversation& unwinder,
                                               const CapturedStacks& captured,
                                               std::span<const Image> images,
                                               const Platform& platform,
                                               const UnwindOptions& options, Warnings& warnings);

} // namespace mqbridge
