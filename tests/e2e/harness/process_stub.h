#pragma once

#include "tests/support/scripted_stub.h"

#include <sys/types.h>

namespace mqbridge::e2e {

/// Makes `stub` the stub of a live process, which is neither stopped nor traced for it: memory,
/// auxiliary vector and executable are those of /proc. As many stubs as a test wants cost one
/// process. `stub` says that the process has the number `shown`.
void front_process(test::ScriptedStub& stub, pid_t process, pid_t shown);

} // namespace mqbridge::e2e
