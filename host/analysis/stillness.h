#pragma once

#include "host/analysis/job_picture.h"

namespace mqbridge {

/// Whether a thread of the process is in the same call at the same place as in the look before, and
/// the process has neither sent nor received a message since. false where there is no such look.
bool stands_still(const Process& process, const BlockedCall& call);

} // namespace mqbridge
