#pragma once

#include "rsp/client/client.h"

namespace mqbridge::test {

/// What dumps ask of a stub, in parts, each named by a letter.
inline constexpr char session_parts[] = "atpofFmMBrR";

/// Plays one part with a negotiated client. Whatever the stub answers, it comes to an end; an error
/// names what failed.
void play_session_part(char part, rsp::Client& client);

} // namespace mqbridge::test
